/**
 * The merge policy, and merges in another thread. Adjacent segments of about the same size
 * are merged, so that a view has few segments and each document is merged a few times.
 */
import type { ResourceLimits } from "node:worker_threads";
import type { Range } from "../segments/bytes.ts";
import type { SegmentRow } from "../segments/segment.ts";
import type { Merged, MergeMethods } from "./merge-thread.ts";
import { Thread } from "./thread.ts";

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

/** Adjacent segments that are due to be merged. */
export function dueMerge<S extends SegmentRow>(
  rows: readonly S[],
  { bytesMax = MERGED_BYTES_MAX, busy = [] }: MergeLimits = {},
): readonly S[] | undefined {
  const tiers = rows.map((row) => (busy.includes(row.id) ? Infinity : tierOf(row)));
  for (const tier of [...new Set(tiers)].sort((a, b) => a - b)) {
    for (let from = 0; from < rows.length && tier < Infinity; ) {
      let to = from;
      let bytes = 0;
      while (to < rows.length && (tiers[to] as number) <= tier) {
        bytes += (rows[to] as S).bytes;
        if (bytes > bytesMax) break;
        to++;
      }
      if (to - from >= FAN_IN) return rows.slice(from, to);
      from = to + 1;
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
    let [to, bytes, largest] = [from, 0, 0];
    for (; to < rows.length; to++) {
      const { bytes: own } = rows[to] as S;
      if (bytes + own > MERGED_BYTES_MAX) break;
      bytes += own;
      largest = Math.max(largest, own);
    }
    if (to < rows.length && bytes > 0 && largest <= bytes / 2) return rows.slice(from, to);
  }
  return undefined;
}

/** A segment of which many documents are deleted. */
export const dueRewrite = <S extends SegmentRow>(
  rows: readonly S[],
  deletedIn: (row: S) => number,
): S | undefined =>
  rows.find((row) => {
    const deleted = deletedIn(row);
    return deleted >= DELETED_MIN && deleted > row.docs * DELETED_PART_MAX;
  });

/** A merge that runs in a thread. */
export interface Merge {
  /** The ids of the segments. */
  readonly segments: readonly number[];
  readonly merged: Promise<Merged>;
  /** Ends the thread: `merged` fails. */
  end(): void;
}

/** A merge makes much garbage; a small young generation halves the memory of the thread. */
const resourceLimits: ResourceLimits = { maxYoungGenerationSizeMb: 12 };

/** Merges adjacent segments. `path`: the file of the view. */
export function startMerge(path: string, rows: readonly SegmentRow[]): Merge {
  const thread = new Thread<MergeMethods>(new URL("./merge-thread.ts", import.meta.url), {
    ...{ workerData: path, name: "search merge", resourceLimits },
    onEnd: end,
  });
  function end(): void {
    void thread.end(new Error("the merge thread of the search view ended"));
  }
  const merged = thread.call("merge", rangeOf(rows)).finally(end);
  // A later call takes the result, also a failure.
  merged.catch(() => {});
  return { segments: rows.map(({ id }) => id), merged, end };
}

/** The ids of the documents of adjacent segments. */
export const rangeOf = (rows: readonly SegmentRow[]): Range => [
  rows[0]?.first ?? 0,
  rows.at(-1)?.last ?? 0,
];
