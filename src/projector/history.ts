/**
 * The history of an entity: the changes of its streams and of streams that affect it, in the order
 * of the log. It is read stream by stream, so that the cost depends on the entity, not on the log.
 */
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import { entityStream, parseStream, type StreamName, timeseriesStream } from "../core/stream.ts";
import { entityTypeOf } from "../core/urn.ts";
import type { ChangeLog, LogRecord } from "../log/change-log.ts";
import { isLastPage, mergeStreams, pageMax } from "../log/merged-streams.ts";
import type { Decode } from "./batch.ts";

export type HistoryLog = Pick<ChangeLog, "readStream" | "readBeginnings" | "listStreams">;

export interface Histories {
  /**
   * The entity's own changes and truncations, and those of some other streams, up to a position.
   */
  changes(urn: string, upTo: Position, others?: readonly StreamName[]): AsyncIterable<PlacedChange>;
  /** Histories that skip some records before decoding. */
  without(skips: (at: Position) => boolean): Histories;
  /** The given streams, without those of timeseries aspects that the log does not have. */
  existing(streams: readonly StreamName[]): readonly StreamName[];
  /** True if all streams of the entity were prefetched completely. */
  isReadAhead(urn: string): boolean;
}

/** Page size of the stream names. */
const NAMES_MAX = 1_000;

/**
 * Lists the timeseries aspects and truncations of the log once. Prefetches the first pages of the
 * streams of `urns` if the log can read them in one request. For short-lived use: later aspects are
 * missing.
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
      ...entityStreams(urn, [...aspects]),
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
    without: (skips) =>
      reading((record) => (skips(record.position) ? undefined : decoding(record))),
    existing: (streams) =>
      streams.filter((name) => {
        const of = parseStream(name);
        return of?.kind !== "timeseries" || aspects.has(of.aspect);
      }),
    isReadAhead: (urn) =>
      streamsOf(urn).every((stream) => {
        const page = beginnings.get(stream);
        return page !== undefined && isLastPage(page, pageMax);
      }),
  });
  return reading(memoizedDecode(decode));
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

/** The streams of an entity, if the log has events of these aspects. */
export const entityStreams = (urn: string, aspects: readonly string[]): readonly StreamName[] => [
  entityStream(urn),
  ...aspects.map((aspect) => timeseriesStream(urn, aspect)),
];

/** Prefetched first pages of streams. */
export type Beginnings = ReadonlyMap<StreamName, readonly LogRecord[]>;

/** Reads the first page of as many of the streams as one request returns. */
export async function readBeginnings(
  log: Pick<HistoryLog, "readBeginnings">,
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

/** Decodes each record once, because every view reads the prefetched records. */
function memoizedDecode(decode: Decode): Decode {
  const decoded = new WeakMap<LogRecord, PlacedChange | undefined>();
  return (record) => {
    if (!decoded.has(record)) decoded.set(record, decode(record));
    return decoded.get(record);
  };
}

/** The timeseries aspects that the log has; takes one listing per aspect. */
export async function timeseriesAspects(
  log: Pick<HistoryLog, "listStreams">,
): Promise<readonly string[]> {
  const aspects: string[] = [];
  let after: StreamName | undefined;
  for (;;) {
    const [name] = await log.listStreams("timeseries-", { after, limit: 1 });
    const of = name === undefined ? undefined : parseStream(name);
    if (name === undefined || of?.kind === "entity" || of?.kind === "event") return aspects;
    if (of !== undefined) aspects.push(of.aspect);
    // "." sorts directly after "-": continues after all streams of the aspect.
    after = of === undefined ? name : `timeseries-${of.aspect}.`;
  }
}
