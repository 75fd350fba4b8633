/**
 * Sums over the rows of a view that do not depend on their order: each row has two hashes of 32 bits,
 * of its urn and its cells, which are added up in one of some thousand buckets of urns. Two stores
 * with the same sums have the same rows; where the sums of a bucket differ, one of its entities does.
 */
import type { Cell, Row, RowSums } from "./view-rows.ts";

/** A power of two. At a million entities some 250 share one. */
const bucketCount = 4_096;

/** Raised when hashes are made in another way: sums that are remembered are void then. */
export const sumsFormat = 1;

export const noSums = (): RowSums => new Uint32Array(2 * bucketCount);

export function addSums(to: RowSums, sums: RowSums): void {
  for (let n = 0; n < to.length; n++) to[n] = (to[n] as number) + (sums[n] as number);
}

export function subtractSums(from: RowSums, sums: RowSums): void {
  for (let n = 0; n < from.length; n++) from[n] = (from[n] as number) - (sums[n] as number);
}

/** Buckets in which two sums differ. */
export function unlikeBuckets(some: RowSums, others: RowSums): Set<number> {
  const unlike = new Set<number>();
  for (let n = 0; n < some.length; n++) if (some[n] !== others[n]) unlike.add(n >> 1);
  return unlike;
}

const PRIME_ONE = 0x9e3779b1;
const PRIME_TWO = 0x85ebca77;
const PRIME_THREE = 0xc2b2ae3d;

/** The hashes of the text that was hashed last. */
export const hashed = new Int32Array(2);

export function hashText(text: string): void {
  const { length } = text;
  let one = length ^ PRIME_THREE;
  let two = length ^ PRIME_TWO;
  let n = 1;
  // Two characters at a time: the loop costs most of what sums cost.
  for (; n < length; n += 2) {
    const pair = text.charCodeAt(n - 1) | (text.charCodeAt(n) << 16);
    one = Math.imul(one ^ pair, PRIME_ONE);
    one ^= one >>> 15;
    two = Math.imul(two ^ pair, PRIME_TWO);
    two ^= two >>> 13;
  }
  if (n === length) {
    const last = text.charCodeAt(n - 1);
    one = Math.imul(one ^ last, PRIME_ONE);
    two = Math.imul(two ^ last, PRIME_TWO);
  }
  hashed[0] = stirred(one);
  hashed[1] = stirred(two);
}

function stirred(value: number): number {
  const half = Math.imul(value ^ (value >>> 16), PRIME_TWO);
  const most = Math.imul(half ^ (half >>> 13), PRIME_THREE);
  return most ^ (most >>> 16);
}

/** Entities whose urns hash to it share a bucket. */
const bucketOfHash = (one: number): number => one & (bucketCount - 1);

export function bucketOf(urn: string): number {
  hashText(urn);
  return bucketOfHash(hashed[0] as number);
}

/** Hashes one row after the other: begin, each cell in order, addTo. */
export interface RowHash {
  /** `one` and `two` are the hashes of the urn. */
  begin(one: number, two: number): void;
  text(text: string): void;
  /** A text whose hashes are known. */
  hashed(one: number, two: number): void;
  number(value: number): void;
  nothing(): void;
  cell(cell: Cell): void;
  addTo(sums: RowSums): void;
}

export function createRowHash(): RowHash {
  const double = new Float64Array(1);
  const words = new Int32Array(double.buffer);
  let bucket = 0;
  let one = 0;
  let two = 0;

  function mix(first: number, second: number): void {
    const mixed = Math.imul(one ^ first, PRIME_ONE);
    one = (mixed << 13) | (mixed >>> 19);
    const other = Math.imul(two ^ second, PRIME_TWO);
    two = (other << 17) | (other >>> 15);
  }

  function text(value: string): void {
    hashText(value);
    mix(hashed[0] as number, hashed[1] as number);
  }

  function number(value: number): void {
    // Of the two zeros stores keep one.
    double[0] = value + 0;
    mix((words[0] as number) ^ PRIME_THREE, words[1] as number);
    mix(words[1] as number, words[0] as number);
  }

  const nothing = (): void => mix(PRIME_TWO, PRIME_THREE);

  return {
    begin(urnOne, urnTwo) {
      bucket = bucketOfHash(urnOne);
      one = urnOne;
      two = urnTwo;
    },
    text,
    hashed: mix,
    number,
    nothing,
    cell(cell) {
      if (typeof cell === "string") text(cell);
      else if (cell === null) nothing();
      else number(cell);
    },
    addTo(sums) {
      const at = 2 * bucket;
      sums[at] = (sums[at] as number) + stirred(one);
      sums[at + 1] = (sums[at + 1] as number) + stirred(two);
    },
  };
}

/** Adds rows of one entity, as they should be: stores keep whole characters only. */
export function addRows(hash: RowHash, urn: string, rows: readonly Row[], sums: RowSums): void {
  if (rows.length === 0) return;
  hashText(urn.isWellFormed() ? urn : urn.toWellFormed());
  const urnOne = hashed[0] as number;
  const urnTwo = hashed[1] as number;
  for (const row of rows) {
    hash.begin(urnOne, urnTwo);
    for (const cell of row) {
      if (typeof cell !== "string") hash.cell(cell);
      else hash.text(cell.isWellFormed() ? cell : cell.toWellFormed());
    }
    hash.addTo(sums);
  }
}
