/**
 * The terms of a segment: a dictionary in memory, a posting list for each term, and a list of
 * positions for each word. Each query reads the lists of its terms.
 *
 * A posting list has the documents with a term, and a level for each. A level stands for two
 * boosts: the greatest among the texts with the term, and the greatest among the suggested ones.
 *   start and length of the positions; number of documents; level + 1 if all levels are equal, else
 *   0; for each document the delta to the previous one, and its level if the levels differ
 *
 * The positions of a word are the deltas of its occurrences in the segment. An occurrence is one
 * number of document, position in the document and level of the text: (document × positions +
 * position) × levels + level. Between two texts of a document is a position gap, so no phrase
 * matches across them.
 */
import { crc32 } from "node:zlib";
import { ByteReader, type ByteWriter, type Range } from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";

export interface TermsEntry {
  readonly dictionary: DictionaryEntry;
  readonly levels: readonly Level[];
  /** A range of the whole segment. */
  readonly postings: Range;
  readonly positions: Range;
  /** The difference between adjacent positions, and between adjacent documents, in occurrences. */
  readonly positionStep: number;
  readonly docStep: number;
}

/** Reads bytes of a segment. */
export type ReadBytes = (range: Range) => Uint8Array;

/** Terms of words and of whole values differ in the first character. */
export const wordTerm = (word: string): string => `w${word.toWellFormed()}`;

export const isWord = (term: string): boolean => term.startsWith("w");

export const wordOf = (term: string): string => term.slice(1);

/** The term of a longer value is a prefix and a hash; a query then compares stored documents. */
export const wholeUnitsMax = 32;

export const wholeTerm = (folded: string): string =>
  folded.length <= wholeUnitsMax
    ? wholeBeginning(folded)
    : `${wholeBeginning(folded)}${crc32(folded.toWellFormed()).toString(36)}`;

export const wholeBeginning = (folded: string): string =>
  `v${folded.slice(0, wholeUnitsMax).toWellFormed()}`;

/** The greatest boosts of the texts with a term; `suggested` is -1 without a suggested text. */
export type Level = readonly [boost: number, suggested: number];

export interface Postings<List = readonly number[]> {
  /** Ascending within the list of each term. */
  readonly docs: List;
  readonly levels: List;
}

export class Terms {
  readonly dictionary: Dictionary;
  readonly entry: TermsEntry;
  private readonly read: ReadBytes;

  constructor(core: Uint8Array, entry: TermsEntry, read: ReadBytes) {
    this.dictionary = new Dictionary(core, entry.dictionary);
    this.entry = entry;
    this.read = read;
  }

  /** The concatenated posting lists of a range of ordinals. */
  postings(from: number, to = from + 1): Postings<Uint32Array> {
    const reader = new ByteReader(this.read(this.range(from, to)));
    const { length } = reader.buffer;
    // Each document takes at least one byte.
    const docs = new Uint32Array(length);
    const levels = new Uint32Array(length);
    let end = 0;
    while (reader.at < length) end = readList(reader, docs, levels, end);
    return { docs: docs.subarray(0, end), levels: levels.subarray(0, end) };
  }

  /** The occurrences of a word, in ascending order. */
  occurrences(word: number): Float64Array {
    const list = new ByteReader(this.read(this.range(word, word + 1)));
    const [start, length] = [list.varint(), list.varint()];
    const reader = new ByteReader(this.read([this.entry.positions[0] + start, length]));
    const numbers = new Float64Array(length);
    let count = 0;
    for (let number = 0; reader.at < length; count++) {
      number += reader.varint();
      numbers[count] = number;
    }
    return numbers.subarray(0, count);
  }

  /** The bytes of the posting lists of a range of ordinals. */
  range(from: number, to: number): Range {
    const { list } = this.dictionary.cursor(from);
    const last = this.dictionary.cursor(to - 1);
    return [this.entry.postings[0] + list, last.list + last.listLength - list];
  }
}

export function writePostings(
  writer: ByteWriter,
  { docs, levels }: Postings,
  positions: Range,
): void {
  const isUniform = levels.every((level) => level === levels[0]);
  for (const number of positions) writer.varint(number);
  writer.varint(docs.length);
  writer.varint(isUniform ? (levels[0] as number) + 1 : 0);
  let before = -1;
  for (const [at, doc] of docs.entries()) {
    writer.varint(doc - before - 1);
    if (!isUniform) writer.varint(levels[at] as number);
    before = doc;
  }
}

/** Reads a posting list into the arrays at index `from`; returns the index after it. */
function readList(reader: ByteReader, docs: Uint32Array, levels: Uint32Array, from: number) {
  reader.varint();
  reader.varint();
  const end = from + reader.varint();
  const uniform = reader.varint() - 1;
  let doc = -1;
  for (let at = from; at < end; at++) {
    doc += reader.varint() + 1;
    docs[at] = doc;
    levels[at] = uniform < 0 ? reader.varint() : uniform;
  }
  return end;
}
