/** Whether a service has much to do, for threads that then let it have the machine. */

/** Part of the time in which the service's thread works, beyond which it is busy. */
const BUSY = 0.4;
const LOOK_MS = 250;

/** For each millisecond of work beside a busy service, of a thread that gives way to it. */
export const REST = 2;

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
