/**
 * Sets of documents with what each is worth, and their algebra. Documents are numbers, ascending;
 * scores are multiples of 1/64, so that it does not matter in which order they are added.
 */

export interface Found {
  /** Ascending, without repeats. */
  readonly docs: Uint32Array;
  /** One for each document, or one for all. */
  readonly scores: Float64Array | number;
}

export const nothing: Found = { docs: new Uint32Array(), scores: 0 };

export const scoreAt = ({ scores }: Found, at: number): number =>
  typeof scores === "number" ? scores : (scores[at] ?? 0);

/** Documents of both; their scores are added. */
export function intersect(a: Found, b: Found): Found {
  if (a.docs.length > b.docs.length) return intersect(b, a);
  const docs = new Uint32Array(a.docs.length);
  const scores = new Float64Array(a.docs.length);
  let count = 0;
  eachCommon(a.docs, b.docs, (doc, inA, inB) => {
    docs[count] = doc;
    scores[count++] = scoreAt(a, inA) + scoreAt(b, inB);
  });
  return { docs: docs.subarray(0, count), scores: scores.subarray(0, count) };
}

/** Documents of `found` that are, or are not, in `others`; scores stay. */
export function select(found: Found, others: Uint32Array, within: boolean): Found {
  const picked = new Uint8Array(found.docs.length);
  eachCommon(found.docs, others, (_, at) => {
    picked[at] = 1;
  });
  const wanted = within ? 1 : 0;
  return filter(found, (_, at) => picked[at] === wanted);
}

export function filter(found: Found, keeps: (doc: number, at: number) => boolean): Found {
  const { docs, scores } = found;
  const kept = new Uint32Array(docs.length);
  const keptScores = typeof scores === "number" ? scores : new Float64Array(docs.length);
  let count = 0;
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at] ?? 0;
    if (!keeps(doc, at)) continue;
    if (typeof keptScores !== "number") keptScores[count] = scoreAt(found, at);
    kept[count++] = doc;
  }
  if (count === docs.length) return found;
  return {
    docs: kept.subarray(0, count),
    scores: typeof keptScores === "number" ? keptScores : keptScores.subarray(0, count),
  };
}

/** Those of `found` that are listed; all that are listed are in it. */
export function among(found: Found, listed: Uint32Array): Found {
  const { docs, scores } = found;
  if (listed.length === docs.length) return found;
  if (typeof scores === "number") return { docs: listed, scores };
  const own = new Float64Array(listed.length);
  for (let at = 0, next = 0; next < listed.length; at++) {
    if (docs[at] === listed[next]) own[next++] = scores[at] ?? 0;
  }
  return { docs: listed, scores: own };
}

/** `found`, where some documents have other scores, or none any more. */
export function replaced(
  found: Found,
  some: ReadonlySet<number>,
  scores: ReadonlyMap<number, number>,
): Found {
  const others = filter(found, (doc) => !some.has(doc));
  const docs = Uint32Array.from([...others.docs, ...scores.keys()]).sort();
  let next = 0;
  const own = Float64Array.from(docs, (doc) => scores.get(doc) ?? scoreAt(others, next++));
  return { docs, scores: own };
}

/** `base`, each document with what it is worth in `extra` on top. */
export function addTo(base: Found, extra: Found): Found {
  if (extra.docs.length === 0) return base;
  const scores =
    typeof base.scores === "number"
      ? new Float64Array(base.docs.length).fill(base.scores)
      : base.scores.slice();
  eachCommon(base.docs, extra.docs, (_, inBase, inExtra) => {
    scores[inBase] = (scores[inBase] ?? 0) + scoreAt(extra, inExtra);
  });
  return { docs: base.docs, scores };
}

/** All scores times a weight. */
export const weighted = ({ docs, scores }: Found, weight: number): Found => ({
  docs,
  scores: typeof scores === "number" ? scores * weight : scores.map((score) => score * weight),
});

/** Below this many rows in all, sorting them costs less than walking over all documents. */
const SPARSE_PART = 32;
/** No score is below zero. */
const ABSENT = -1;

/** Documents of all sets, each with its greatest score. */
export type Union = (sets: readonly Found[]) => Found;

/** Unions work in a field over all documents that is kept from one to the next. */
export function createUnion(): Union {
  let best = new Float64Array();

  return (sets) => {
    const some = sets.filter(({ docs }) => docs.length > 0);
    const [first, second] = some;
    if (first === undefined) return nothing;
    if (second === undefined) return first;
    const last = Math.max(...some.map(({ docs }) => docs.at(-1) ?? 0));
    if (best.length <= last) best = new Float64Array(Math.ceil(last * 1.5) + 1).fill(ABSENT);
    const rows = some.reduce((sum, { docs }) => sum + docs.length, 0);
    const seen = new Uint32Array(rows);
    let count = 0;
    for (const set of some) {
      for (let at = 0; at < set.docs.length; at++) {
        const doc = set.docs[at] ?? 0;
        const score = scoreAt(set, at);
        const before = best[doc] ?? ABSENT;
        if (before === ABSENT) seen[count++] = doc;
        if (score > before) best[doc] = score;
      }
    }
    const docs = ascending(seen.subarray(0, count), last);
    const scores = new Float64Array(count);
    for (let at = 0; at < count; at++) {
      const doc = docs[at] ?? 0;
      scores[at] = best[doc] ?? 0;
      best[doc] = ABSENT;
    }
    return { docs, scores };
  };

  function ascending(docs: Uint32Array, last: number): Uint32Array {
    if (docs.length * SPARSE_PART < last) return docs.sort();
    let count = 0;
    for (let doc = 0; doc <= last; doc++) if (best[doc] !== ABSENT) docs[count++] = doc;
    return docs;
  }
}

/** One set is walked through and the other searched when that one is so many times as long. */
const SEARCHED_TIMES = 16;

/** The places of the documents that two ascending lists have in common. */
function eachCommon(
  a: Uint32Array,
  b: Uint32Array,
  tell: (doc: number, inA: number, inB: number) => void,
): void {
  if (a.length > b.length * SEARCHED_TIMES) {
    eachCommon(b, a, (doc, inB, inA) => tell(doc, inA, inB));
    return;
  }
  if (b.length > a.length * SEARCHED_TIMES) {
    let from = 0;
    for (let inA = 0; inA < a.length; inA++) {
      const doc = a[inA] ?? 0;
      from = placeOf(b, doc, from);
      if (b[from] === doc) tell(doc, inA, from);
    }
    return;
  }
  let inA = 0;
  let inB = 0;
  while (inA < a.length && inB < b.length) {
    const left = a[inA] ?? 0;
    const right = b[inB] ?? 0;
    if (left === right) tell(left, inA, inB);
    if (left <= right) inA++;
    if (right <= left) inB++;
  }
}

/** Where the document is in an ascending list, or would be; not before `from`. */
export function placeOf(docs: Uint32Array, doc: number, from = 0): number {
  let low = from;
  let high = docs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((docs[middle] ?? 0) < doc) low = middle + 1;
    else high = middle;
  }
  return low;
}
