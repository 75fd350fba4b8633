/**
 * The tiered merge policy, and merges in a worker thread. Adjacent segments of about the same size
 * are merged, so that a view has few segments and each document is merged a few times.
 */
import type { ResourceLimits } from "node:worker_threads";
import { startBackgroundThread } from "../../../../projector/thread/background-thread.ts";
import type { Range } from "../segments/bytes.ts";
import type { SegmentRow } from "../segments/segment.ts";
import type { Merged, MergeTask } from "./merge-thread.ts";

/** Minimum number of adjacent segments per merge, and the size ratio of two tiers. */
const FAN_IN = 10;
const TIER_BYTES = 32 * 1024;
/** Maximum size of a merged segment: a merge needs about ten times the memory. */
const MERGED_BYTES_MAX = 32 * 1024 * 1024;
/** A segment with a greater part of deleted documents is rewritten. */
const DELETED_PART_MAX = 0.5;
const DELETED_MIN = 1_000;

const tierOf = ({ bytes, docs }: SegmentRow): number =>
  Math.floor(Math.log(Math.max(docs, bytes / TIER_BYTES, 1)) / Math.log(FAN_IN));

interface MergeLimits {
  /** Maximum total size of the segments of a merge. */
  readonly bytesMax?: number | undefined;
  /** Segments that are being merged. */
  readonly busy?: readonly number[] | undefined;
}

/** The longest run of segments from an index on that fits into one, of at most this tier. */
function mergeable<S extends SegmentRow>(
  rows: readonly S[],
  from: number,
  { bytesMax = MERGED_BYTES_MAX, busy = [] }: MergeLimits,
  tier = Infinity,
): readonly S[] {
  let bytes = 0;
  const end = rows.findIndex((row, at) => {
    if (at < from) return false;
    bytes += row.bytes;
    return bytes > bytesMax || busy.includes(row.id) || tierOf(row) > tier;
  });
  return rows.slice(from, end < 0 ? rows.length : end);
}

export function dueMerge<S extends SegmentRow>(
  rows: readonly S[],
  limits: MergeLimits = {},
): readonly S[] | undefined {
  for (const tier of [...new Set(rows.map(tierOf))].sort((a, b) => a - b)) {
    for (let from = 0; from < rows.length; ) {
      const run = mergeable(rows, from, limits, tier);
      if (run.length >= FAN_IN) return run;
      from += run.length + 1;
    }
  }
  return undefined;
}

/**
 * A run of segments that fills a merged segment. None has more than half of the bytes, so that a
 * large segment is not rewritten for a few small ones.
 */
export function dueFull<S extends SegmentRow>(rows: readonly S[]): readonly S[] | undefined {
  for (let from = 0; from < rows.length; from++) {
    const run = mergeable(rows, from, {});
    if (from + run.length === rows.length) return undefined;
    const bytes = run.reduce((sum, row) => sum + row.bytes, 0);
    if (run.length > 1 && run.every((row) => row.bytes <= bytes / 2)) return run;
  }
  return undefined;
}

export function dueRewrite<S extends SegmentRow>(
  rows: readonly S[],
  deletedIn: (row: S) => number,
): readonly S[] | undefined {
  const found = rows.find((row) => {
    const deleted = deletedIn(row);
    return deleted >= DELETED_MIN && deleted > row.docs * DELETED_PART_MAX;
  });
  return found && [found];
}

export type Merge = ReturnType<typeof startMerge>;

/** Most objects of a merge are short-lived: a small young generation halves the memory. */
const resourceLimits: ResourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Merges adjacent segments. `end` terminates the thread, and `merged` rejects. */
export function startMerge(path: string, rows: readonly SegmentRow[]) {
  const { worker, connection } = startBackgroundThread<MergeTask, Merged>(
    new URL("./merge-thread.ts", import.meta.url),
    "search merge",
    { progress() {} },
    resourceLimits,
  );
  const merged = connection.call("run", { path, range: rangeOf(rows) });
  // A later call awaits the promise and handles the rejection.
  merged.catch(() => {});
  return { segments: rows.map(({ id }) => id), merged, end: () => void worker.terminate() };
}

export const rangeOf = (rows: readonly SegmentRow[]): Range => [
  rows[0]?.first ?? 0,
  rows.at(-1)?.last ?? 0,
];
