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
import { isLastPage } from "../../../log/merged-streams.ts";
import type { Decode } from "../../batch.ts";
import { type Beginnings, type HistoryLog, readBeginnings } from "../../history.ts";
import type { FoldedView } from "../view-rows.ts";
import { decodedOrNothing, type SharedStreams } from "./shared-streams.ts";

/** Maximum records of one stream in memory. */
const PAGE_MAX = 1_000;

interface Parts {
  readonly log: HistoryLog;
  readonly decode: Decode;
  readonly views: readonly FoldedView[];
  readonly shared: SharedStreams;
}

interface Source {
  readonly stream: StreamName;
  readonly page: readonly LogRecord[];
  readonly whole: boolean;
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
  const { shared } = parts;
  const truncations = shared.truncationsOf(entityTypeOf(urn));
  const sources: Source[] = [];
  for (const stream of streams) {
    const firstReads = beginnings.get(stream);
    const source =
      firstReads === undefined ? await readPage(parts, stream, 0) : sourceOf(stream, firstReads);
    if (source.page.length > 0) sources.push(source);
  }
  if (sources.some(({ whole }) => !whole)) return merged(sources, truncations, parts);
  const changes = sources.flatMap(({ page }) => decodedPage(parts, page));
  const extra = [...truncations, ...forgetsAffecting(urn, changes, parts)];
  if (sources.length < 2 && extra.length === 0) return changes;
  appendAll(changes, extra);
  return changes.sort((a, b) => a.position - b.position);
}

async function readPage({ log }: Parts, stream: StreamName, from: number): Promise<Source> {
  return sourceOf(stream, await log.readStream(stream, revision(from), { limit: PAGE_MAX }));
}

const sourceOf = (stream: StreamName, page: readonly LogRecord[]): Source => ({
  stream,
  page,
  whole: isLastPage(page, PAGE_MAX),
});

function decodedPage({ decode }: Parts, page: readonly LogRecord[]): PlacedChange[] {
  const changes: PlacedChange[] = [];
  for (const record of page) {
    const change = decodedOrNothing(decode, record);
    if (change !== undefined) changes.push(change);
  }
  return changes;
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

/** Long streams: a first pass finds the requests to forget. */
async function* merged(
  sources: readonly Source[],
  truncations: readonly PlacedChange[],
  parts: Parts,
): AsyncIterable<PlacedChange> {
  const forgets = new Map<PlacedChange, PlacedChange>();
  if (parts.shared.forgets) {
    for (const source of sources) {
      for await (const change of changesOf(source, parts)) {
        for (const one of forgetsAffecting(change.urn, [change], parts)) forgets.set(one, one);
      }
    }
  }
  const extra = [...truncations, ...forgets.keys()].sort((a, b) => a.position - b.position);
  const heads: { next: PlacedChange | undefined; rest: AsyncIterator<PlacedChange> }[] = [];
  for (const changes of [...sources.map((one) => changesOf(one, parts)), iterate(extra)]) {
    const rest = changes[Symbol.asyncIterator]();
    heads.push({ next: (await rest.next()).value, rest });
  }
  for (;;) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (positionOf(head.next) < positionOf(first?.next)) first = head;
    }
    if (first?.next === undefined) return;
    yield first.next;
    first.next = (await first.rest.next()).value;
  }
}

const positionOf = (change: PlacedChange | undefined): number =>
  change?.position ?? Number.POSITIVE_INFINITY;

async function* changesOf(source: Source, parts: Parts): AsyncGenerator<PlacedChange, undefined> {
  let { page, whole } = source;
  let from = 0;
  for (;;) {
    yield* decodedPage(parts, page);
    from += page.length;
    if (whole) return undefined;
    ({ page, whole } = await readPage(parts, source.stream, from));
    if (page.length === 0) return undefined;
  }
}

async function* iterate(changes: readonly PlacedChange[]): AsyncGenerator<PlacedChange, undefined> {
  yield* changes;
  return undefined;
}
