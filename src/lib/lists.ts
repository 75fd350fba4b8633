/**
 * Functions for lists of any length. Spreading a list into arguments, as in `Math.max(...list)`,
 * overflows the stack beyond about 100,000 items, which one aspect may have.
 */

export function appendAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}

/** -Infinity without a value. */
export function maxOf(values: Iterable<number>): number {
  let max = -Infinity;
  for (const value of values) if (value > max || Number.isNaN(value)) max = value;
  return max;
}

/** Infinity without a value. */
export function minOf(values: Iterable<number>): number {
  let min = Infinity;
  for (const value of values) if (value < min || Number.isNaN(value)) min = value;
  return min;
}

/** Slices of at most `size` items, in order. */
export function* slicesOf<T>(list: readonly T[], size: number): Generator<T[], undefined> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}
