/** Measures the load of the service's thread, so that background threads yield to it. */

/** Utilization of the service's thread from which it counts as busy. */
const BUSY = 0.4;
const POLL_MS = 250;

/**
 * Milliseconds of pause for each millisecond of work (cpu-time.ts) in one of `threads` background
 * threads that yield to a busy service: together they use half a core.
 */
export const pausePerWorkedMs = (threads: number): number => 2 * threads - 1;

/** Calls `onChange` whenever this thread becomes busy or idle. Returns the function that ends it. */
export function watchBusy(onChange: (busy: boolean) => void): () => void {
  let last = performance.eventLoopUtilization();
  let busy = false;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization > BUSY === busy) return;
    busy = !busy;
    onChange(busy);
  }, POLL_MS).unref();
  return () => clearInterval(timer);
}
