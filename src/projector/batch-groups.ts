/** Groups views into batches, and limits the batches. */
import type { Position } from "../core/position.ts";
import { minOf } from "../lib/lists.ts";
import { type ChangeLog, type LogRecord, recordsBetween } from "../log/change-log.ts";
import type { View } from "./sink.ts";

/** Maximum record data of a batch, for logs that do not limit the bytes of a page. */
const BATCH_BYTES_MAX = 32 * 1024 * 1024;

interface AtPosition {
  readonly position: Position;
}

interface ViewAtPosition extends AtPosition {
  readonly view: View;
}

/** Groups views by position, the highest position first. */
export function groupsOf<F extends AtPosition>(
  viewStates: readonly F[],
): readonly (readonly F[])[] {
  const groups = Map.groupBy(viewStates, ({ position }) => position);
  return [...groups.entries()].sort(([a], [b]) => b - a).map(([, group]) => group);
}

/** True if a group is at most `records` records behind another. */
export function isBehindAtMost(
  log: Pick<ChangeLog, "countBetween">,
  records: number,
  ahead: readonly AtPosition[],
  behind: readonly AtPosition[] | undefined,
): boolean {
  const from = behind?.[0]?.position;
  const to = ahead[0]?.position;
  return from !== undefined && to !== undefined && recordsBetween(log, from, to) <= records;
}

/**
 * The end of a group's batch: the position of the group ahead, or of a source view if that is
 * lower.
 */
export function batchEnd(
  group: readonly ViewAtPosition[],
  ahead: Position | undefined,
  all: readonly ViewAtPosition[],
): Position | undefined {
  const sources = group.flatMap(({ view }) => view.builtFrom ?? []);
  const bounds = all
    .filter(({ view }) => sources.includes(view.name) && view.shared === undefined)
    .map(({ position }) => position);
  if (ahead !== undefined) bounds.push(ahead);
  return bounds.length === 0 ? undefined : (minOf(bounds) as Position);
}

/** Truncates a page at `end` and at `BATCH_BYTES_MAX`; keeps at least one record. */
export function limitBatch(
  page: readonly LogRecord[],
  ahead: Position | undefined,
): readonly LogRecord[] {
  let bytes = 0;
  const end = page.findIndex(({ position, data }, index) => {
    bytes += data.length;
    return index > 0 && (bytes > BATCH_BYTES_MAX || (ahead !== undefined && position > ahead));
  });
  return end < 0 ? page : page.slice(0, end);
}

export function partition<T>(all: readonly T[], test: (one: T) => boolean): readonly [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}
