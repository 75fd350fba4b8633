/**
 * How much of what is wanted is asked for at once: less when an answer had to end early, and slowly
 * more again. Nothing is then read many times over because the first of it is large.
 */
export interface AdaptivePageSize {
  /** The first ones, as many as will probably fit; one at least. */
  first<T>(wanted: readonly T[]): readonly T[];
  /** `whole`: an answer had all that was asked for; else so many of it. */
  note(answered: number, whole: boolean): void;
}

export function createAdaptivePageSize(most: number): AdaptivePageSize {
  let fits = most;
  return {
    first: (wanted) => wanted.slice(0, fits),
    note(answered, whole) {
      fits = whole ? Math.min(most, fits * 2) : Math.max(1, answered);
    },
  };
}
