/**
 * The terms of a segment: a dictionary, which is in memory, and for each term a posting list, and of
 * words a list of positions, which are read for each query.
 */
import { crc32 } from "node:zlib";
import type { Range } from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";
import { eachPosting, type Postings, readPostings } from "./postings.ts";

export interface TermsEntry {
  readonly dictionary: DictionaryEntry;
  /** Ranges of the segment. */
  readonly postings: Range;
  readonly positions: Range;
}

/** Reads bytes of a segment. */
export type ReadBytes = (range: Range) => Uint8Array;

/** Words and whole values are terms of different first characters. */
export const wordTerm = (word: string): string => `w${word.toWellFormed()}`;

export const wordOf = (term: string): string => term.slice(1);

/** The term of a longer value is its beginning and a hash; a query for one compares the documents. */
export const wholeUnitsMax = 32;

export const wholeTerm = (folded: string): string =>
  folded.length <= wholeUnitsMax
    ? wholeBeginning(folded)
    : `${wholeBeginning(folded)}${crc32(folded.toWellFormed()).toString(36)}`;

export const wholeBeginning = (folded: string): string =>
  `v${folded.slice(0, wholeUnitsMax).toWellFormed()}`;

export class Terms {
  readonly dictionary: Dictionary;
  private readonly entry: TermsEntry;
  private readonly read: ReadBytes;

  constructor(core: Uint8Array, entry: TermsEntry, read: ReadBytes) {
    this.dictionary = new Dictionary(core, entry.dictionary);
    this.entry = entry;
    this.read = read;
  }

  /** The posting list of a term, by its ordinal. */
  postings(term: number): Postings {
    return readPostings(this.lists(term, term + 1));
  }

  /** Calls back for each posting of adjacent terms. */
  eachPosting(from: number, to: number, take: (doc: number, level: number) => void): void {
    if (from < to) eachPosting(this.lists(from, to), take);
  }

  /** The positions of a word in all its documents. */
  positions({ positions: [start, length] }: Postings): Uint8Array {
    return this.read([this.entry.positions[0] + start, length]);
  }

  private lists(from: number, to: number): Uint8Array {
    const { list } = this.dictionary.cursor(from);
    const last = this.dictionary.cursor(to - 1);
    return this.read([this.entry.postings[0] + list, last.list + last.listLength - list]);
  }
}
