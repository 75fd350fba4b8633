/** Whether a service has much to do, for threads that then let it have the machine. */

/** Part of the time in which the service's thread works, beyond which it is busy. */
const BUSY = 0.4;
const LOOK_MS = 250;

/**
 * Milliseconds to rest for each that was computed beside a busy service, of one of so many threads that
 * give way to it: together they take two thirds of a core at most.
 */
export const restOf = (threads: number): number => 1.5 * threads - 1;

/**
 * Tells whether this thread, which answers, has had much to do; whenever that changes, until what it
 * gives back is called.
 */
export function watchBusy(tell: (busy: boolean) => void): () => void {
  let last = performance.eventLoopUtilization();
  let busy = false;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization > BUSY === busy) return;
    busy = !busy;
    tell(busy);
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}
