/**
 * Processes a long list in time slices, and yields to the event loop after each, so that other requests
 * run. Not for work that must be atomic.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** Milliseconds of a time slice. */
const SLICE_MS = 8;

/** Yields to the event loop after the end of the time slice; undefined before. */
export type Pause = () => Promise<void> | undefined;

/** Measures time slices. The first one starts now. */
export function createPause(now: () => number = () => performance.now()): Pause {
  let end = now() + SLICE_MS;
  return () => {
    if (now() < end) return undefined;
    return yieldToEventLoop().then(() => {
      end = now() + SLICE_MS;
    });
  };
}

/** The results of `work` in the order of the items. Rejects at the first item for which it throws. */
export async function inTimeSlices<T, R>(
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
