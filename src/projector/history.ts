/**
 * All that the log says of one entity: the changes of its streams and of those that bear on them,
 * in the order of the log. Read stream by stream, so that it costs what the entity has, not what
 * the log has.
 */
import type { PlacedChange } from "../core/change.ts";
import { type Position, revision } from "../core/position.ts";
import { entityStream, parseStream, type StreamName, timeseriesStream } from "../core/stream.ts";
import { entityTypeOf } from "../core/urn.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import { isLastPage, mergeStreams, pageMax } from "../log/merged-streams.ts";
import type { Decode } from "./batch.ts";

export type HistoryLog = Pick<ChangeLog, "readStream" | "readBeginnings" | "listStreams">;

/** Of entities. */
export interface Histories {
  /** The entity's own changes and truncations, and those of some other streams, up to a position. */
  changes(urn: string, upTo: Position, others?: readonly StreamName[]): AsyncIterable<PlacedChange>;
  /** The same without some records, which are not even decoded. */
  without(passes: (at: Position) => boolean): Histories;
  /** Streams of these that there may be. */
  existing(streams: readonly StreamName[]): readonly StreamName[];
  /** Whether all of the entity's own has been read already. */
  isAtHand(urn: string): boolean;
}

/** Names of one page of streams. */
const NAMES_MAX = 1_000;

/**
 * Looks once which timeseries aspects and truncations the log has, and reads what the streams of some
 * entities begin with, where that can be had in one go: for a short use.
 */
export async function openHistories(
  log: HistoryLog,
  decode: Decode,
  urns: readonly string[] = [],
): Promise<Histories> {
  const aspects = new Set(await timeseriesAspects(log));
  const truncations = await log.listStreams("truncation-", { limit: NAMES_MAX });

  function streamsOf(urn: string): readonly StreamName[] {
    const type = entityTypeOf(urn);
    return [
      ...ownStreams(urn, [...aspects]),
      ...truncations.filter((name) => {
        const of = parseStream(name);
        return of?.kind === "truncation" && of.entityType === type;
      }),
    ];
  }

  const beginnings = await readBeginnings(log, [...new Set(urns.flatMap(streamsOf))], pageMax);

  const reading = (decoding: Decode): Histories => ({
    changes(urn, upTo, others = []) {
      const streams = [...new Set([...streamsOf(urn), ...others])];
      return changesOf(mergeStreams(log, streams, { upTo, beginnings }), decoding);
    },
    without: (passes) =>
      reading((record) => (passes(record.position) ? undefined : decoding(record))),
    existing: (streams) =>
      streams.filter((name) => {
        const of = parseStream(name);
        return of?.kind !== "timeseries" || aspects.has(of.aspect);
      }),
    isAtHand: (urn) =>
      streamsOf(urn).every((stream) => {
        const page = beginnings.get(stream);
        return page !== undefined && isLastPage(page, pageMax);
      }),
  });
  return reading(decodingOnce(decode));
}

async function* changesOf(
  records: AsyncIterable<LogRecord>,
  decode: Decode,
): AsyncIterable<PlacedChange> {
  for await (const record of records) {
    const change = decode(record);
    if (change !== undefined) yield change;
  }
}

/** The streams that an entity may have of its own, where the log has events of these aspects. */
export const ownStreams = (urn: string, aspects: readonly string[]): readonly StreamName[] => [
  entityStream(urn),
  ...aspects.map((aspect) => timeseriesStream(urn, aspect)),
];

/** Records of one stream, from the first one on. */
export async function* recordsOf(
  log: Pick<HistoryLog, "readStream">,
  stream: StreamName,
): AsyncIterable<LogRecord> {
  for (let from = revision(0); ; ) {
    const page = await log.readStream(stream, from, { limit: pageMax });
    const last = page.at(-1);
    if (last === undefined) return;
    yield* page;
    from = revision(last.revision + 1);
  }
}

/** What streams begin with, read ahead for many entities at once. */
export type Beginnings = ReadonlyMap<StreamName, readonly LogRecord[]>;

/** Of as many of the streams as can be read in one go. */
export async function readBeginnings(
  log: HistoryLog,
  streams: readonly StreamName[],
  limit: number,
): Promise<Beginnings> {
  const pages = (streams.length > 0 && (await log.readBeginnings?.(streams, { limit }))) || [];
  const found = new Map<StreamName, readonly LogRecord[]>();
  for (const [n, stream] of streams.entries()) {
    const page = pages[n];
    if (page !== undefined) found.set(stream, page);
  }
  return found;
}

/** What was read ahead is asked for once for each view. */
function decodingOnce(decode: Decode): Decode {
  const known = new WeakMap<LogRecord, PlacedChange | undefined>();
  return (record) => {
    if (!known.has(record)) known.set(record, decode(record));
    return known.get(record);
  };
}

/** From one aspect's streams to the next one's: as many looks as there are aspects. */
export async function timeseriesAspects(
  log: Pick<HistoryLog, "listStreams">,
): Promise<readonly string[]> {
  const aspects: string[] = [];
  let after: StreamName | undefined;
  for (;;) {
    const [name] = await log.listStreams("timeseries-", { after, limit: 1 });
    const of = name === undefined ? undefined : parseStream(name);
    if (name === undefined || of?.kind === "entity") return aspects;
    if (of !== undefined) aspects.push(of.aspect);
    // "." follows on "-": the first name after all those of the aspect.
    after = of === undefined ? name : `timeseries-${of.aspect}.`;
  }
}
