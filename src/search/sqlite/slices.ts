/**
 * Work in slices: wherever it yields, it may be interrupted, and others get their turn. What it
 * reads before and after need not be of the same state of the view.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Goes on until the work is done, or `until` says that it is enough for now. */
export function advance<T>(
  steps: Steps<T>,
  until: () => boolean,
): { readonly value: T } | undefined {
  for (;;) {
    const next = steps.next();
    if (next.done) return { value: next.value };
    if (until()) return undefined;
  }
}

/** Documents, or values, that are gone through before others may have their turn. */
const PART = 16_384;

/** Those for which it holds, in parts. */
export function* kept(docs: Uint32Array, holds: (doc: number) => boolean): Steps<Uint32Array> {
  const found = new Uint32Array(docs.length);
  let count = 0;
  for (let from = 0; from < docs.length; from += PART) {
    const end = Math.min(from + PART, docs.length);
    for (let at = from; at < end; at++) {
      const doc = docs[at] ?? 0;
      if (holds(doc)) found[count++] = doc;
    }
    if (end < docs.length) yield;
  }
  return count === docs.length ? docs : found.subarray(0, count);
}
