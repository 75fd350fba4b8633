/** Progress of a job; its kind determines the unit. */
export interface JobCounts {
  /** The amount of work, as far as known. */
  readonly total: number;
  readonly updated: number;
  readonly created: number;
  readonly deleted: number;
  readonly noops: number;
  readonly batches: number;
}

export const NOTHING: JobCounts = Object.freeze({
  total: 0,
  updated: 0,
  created: 0,
  deleted: 0,
  noops: 0,
  batches: 0,
});

/** Number of processed items. */
export const doneOf = (counts: Partial<JobCounts>): number => {
  const { updated, created, deleted, noops } = { ...NOTHING, ...counts };
  return updated + created + deleted + noops;
};
