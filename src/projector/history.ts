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

export interface Histories {
  /** The entity's own changes and truncations, and those of some other streams, up to a position. */
  changes(urn: string, upTo: Position, others?: readonly StreamName[]): AsyncIterable<PlacedChange>;
  /** The same without some records, which are not even decoded. */
  without(passes: (at: Position) => boolean): Histories;
  /** Streams of these that there may be. */
  existing(streams: readonly StreamName[]): readonly StreamName[];
}

/** Records of one stream that are held at a time. */
const PAGE_MAX = 500;
/** Names of one page of streams. */
const NAMES_MAX = 1_000;

/** Looks once which timeseries aspects and truncations the log has: for a short use. */
export async function openHistories(log: HistoryLog, decode: Decode): Promise<Histories> {
  const aspects = new Set(await timeseriesAspects(log));
  const truncations = await log.listStreams("truncation-", { limit: NAMES_MAX });

  function streamsOf(urn: string): readonly StreamName[] {
    const type = entityTypeOf(urn);
    return [
      entityStream(urn),
      ...[...aspects].map((aspect) => timeseriesStream(urn, aspect)),
      ...truncations.filter((name) => {
        const of = parseStream(name);
        return of?.kind === "truncation" && of.entityType === type;
      }),
    ];
  }

  const reading = (decoding: Decode): Histories => ({
    changes: (urn, upTo, others = []) =>
      merged(log, decoding, [...new Set([...streamsOf(urn), ...others])], upTo),
    without: (passes) =>
      reading((record) => (passes(record.position) ? undefined : decoding(record))),
    existing: (streams) =>
      streams.filter((name) => {
        const of = parseStream(name);
        return of?.kind !== "timeseries" || aspects.has(of.aspect);
      }),
  });
  return reading(decode);
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
  log: HistoryLog,
  decode: Decode,
  streams: readonly StreamName[],
  upTo: Position,
): AsyncIterable<PlacedChange> {
  const read = (stream: StreamName, from: number) =>
    log.readStream(stream, revision(from), { limit: PAGE_MAX });
  let sources: Source[] = [];
  for (const stream of streams) {
    const page = await read(stream, 0);
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
    first.page = await read(first.stream, record.revision + 1);
    first.at = 0;
    if (first.page.length === 0) sources = sources.filter((source) => source !== first);
  }
}

const positionOf = ({ page, at }: Source): number => page[at]?.position ?? Infinity;
