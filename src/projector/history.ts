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

/** Records of one stream that are held at a time. */
const PAGE_MAX = 500;
/** An adapter that ends a page early does so because of its bytes: not below so many. */
const PAGE_BYTES_MIN = 512 * 1024;
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

  const beginnings = await readBeginnings(log, [...new Set(urns.flatMap(streamsOf))], PAGE_MAX);

  const reading = (decoding: Decode): Histories => ({
    changes(urn, upTo, others = []) {
      const streams = [...new Set([...streamsOf(urn), ...others])];
      return merged({ log, decode: decoding, beginnings }, streams, upTo);
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
        return page !== undefined && isLastPage(page, PAGE_MAX);
      }),
  });
  return reading(decodingOnce(decode));
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
    const page = await log.readStream(stream, from, { limit: PAGE_MAX });
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

/** Whether nothing of the stream comes after a page of at most so many records. */
export function isLastPage(page: readonly LogRecord[], limit: number): boolean {
  if (page.length === limit) return false;
  let bytes = 0;
  for (const { data } of page) bytes += data.length;
  return bytes < PAGE_BYTES_MIN;
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

interface Source {
  readonly stream: StreamName;
  page: readonly LogRecord[];
  at: number;
}

async function* merged(
  parts: { readonly log: HistoryLog; readonly decode: Decode; readonly beginnings: Beginnings },
  streams: readonly StreamName[],
  upTo: Position,
): AsyncIterable<PlacedChange> {
  const { log, decode, beginnings } = parts;
  const read = (stream: StreamName, from: number) =>
    log.readStream(stream, revision(from), { limit: PAGE_MAX });
  let sources: Source[] = [];
  for (const stream of streams) {
    const page = beginnings.get(stream) ?? (await read(stream, 0));
    if (page.length > 0) sources.push({ stream, page, at: 0 });
  }
  for (;;) {
    let first: Source | undefined;
    for (const source of sources) {
      if (first === undefined || positionOf(source) < positionOf(first)) first = source;
    }
    const record = first?.page[first.at];
    if (first === undefined || record === undefined || record.position > upTo) return;
    const change = decode(record);
    if (change !== undefined) yield change;
    first.at++;
    if (first.at < first.page.length) continue;
    const ended = isLastPage(first.page, PAGE_MAX);
    first.page = ended ? [] : await read(first.stream, record.revision + 1);
    first.at = 0;
    if (first.page.length === 0) sources = sources.filter((source) => source !== first);
  }
}

const positionOf = ({ page, at }: Source): number => page[at]?.position ?? Infinity;
