/**
 * Adaptive page size: shrinks when a response is truncated, grows slowly after that. A large item at
 * the start of a page then does not cause the others to be read again many times.
 */
interface AdaptivePageSize {
  /** The first items, as many as will probably fit; at least one. */
  take<T>(wanted: readonly T[]): readonly T[];
  /** Adapts to a response of `returned` items; `complete`: these were all requested ones. */
  adapt(returned: number, complete: boolean): void;
}

export function createAdaptivePageSize(most: number): AdaptivePageSize {
  let fits = most;
  return {
    take: (wanted) => wanted.slice(0, fits),
    adapt(returned, complete) {
      fits = complete ? Math.min(most, fits * 2) : Math.max(1, returned);
    },
  };
}
