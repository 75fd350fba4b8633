/**
 * Doc sets: the documents of one segment that an expression matches, with their scores. Operations
 * work on sorted lists. Scores are multiples of 1/64, so sums are exact.
 */
import type { Postings } from "../segments/terms.ts";

export interface DocSet {
  /** Ascending. */
  readonly docs: Uint32Array;
  readonly scores: Float64Array;
}

export const noDocs: DocSet = { docs: new Uint32Array(), scores: new Float64Array() };

export const allWith = (docs: Uint32Array, score: number): DocSet => ({
  docs,
  scores: new Float64Array(docs.length).fill(score),
});

/** The doc set of a posting list. `scores`: the score of each level. */
export function scored({ docs, levels }: Postings<Uint32Array>, scores: readonly number[]): DocSet {
  const all = new Float64Array(levels.length);
  for (let at = 0; at < all.length; at++) all[at] = scores[levels[at] as number] as number;
  return { docs, scores: all };
}

/** Documents that are in any of the sets, with the greatest of their scores. */
export function union(sets: readonly DocSet[], docCount: number): DocSet {
  const [first = noDocs, ...others] = sets.filter(({ docs }) => docs.length > 0);
  if (others.length === 0) return first;
  const all = new Union(docCount);
  for (const { docs, scores } of [first, ...others]) {
    for (let at = 0; at < docs.length; at++) all.add(docs[at] as number, scores[at] as number);
  }
  return all.end();
}

/** Collects documents in any order, each with its greatest score. */
export class Union {
  /** By document: the greatest score + 1; 0 for a document that was not added. */
  private readonly greatest: Float64Array;
  private count = 0;

  constructor(docCount: number) {
    this.greatest = new Float64Array(docCount);
  }

  add(doc: number, score: number): void {
    const before = this.greatest[doc] as number;
    if (before === 0) this.count++;
    if (score + 1 > before) this.greatest[doc] = score + 1;
  }

  end(): DocSet {
    const docs = new Uint32Array(this.count);
    const scores = new Float64Array(this.count);
    for (let doc = 0, at = 0; at < docs.length; doc++) {
      const score = this.greatest[doc] as number;
      if (score === 0) continue;
      docs[at] = doc;
      scores[at++] = score - 1;
    }
    return { docs, scores };
  }
}

/** Documents that are in both, with the sum of their scores. */
export function intersect(a: DocSet, b: DocSet): DocSet {
  const docs = new Uint32Array(Math.min(a.docs.length, b.docs.length));
  const scores = new Float64Array(docs.length);
  let end = 0;
  forEachCommon(a.docs, b.docs, (inA, inB) => {
    docs[end] = a.docs[inA] as number;
    scores[end++] = (a.scores[inA] as number) + (b.scores[inB] as number);
  });
  return { docs: docs.subarray(0, end), scores: scores.subarray(0, end) };
}

/** Calls `take` with both indexes of each document that is in both lists. */
function forEachCommon(a: Uint32Array, b: Uint32Array, take: (inA: number, inB: number) => void) {
  for (let m = 0, n = 0; m < a.length && n < b.length; ) {
    const left = a[m] as number;
    const right = b[n] as number;
    if (left === right) take(m++, n++);
    else if (left < right) m++;
    else n++;
  }
}

export function filter(set: DocSet, holds: (doc: number, score: number) => boolean): DocSet {
  const docs = new Uint32Array(set.docs.length);
  const scores = new Float64Array(docs.length);
  let end = 0;
  for (let at = 0; at < docs.length; at++) {
    const doc = set.docs[at] as number;
    const score = set.scores[at] as number;
    if (!holds(doc, score)) continue;
    docs[end] = doc;
    scores[end++] = score;
  }
  return { docs: docs.subarray(0, end), scores: scores.subarray(0, end) };
}

export function without(set: DocSet, others: Uint32Array): DocSet {
  let at = 0;
  return filter(set, (doc) => {
    while ((others[at] as number) < doc) at++;
    return others[at] !== doc;
  });
}

/** The documents of `set`, with the scores of `extras` added. */
export function addScores(set: DocSet, extras: DocSet): DocSet {
  if (extras.docs.length === 0) return set;
  const scores = set.scores.slice();
  forEachCommon(set.docs, extras.docs, (at, extra) => {
    scores[at] = (scores[at] as number) + (extras.scores[extra] as number);
  });
  return { docs: set.docs, scores };
}

export const weighted = ({ docs, scores }: DocSet, weight: number): DocSet =>
  weight === 1 ? { docs, scores } : { docs, scores: scores.map((score) => score * weight) };
