/**
 * Sets of documents of one segment with their scores: what an expression matches. Operations on
 * sorted lists; scores are multiples of 1/64, so sums are exact.
 */

export interface DocSet {
  /** Ascending. */
  readonly docs: Uint32Array;
  /** One for each document, or one for all. */
  readonly scores: Float64Array | number;
}

export const noDocs: DocSet = { docs: new Uint32Array(), scores: 0 };

const scoreAt = ({ scores }: DocSet, at: number): number =>
  typeof scores === "number" ? scores : (scores[at] as number);

/** Documents that are in any of the sets, with the greatest of their scores. */
export function union(sets: readonly DocSet[], docCount: number): DocSet {
  const filled = sets.filter(({ docs }) => docs.length > 0);
  const [first = noDocs, second] = filled;
  if (second === undefined) return first;
  let total = 0;
  for (const { docs } of filled) total += docs.length;
  return filled.length === 2 && total < docCount
    ? unionOfTwo(first, second)
    : unionOfMany(filled, docCount);
}

function unionOfTwo(a: DocSet, b: DocSet): DocSet {
  const docs = new Uint32Array(a.docs.length + b.docs.length);
  const scores = new Float64Array(docs.length);
  let end = 0;
  for (let m = 0, n = 0; m < a.docs.length || n < b.docs.length; end++) {
    const left = a.docs[m] ?? Infinity;
    const right = b.docs[n] ?? Infinity;
    docs[end] = Math.min(left, right);
    if (left < right) scores[end] = scoreAt(a, m++);
    else if (right < left) scores[end] = scoreAt(b, n++);
    else scores[end] = Math.max(scoreAt(a, m++), scoreAt(b, n++));
  }
  return { docs: docs.subarray(0, end), scores: scores.subarray(0, end) };
}

function unionOfMany(sets: readonly DocSet[], docCount: number): DocSet {
  const union = new UnionBuilder(docCount);
  for (const { docs, scores } of sets) {
    for (let at = 0; at < docs.length; at++) {
      union.add(docs[at] as number, typeof scores === "number" ? scores : (scores[at] as number));
    }
  }
  return union.end();
}

/** A union of so many among all documents is read from the scores in order. */
const DENSE_PART = 1 / 16;

/** The greatest score of each document + 1; 0 for none. All 0 between two unions. */
let greatest = new Float64Array();

/** Collects documents in any order, each with the greatest of its scores. One at a time. */
export class UnionBuilder {
  private readonly docCount: number;
  private list = new Uint32Array(1_024);
  private count = 0;

  constructor(docCount: number) {
    this.docCount = docCount;
    if (greatest.length < docCount) greatest = new Float64Array(docCount);
  }

  add(doc: number, score: number): void {
    const before = greatest[doc] as number;
    if (score + 1 <= before) return;
    greatest[doc] = score + 1;
    if (before !== 0) return;
    if (this.count === this.list.length) {
      const longer = new Uint32Array(2 * this.count);
      longer.set(this.list);
      this.list = longer;
    }
    this.list[this.count++] = doc;
  }

  end(): DocSet {
    const docs = this.list.subarray(0, this.count);
    if (this.count < this.docCount * DENSE_PART) docs.sort();
    else {
      let at = 0;
      for (let doc = 0; at < this.count; doc++) if (greatest[doc] !== 0) docs[at++] = doc;
    }
    const scores = new Float64Array(this.count);
    for (let at = 0; at < this.count; at++) {
      const doc = docs[at] as number;
      scores[at] = (greatest[doc] as number) - 1;
      greatest[doc] = 0;
    }
    return { docs, scores };
  }
}

/** Documents that are in both, with the sum of their scores. */
export function intersect(a: DocSet, b: DocSet): DocSet {
  if (a.docs.length > b.docs.length) return intersect(b, a);
  const docs = new Uint32Array(a.docs.length);
  const uniform = typeof a.scores === "number" && typeof b.scores === "number";
  const scores = uniform ? undefined : new Float64Array(a.docs.length);
  let end = 0;
  eachCommon(a.docs, b.docs, (m, n) => {
    docs[end] = a.docs[m] as number;
    if (scores !== undefined) scores[end] = scoreAt(a, m) + scoreAt(b, n);
    end++;
  });
  return {
    docs: docs.subarray(0, end),
    scores: scores?.subarray(0, end) ?? scoreAt(a, 0) + scoreAt(b, 0),
  };
}

/** A list that is so many times as long is searched, not read. */
const SEARCHED_TIMES = 32;

/** Calls back with the indexes of each document that is in both lists; `few` is the shorter one. */
function eachCommon(
  few: Uint32Array,
  many: Uint32Array,
  take: (inFew: number, inMany: number) => void,
): void {
  if (many.length > few.length * SEARCHED_TIMES) {
    let from = 0;
    for (let m = 0; m < few.length; m++) {
      from = lowerBound(many, few[m] as number, from);
      if (many[from] === few[m]) take(m, from);
    }
    return;
  }
  for (let m = 0, n = 0; m < few.length && n < many.length; ) {
    const left = few[m] as number;
    const right = many[n] as number;
    if (left === right) take(m, n);
    if (left <= right) m++;
    if (right <= left) n++;
  }
}

/** The first index from `from` on whose number is not less. */
export function lowerBound(list: Uint32Array, wanted: number, from = 0): number {
  let low = from;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Documents of the set for which it holds. */
export function filter({ docs, scores }: DocSet, holds: (doc: number) => boolean): DocSet {
  const kept = new Uint32Array(docs.length);
  const keptScores = typeof scores === "number" ? undefined : new Float64Array(docs.length);
  let end = 0;
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at] as number;
    if (!holds(doc)) continue;
    kept[end] = doc;
    if (keptScores !== undefined) keptScores[end] = (scores as Float64Array)[at] as number;
    end++;
  }
  if (end === docs.length) return { docs, scores };
  return { docs: kept.subarray(0, end), scores: keptScores?.subarray(0, end) ?? scores };
}

/** Documents that are not among others. */
export function without(set: DocSet, others: Uint32Array): DocSet {
  if (others.length === 0) return set;
  let at = 0;
  return filter(set, (doc) => {
    while (at < others.length && (others[at] as number) < doc) at++;
    return others[at] !== doc;
  });
}

/** The documents of `set`; those that are among `extras` with the sum of their scores. */
export function raise(set: DocSet, extras: DocSet): DocSet {
  if (set.docs.length === 0 || extras.docs.length === 0) return set;
  const { scores: before } = set;
  const scores =
    typeof before === "number"
      ? new Float64Array(set.docs.length).fill(before)
      : Float64Array.from(before);
  const isFew = set.docs.length <= extras.docs.length;
  const [few, many] = isFew ? [set.docs, extras.docs] : [extras.docs, set.docs];
  eachCommon(few, many, (inFew, inMany) => {
    const [at, extra] = isFew ? [inFew, inMany] : [inMany, inFew];
    scores[at] = (scores[at] as number) + scoreAt(extras, extra);
  });
  return { docs: set.docs, scores };
}

export const weighted = ({ docs, scores }: DocSet, weight: number): DocSet => ({
  docs,
  scores: typeof scores === "number" ? scores * weight : scores.map((score) => score * weight),
});
