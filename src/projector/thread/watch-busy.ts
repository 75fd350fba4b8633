/** Measures the load of the service's thread, so that background threads yield to it. */

/** Part of the time in which the service's thread works, beyond which it is busy. */
const BUSY = 0.4;
const LOOK_MS = 250;

/**
 * Milliseconds to rest for each that was worked (cpu-time.ts) by one of so many threads that give way
 * to a busy service: together they take half a core, or half of a server's time for one who asks.
 */
export const restOf = (threads: number): number => 2 * threads - 1;

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
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}
