/** Reads the records of the log backwards, page after page, until some of them match. */
import {
  type Change,
  type ChangesFilter,
  readAllChanges,
  readChangesBefore,
} from "../../api/changes.ts";
import { logPosition } from "../../api/metrics.ts";
import { matchesUser } from "./log-filter.ts";

export interface LogRequest {
  readonly filter: ChangesFilter;
  /** Part of the user's urn; empty for all. */
  readonly actor: string;
  /** Part of the run's id; empty for all. */
  readonly run: string;
  /** A key of `periods`; empty for all times. */
  readonly since: string;
}

interface OlderRecords {
  /** Newest first. */
  readonly changes: readonly Change[];
  /** Earlier records are before this position. */
  readonly position: number;
  readonly end: boolean;
  /** Head of the log before the read. */
  readonly head: number;
}

const hourMs = 3_600_000;

/** The values of `since`, with their labels and lengths. */
export const periods: ReadonlyMap<string, { readonly label: string; readonly ms: number }> =
  new Map([
    ["hour", { label: "Last hour", ms: hourMs }],
    ["day", { label: "Last 24 hours", ms: 24 * hourMs }],
    ["week", { label: "Last 7 days", ms: 7 * 24 * hourMs }],
    ["month", { label: "Last 30 days", ms: 30 * 24 * hourMs }],
  ]);

/** A read ends with so many matching records, or after so many pages. */
const enough = 100;
const pagesMax = 20;
/** Records of a page; the service has no filters for users and runs, so more are read to find them. */
const pageSize = 200;
const filteredPageSize = 1_000;
/** Records of one entity, which are read at once. */
const ofEntityMax = 5_000;

/** Matching records before a position; the latest ones without a position. */
export async function readOlder(
  { filter, actor, run, since }: LogRequest,
  before: number | undefined,
  signal: AbortSignal,
): Promise<OlderRecords> {
  const head = await logPosition(signal);
  const period = periods.get(since);
  const from = period === undefined ? 0 : Date.now() - period.ms;
  const matches = (change: Change): boolean =>
    (change.created?.time ?? 0) >= from && matchesUser(change, actor, run);
  const answer = (changes: readonly Change[], position: number, end: boolean): OlderRecords => ({
    changes: changes.filter(matches),
    position,
    end,
    head: Math.max(head, changes[0]?.position ?? 0),
  });
  if (filter.urn !== undefined) {
    const all = await readAllChanges(filter, ofEntityMax, signal);
    return answer(all.toReversed(), 0, true);
  }
  const limit = actor === "" && run === "" ? pageSize : filteredPageSize;
  const read: Change[] = [];
  let position = before;
  for (let n = 1; ; n++) {
    const page = await readChangesBefore(filter, position, limit, signal);
    read.push(...page.changes);
    position = page.position;
    const oldest = page.changes.at(-1)?.created?.time ?? from;
    const end = page.end || oldest < from;
    if (end || n === pagesMax || read.filter(matches).length >= enough) {
      return answer(read, position, end);
    }
  }
}
