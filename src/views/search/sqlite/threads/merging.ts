/**
 * The merge policy, and merges in another thread. Adjacent segments of about the same size
 * are merged, so that a view has few segments and each document is merged a few times.
 */
import type { ResourceLimits } from "node:worker_threads";
import { startBackgroundThread } from "../../../../projector/thread/background-thread.ts";
import type { Range } from "../segments/bytes.ts";
import type { SegmentRow } from "../segments/segment.ts";
import type { Merged, MergeTask } from "./merge-thread.ts";

/** So many adjacent segments of one tier are merged; a tier has so many times the size of the one below. */
const FAN_IN = 10;
const TIER_BYTES = 32 * 1024;
/** Segments are not merged beyond: a merge needs about ten times the memory. */
const MERGED_BYTES_MAX = 32 * 1024 * 1024;
/** A segment is rewritten when so many of its documents are deleted. */
const DELETED_PART_MAX = 0.5;
const DELETED_MIN = 1_000;

const tierOf = ({ bytes, docs }: SegmentRow): number =>
  Math.floor(Math.log(Math.max(docs, bytes / TIER_BYTES, 1)) / Math.log(FAN_IN));

interface MergeLimits {
  /** Of the merged segments together. */
  readonly bytesMax?: number | undefined;
  /** Segments that are being merged. */
  readonly busy?: readonly number[] | undefined;
}

/** Adjacent segments from an index on that fit into one and are of a tier at most. */
function fitting<S extends SegmentRow>(
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
      const run = fitting(rows, from, limits, tier);
      if (run.length >= FAN_IN) return run;
      from += run.length + 1;
    }
  }
  return undefined;
}

/**
 * Adjacent segments of which no more fit into one. None has more than half of the bytes, so that a
 * large segment is not written again for a few small ones.
 */
export function dueFull<S extends SegmentRow>(rows: readonly S[]): readonly S[] | undefined {
  for (let from = 0; from < rows.length; from++) {
    const run = fitting(rows, from, {});
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
  const worn = rows.find((row) => {
    const deleted = deletedIn(row);
    return deleted >= DELETED_MIN && deleted > row.docs * DELETED_PART_MAX;
  });
  return worn && [worn];
}

export type Merge = ReturnType<typeof startMerge>;

/** A merge makes much garbage; a small young generation halves the memory of the thread. */
const resourceLimits: ResourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Merges adjacent segments. `path`: the file of the view. `end` ends the thread: `merged` fails. */
export function startMerge(path: string, rows: readonly SegmentRow[]) {
  const { worker, connection } = startBackgroundThread<MergeTask, Merged>(
    new URL("./merge-thread.ts", import.meta.url),
    "search merge",
    { progress() {} },
    resourceLimits,
  );
  const merged = connection.call("run", { path, range: rangeOf(rows) });
  // A later call takes the result, also a failure.
  merged.catch(() => {});
  return { segments: rows.map(({ id }) => id), merged, end: () => void worker.terminate() };
}

export const rangeOf = (rows: readonly SegmentRow[]): Range => [
  rows[0]?.first ?? 0,
  rows.at(-1)?.last ?? 0,
];
