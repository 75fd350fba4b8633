/**
 * The terms of a segment: a dictionary, which is in memory, and for each term a posting list, and of
 * words a list of positions, which are read for each query.
 *
 * A posting list has the documents with a term, and for each the level of its texts that have it. A
 * level stands for the greatest boost among those texts, and among the suggested ones of them.
 *
 *   where the positions begin, and their length, count, level + 1 or 0, then for each document the
 *   distance from the one before, and its level where they differ
 *
 * The positions of a word lie apart: the distances between the numbers of all its occurrences in the
 * segment. The number of an occurrence is that of its document, its position in the document and the
 * level of its text: (document × positions + position) × levels + level. The texts of a document
 * follow each other with a gap between, so no phrase matches across two texts.
 */
import { crc32 } from "node:zlib";
import { ByteReader, type ByteWriter, type Range } from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";

export interface TermsEntry {
  readonly dictionary: DictionaryEntry;
  readonly levels: readonly Level[];
  /** Ranges of the segment. */
  readonly postings: Range;
  readonly positions: Range;
  /** The distance between the numbers of adjacent positions, and of adjacent documents. */
  readonly positionStep: number;
  readonly docStep: number;
}

/** Reads bytes of a segment. */
export type ReadBytes = (range: Range) => Uint8Array;

/** Words and whole values are terms of different first characters. */
export const wordTerm = (word: string): string => `w${word.toWellFormed()}`;

export const isWord = (term: string): boolean => term.startsWith("w");

export const wordOf = (term: string): string => term.slice(1);

/** The term of a longer value is its beginning and a hash; a query for one compares the documents. */
export const wholeUnitsMax = 32;

export const wholeTerm = (folded: string): string =>
  folded.length <= wholeUnitsMax
    ? wholeBeginning(folded)
    : `${wholeBeginning(folded)}${crc32(folded.toWellFormed()).toString(36)}`;

export const wholeBeginning = (folded: string): string =>
  `v${folded.slice(0, wholeUnitsMax).toWellFormed()}`;

/** The greatest boost of the texts with a term; -1 without a suggested one. */
export type Level = readonly [boost: number, suggested: number];

export interface Postings<List = readonly number[]> {
  /** Ascending; with several terms, in the list of each. */
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

  /** The posting lists of adjacent terms, by their ordinals, one after the other. */
  postings(from: number, to = from + 1): Postings<Uint32Array> {
    const reader = new ByteReader(this.read(this.range(from, to)));
    const { length } = reader.buffer;
    // Each takes a byte or more.
    const docs = new Uint32Array(length);
    const levels = new Uint32Array(length);
    let end = 0;
    while (reader.at < length) end = readList(reader, docs, levels, end);
    return { docs: docs.subarray(0, end), levels: levels.subarray(0, end) };
  }

  /** The numbers of the occurrences of a word, in ascending order. */
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

  /** The range of the posting lists of adjacent terms. */
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

/** Reads a posting list to the arrays, from an index on; returns the index after it. */
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
