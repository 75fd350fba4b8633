/**
 * Posting lists: which documents have a term, and for each the level of its texts that have it. A
 * level stands for the greatest boost among those texts, and among the suggested ones of them.
 *
 *   count, level + 1 or 0, start of the positions, then for each document
 *   the distance from the one before, and its level where they differ
 *
 * Positions of a term lie apart, document by document: their length, then for each boost (in 1/64)
 * the number of positions and their distances. Texts of one boost are numbered as if they followed
 * each other with a gap between, so no phrase matches across two texts.
 */
import { ByteReader, type ByteWriter } from "./bytes.ts";

/** The greatest boost of the texts with a term; -1 without a suggested one. */
export type Level = readonly [boost: number, suggested: number];

/** Boosts are multiples of it. */
const BOOST_UNIT = 1 / 64;

export interface Postings {
  readonly docs: Uint32Array;
  /** One for each document, or one for all. */
  readonly levels: Uint16Array | number;
  /** Where the positions of the term begin. */
  readonly positions: number;
}

/** A posting list: the entries of two arrays from one index up to another. */
export interface PostingRange {
  readonly docs: ArrayLike<number>;
  readonly levels: ArrayLike<number>;
  readonly from: number;
  readonly to: number;
}

export function writePostings(
  writer: ByteWriter,
  { docs, levels, from, to }: PostingRange,
  positions: number,
): void {
  const level = levels[from] as number;
  let uniform = true;
  for (let at = from + 1; at < to && uniform; at++) uniform = levels[at] === level;
  writer.varint(to - from);
  writer.varint(uniform ? level + 1 : 0);
  writer.varint(positions);
  let before = -1;
  for (let at = from; at < to; at++) {
    const doc = docs[at] as number;
    writer.varint(doc - before - 1);
    if (!uniform) writer.varint(levels[at] as number);
    before = doc;
  }
}

export function readPostings(bytes: Uint8Array, start: number): Postings {
  const reader = new ByteReader(bytes, start);
  const count = reader.varint();
  const level = reader.varint() - 1;
  const positions = reader.varint();
  const docs = new Uint32Array(count);
  let doc = -1;
  if (level >= 0) {
    for (let at = 0; at < count; at++) {
      doc += reader.varint() + 1;
      docs[at] = doc;
    }
    return { docs, levels: level, positions };
  }
  const levels = new Uint16Array(count);
  for (let at = 0; at < count; at++) {
    doc += reader.varint() + 1;
    docs[at] = doc;
    levels[at] = reader.varint();
  }
  return { docs, levels, positions };
}

/** Calls back for each document of posting lists that lie one after the other. */
export function eachPosting(
  bytes: Uint8Array,
  start: number,
  lists: number,
  take: (doc: number, level: number) => void,
): void {
  const reader = new ByteReader(bytes, start);
  for (let list = 0; list < lists; list++) {
    const count = reader.varint();
    const uniform = reader.varint() - 1;
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

/**
 * Writes the positions of a term in one document, without their length. `boosts` has the boost of
 * each position; positions of one boost lie together and ascend.
 */
export function writePositions(
  writer: ByteWriter,
  boosts: readonly number[],
  positions: readonly number[],
): void {
  for (let from = 0; from < positions.length; ) {
    const boost = boosts[from] as number;
    let to = from + 1;
    while (to < positions.length && boosts[to] === boost) to++;
    writer.varint(boost / BOOST_UNIT);
    writer.varint(to - from);
    let before = 0;
    for (; from < to; from++) {
      const position = positions[from] as number;
      writer.varint(position - before);
      before = position;
    }
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
