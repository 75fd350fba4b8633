/**
 * Reads all changes that affect an entity, in the order of the log. Most entities have a few short
 * streams, which one request reads; longer streams are read page by page.
 */
import type { PlacedChange } from "../../../core/change.ts";
import { revision } from "../../../core/position.ts";
import type { StreamName } from "../../../core/stream.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { appendAll } from "../../../lib/lists.ts";
import type { LogRecord } from "../../../log/change-log.ts";
import { readable } from "../../../log/codecs/try-decode.ts";
import { isLastPage, mergeStreams } from "../../../log/merged-streams.ts";
import type { Decode } from "../../batch.ts";
import { type Beginnings, type HistoryLog, readBeginnings } from "../../history.ts";
import type { FoldedView } from "../view-rows.ts";
import type { SharedStreams } from "./shared-streams.ts";

/** Maximum records of one stream in memory. */
const PAGE_MAX = 1_000;

interface Parts {
  readonly log: HistoryLog;
  readonly decode: Decode;
  readonly views: readonly FoldedView[];
  readonly shared: SharedStreams;
}

/** The first pages of as many streams as one read returns. */
export const beginningsOf = (
  log: HistoryLog,
  streams: readonly StreamName[],
): Promise<Beginnings> => readBeginnings(log, streams, PAGE_MAX);

export async function readHistory(
  urn: string,
  streams: readonly StreamName[],
  beginnings: Beginnings,
  parts: Parts,
): Promise<Iterable<PlacedChange> | AsyncIterable<PlacedChange>> {
  const { log, decode, shared } = parts;
  const truncations = shared.truncationsOf(entityTypeOf(urn));
  const pages: (readonly LogRecord[])[] = [];
  for (const stream of streams) {
    const page =
      beginnings.get(stream) ?? (await log.readStream(stream, revision(0), { limit: PAGE_MAX }));
    if (!isLastPage(page, PAGE_MAX)) {
      const records = () => mergeStreams(log, streams, { pageMax: PAGE_MAX, beginnings });
      return longHistory(records, truncations, parts);
    }
    if (page.length > 0) pages.push(page);
  }
  const changes: PlacedChange[] = [];
  for (const record of pages.flat()) {
    const change = readable(decode, record);
    if (change !== undefined) changes.push(change);
  }
  const extra = [...truncations, ...forgetsAffecting(urn, changes, parts)];
  if (pages.length < 2 && extra.length === 0) return changes;
  appendAll(changes, extra);
  return changes.sort((a, b) => a.position - b.position);
}

/** Requests to forget the edges of other entities that these changes mention. */
function forgetsAffecting(
  urn: string,
  changes: readonly PlacedChange[],
  { shared, views }: Parts,
): readonly PlacedChange[] {
  if (!shared.forgets) return [];
  const others = new Set<string>();
  for (const { mentions } of views) {
    if (mentions === undefined) continue;
    for (const change of changes) {
      for (const other of mentioned(mentions, change)) others.add(other);
    }
  }
  others.delete(urn);
  return [...others].flatMap((other) => shared.forgetsOf(other));
}

/** Mentions of a change; none if it cannot be projected, because it is parked then. */
function mentioned(
  mentions: (change: PlacedChange) => readonly string[],
  change: PlacedChange,
): readonly string[] {
  try {
    return mentions(change);
  } catch {
    return [];
  }
}

/** Long streams are read twice: the first pass finds the requests to forget. */
async function* longHistory(
  records: () => AsyncIterable<LogRecord>,
  truncations: readonly PlacedChange[],
  parts: Parts,
): AsyncIterable<PlacedChange> {
  const forgets = new Set<PlacedChange>();
  for await (const change of parts.shared.forgets ? changesIn(records(), parts) : []) {
    for (const one of forgetsAffecting(change.urn, [change], parts)) forgets.add(one);
  }
  const extra = [...truncations, ...forgets].sort((a, b) => a.position - b.position);
  for await (const change of changesIn(records(), parts)) {
    const later = extra.findIndex(({ position }) => position > change.position);
    yield* extra.splice(0, later < 0 ? extra.length : later);
    yield change;
  }
  yield* extra;
}

async function* changesIn(
  records: AsyncIterable<LogRecord>,
  { decode }: Parts,
): AsyncIterable<PlacedChange> {
  for await (const record of records) {
    const change = readable(decode, record);
    if (change !== undefined) yield change;
  }
}
