/**
 * The terms of a segment: a dictionary, which is in memory, and for each term a posting list, and of
 * words a list of positions, which are read for each query.
 *
 * A posting list has the documents with a term, and for each the level of its texts that have it. A
 * level stands for the greatest boost among those texts, and among the suggested ones of them.
 *
 *   count, level + 1 or 0, where the positions begin, and their length, then for each document
 *   the distance from the one before, and its level where they differ
 *
 * The positions of a word lie apart, document by document: their length, then for each boost (in
 * 1/64) the number of positions and their distances. Texts of one boost are numbered as if they
 * followed each other with a gap between, so no phrase matches across two texts.
 */
import { crc32 } from "node:zlib";
import { ByteReader, type ByteWriter, type Range } from "./bytes.ts";
import { Dictionary, type DictionaryEntry } from "./dictionary.ts";

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

/** The greatest boost of the texts with a term; -1 without a suggested one. */
export type Level = readonly [boost: number, suggested: number];

/** Boosts are multiples of it. */
const BOOST_UNIT = 1 / 64;

export interface Postings {
  readonly docs: Uint32Array;
  /** One for each document. */
  readonly levels: Uint16Array;
  /** Where the positions are. */
  readonly positions: Range;
}

/** Writes the first `count` of documents, which ascend, with their levels. */
export function writePostings(
  writer: ByteWriter,
  { docs, levels }: { readonly docs: readonly number[]; readonly levels: readonly number[] },
  count: number,
  positions: Range,
): void {
  const level = levels[0] as number;
  let uniform = true;
  for (let at = 1; at < count && uniform; at++) uniform = levels[at] === level;
  writer.varint(count);
  writer.varint(uniform ? level + 1 : 0);
  for (const number of positions) writer.varint(number);
  let before = -1;
  for (let at = 0; at < count; at++) {
    const doc = docs[at] as number;
    writer.varint(doc - before - 1);
    if (!uniform) writer.varint(levels[at] as number);
    before = doc;
  }
}

function readPostings(bytes: Uint8Array): Postings {
  const reader = new ByteReader(bytes);
  const count = reader.varint();
  const uniform = reader.varint() - 1;
  const positions = [reader.varint(), reader.varint()] as const;
  const docs = new Uint32Array(count);
  const levels = new Uint16Array(count);
  let doc = -1;
  for (let at = 0; at < count; at++) {
    doc += reader.varint() + 1;
    docs[at] = doc;
    levels[at] = uniform < 0 ? reader.varint() : uniform;
  }
  return { docs, levels, positions };
}

/** Calls back for each document of adjacent posting lists. */
function eachPosting(bytes: Uint8Array, take: (doc: number, level: number) => void): void {
  const reader = new ByteReader(bytes);
  while (reader.at < bytes.length) {
    const count = reader.varint();
    const uniform = reader.varint() - 1;
    reader.varint();
    reader.varint();
    let doc = -1;
    for (let at = 0; at < count; at++) {
      doc += reader.varint() + 1;
      take(doc, uniform < 0 ? reader.varint() : uniform);
    }
  }
}

/** Numbers of the levels of a segment, which are few. */
export class LevelTable {
  readonly levels: Level[] = [];

  numberOf(boost: number, suggested: number): number {
    const { levels } = this;
    for (let number = 0; number < levels.length; number++) {
      const level = levels[number] as Level;
      if (level[0] === boost && level[1] === suggested) return number;
    }
    return levels.push([boost, suggested]) - 1;
  }
}

/** Writes positions in one document that have the same boost, in ascending order. */
export function writePositions(
  writer: ByteWriter,
  boost: number,
  positions: ArrayLike<number>,
  [from, to]: readonly [from: number, to: number],
): void {
  writer.varint(boost / BOOST_UNIT);
  writer.varint(to - from);
  let before = 0;
  for (let at = from; at < to; at++) {
    const position = positions[at] as number;
    writer.varint(position - before);
    before = position;
  }
}

/** The positions of one boost lie in a range of so many numbers, those of greater boosts behind it. */
const BOOST_SPAN = 2 ** 32;

export const boostOf = (position: number): number => Math.floor(position / BOOST_SPAN) * BOOST_UNIT;

/** Reads the positions in one document, which take `length` bytes, in ascending order; counts them. */
export function readPositions(reader: ByteReader, length: number, positions: Float64Array): number {
  const end = reader.at + length;
  let count = 0;
  while (reader.at < end) {
    let position = reader.varint() * BOOST_SPAN;
    for (let left = reader.varint(); left > 0; left--) {
      position += reader.varint();
      positions[count++] = position;
    }
  }
  return count;
}
