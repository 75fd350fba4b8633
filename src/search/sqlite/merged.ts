/**
 * Keeps numbers sorted while more come: what is new is sorted by itself and put between what is
 * there, so that a few new ones among a million cost a few comparisons and one copy.
 */

/** The numbers below `end` in order, of which `sorted` has those that were there before. */
export function merged(
  sorted: Uint32Array,
  end: number,
  compare: (a: number, b: number) => number,
): Uint32Array {
  const fresh = new Uint32Array(end - sorted.length);
  for (let at = 0; at < fresh.length; at++) fresh[at] = sorted.length + at;
  return mergedWith(sorted, fresh, compare);
}

/** `sorted` with others, which are in any order. */
export function mergedWith(
  sorted: Uint32Array,
  others: Uint32Array,
  compare: (a: number, b: number) => number,
): Uint32Array {
  // An array's own sort is quick with what is nearly in order, which a typed array's is not.
  const fresh = Array.from(others).sort(compare);
  const all = new Uint32Array(sorted.length + fresh.length);
  let taken = 0;
  for (const [at, number] of fresh.entries()) {
    const place = placeAmong(sorted, taken, (other) => compare(other, number));
    all.set(sorted.subarray(taken, place), taken + at);
    all[place + at] = number;
    taken = place;
  }
  all.set(sorted.subarray(taken), taken + fresh.length);
  return all;
}

/**
 * The first place, from one on, of which `order` does not say that it comes before (below 0). The
 * search begins with small steps, since what is new is often close together.
 */
export function placeAmong(
  sorted: Uint32Array,
  from: number,
  order: (number: number) => number,
): number {
  let low = from;
  let step = 1;
  while (low + step <= sorted.length && order(sorted[low + step - 1] ?? 0) < 0) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, sorted.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order(sorted[middle] ?? 0) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
