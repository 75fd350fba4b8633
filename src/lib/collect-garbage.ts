/**
 * Collects the garbage of this thread now. V8 alone would collect it late: after a start, because the
 * thread is idle then, and after large values, because V8 counts the memory of their buffers too low.
 * Does nothing without --expose-gc, which `npm start` and the container image set.
 */
export function collectGarbage(): void {
  void globalThis.gc?.({ type: "major", flavor: "last-resort", execution: "async" });
}

/** Bytes of values after which a thread collects garbage. Usual batches are far smaller. */
export const GARBAGE_BYTES = 8 * 1024 * 1024;
