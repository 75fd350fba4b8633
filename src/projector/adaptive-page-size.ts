/**
 * Adaptive page size: shrinks when a response is truncated, grows slowly after that. So a large
 * item does not cause many repeated reads of the items after it.
 */
interface AdaptivePageSize {
  /** The first items, as many as will probably fit into one response; at least one. */
  take<T>(wanted: readonly T[]): readonly T[];
  /** Adapts to a response of `returned` items. `complete`: no requested item is missing. */
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
