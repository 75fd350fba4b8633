/**
 * Processes a long list in slices, and yields to the event loop after each, so that other requests run.
 * Not for work that must be atomic.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** Milliseconds of work before it yields to the event loop. */
const SLICE_MS = 8;

/** Yields to the event loop when the slice is used up; undefined while it is not. */
export type Pause = () => Promise<void> | undefined;

/** Measures slices of work. The first slice starts now. */
export function createPause(now: () => number = () => performance.now()): Pause {
  let end = now() + SLICE_MS;
  return () => {
    if (now() < end) return undefined;
    return yieldToEventLoop().then(() => {
      end = now() + SLICE_MS;
    });
  };
}

/** The results of the work on each item, in their order. Ends at the first item that throws. */
export async function inSlices<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => R,
  pause: Pause = createPause(),
): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0) {
      const pausing = pause();
      if (pausing !== undefined) await pausing;
    }
    results.push(work(item, index));
  }
  return results;
}
