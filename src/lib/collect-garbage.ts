/**
 * Collects the garbage of this thread now. V8 alone would collect it late: after a start, because the
 * thread is idle then, and after large values, because V8 counts the memory of their buffers too low.
 * Does nothing without --expose-gc, which `npm start` and the container image set. The "regular" flavor
 * blocks the thread for a quarter of the time, and keeps compiled code and weakly held objects.
 */
export function collectGarbage(flavor: "regular" | "last-resort" = "last-resort"): void {
  void globalThis.gc?.({ type: "major", flavor, execution: "async" });
}

/** Milliseconds: a collection costs more than most of the requests that it follows. */
const SOON_MS = 500;
let planned = false;

/** Collects the garbage of this thread after SOON_MS, once for all calls until then. */
export function collectGarbageSoon(): void {
  if (planned) return;
  planned = true;
  setTimeout(() => {
    planned = false;
    collectGarbage("regular");
  }, SOON_MS).unref();
}

/** Bytes of values after which a thread collects garbage. Usual batches are far smaller. */
export const GARBAGE_BYTES = 8 * 1024 * 1024;
