/** Reads records of the log from pages of events: in the order of $all, and by stream. */
import { assert } from "../../core/errors.ts";
import {
  EMPTY_STREAM,
  type Position,
  position,
  type Revision,
  revision,
  START,
} from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import type { Appended, LogRecord, ReadOptions } from "../change-log.ts";
import type { Connection } from "./connection.ts";
import { isInvalidPosition, noSuchPosition } from "./errors.ts";
import { idsBegin, isOfAppend, recordTypes, serverName, streamOf } from "./events.ts";
import {
  type Filter,
  PAGE_BYTES_MAX,
  type Page,
  type RawEvent,
  readAllPage,
  readStreamPage,
} from "./reads.ts";
import { createRecordCount, type RecordCount } from "./record-count.ts";

export interface LogReader {
  /** Selects events of $all. */
  readonly filter: Filter;
  /** Returns undefined for an event that is not a record of this log. */
  recordOf(event: RawEvent): LogRecord | undefined;
  readForward(after: Position, options: Pick<ReadOptions, "limit">): Promise<readonly LogRecord[]>;
  readBackward(before: Position | "end", limit: number): Promise<readonly LogRecord[]>;
  readStream(
    stream: StreamName,
    from: number | "end",
    options: ReadOptions,
  ): Promise<readonly LogRecord[]>;
  lastRevision(stream: StreamName): Promise<Revision>;
  head(): Promise<Position>;
  readonly countBetween: RecordCount["between"];
  /** The last event of a stream on the server with a matching id, written since a time. */
  findEvent(
    name: string,
    fits: (eventId: string) => boolean,
    since: number,
  ): Promise<Appended | undefined>;
  /** The result of the append with this id to the stream. */
  findAppend(stream: StreamName, id: Uint8Array): Promise<Appended | undefined>;
  /** Records that the server has sent a position. */
  note(position: Position): void;
}

const SEARCH_PAGE = 500;
/** A sample of so many records, taken at this interval, estimates their size. */
const COUNTED = 200;
const COUNT_MS = 5_000;

/** `prefix`: prefix of the log's streams on the server. */
export function createLogReader(
  connection: Connection,
  prefix: string,
  stopping: AbortSignal,
): LogReader {
  const filter: Filter = prefix === "" ? { types: recordTypes } : { streamsBegin: prefix };
  const count = createRecordCount();
  let countAgain = 0;
  /** The last position that the server has sent. */
  let known = 0;

  function recordOf(event: RawEvent): LogRecord | undefined {
    if (!recordTypes.includes(event.type) || !event.stream.startsWith(prefix)) return undefined;
    assert(Number.isSafeInteger(event.position), "positions are exact numbers");
    if (event.position > known) known = event.position;
    return {
      position: position(event.position),
      stream: streamOf(prefix, event.stream),
      revision: revision(event.revision),
      data: event.data,
    };
  }

  /** Throws `invalid` for a position between two records. */
  async function pageOfAll(
    from: number | "start" | "end",
    options: Parameters<typeof readAllPage>[3],
  ): Promise<Page> {
    const read = () => readAllPage(connection, from, filter, options);
    try {
      return await connection.retrying(read, stopping);
    } catch (error) {
      if (typeof from === "number" && isInvalidPosition(error)) throw noSuchPosition(from, error);
      throw error;
    }
  }

  /** Reads pages until one has records, or to the end. */
  async function firstRecords(
    read: (from: number | undefined) => Promise<Page>,
    wanted: (event: RawEvent) => boolean,
    limit: number,
  ): Promise<readonly LogRecord[]> {
    let from: number | undefined;
    for (;;) {
      const page = await read(from);
      const records: LogRecord[] = [];
      for (const event of page.events) {
        const record = wanted(event) && records.length < limit ? recordOf(event) : undefined;
        if (record !== undefined) records.push(record);
      }
      if (records.length > 0 || page.ended) return records;
      from = page.events.at(-1)?.position;
    }
  }

  function readForward(
    after: Position,
    { limit }: Pick<ReadOptions, "limit">,
  ): Promise<readonly LogRecord[]> {
    // One more, because the event at the position itself is read, too.
    const page = { count: limit + 1, backward: false, bytesMax: PAGE_BYTES_MAX };
    return firstRecords(
      (from = after) => pageOfAll(from === 0 ? "start" : from, page),
      (event) => event.position > after,
      limit,
    );
  }

  async function readBackward(
    before: Position | "end",
    limit: number,
  ): Promise<readonly LogRecord[]> {
    if (before === START) return [];
    // The server rejects a read backward from a position beyond its end.
    const beyond = before === "end" || (before > known && before > (await head()));
    const begin = beyond ? "end" : before;
    const page = { count: limit, backward: true, bytesMax: PAGE_BYTES_MAX };
    return firstRecords(
      (from = begin as number) => pageOfAll(from as number | "end", page),
      (event) => before === "end" || event.position < before,
      limit,
    );
  }

  /** Also samples the last records at intervals, to estimate their size. */
  async function head(): Promise<Position> {
    if (performance.now() >= countAgain) return headCounted();
    const [last] = await readBackward("end", 1);
    const at = last?.position ?? START;
    return count.isBlind(at) ? headCounted() : at;
  }

  async function headCounted(): Promise<Position> {
    countAgain = performance.now() + COUNT_MS;
    const last = await readBackward("end", COUNTED);
    count.note(
      last.map((record) => record.position),
      last.length < COUNTED,
    );
    return last[0]?.position ?? START;
  }

  async function readStream(
    stream: StreamName,
    from: number | "end",
    { limit, backward = false }: ReadOptions,
  ): Promise<readonly LogRecord[]> {
    if ((from === "end" && !backward) || (backward && from === EMPTY_STREAM)) return [];
    const name = serverName(prefix, stream);
    const page = { count: limit, backward, bytesMax: PAGE_BYTES_MAX };
    const begin = from === "end" ? from : Math.max(from, 0);
    const read = () => readStreamPage(connection, name, begin, page);
    const { events } = await connection.retrying(read, stopping);
    const within = (event: RawEvent): boolean =>
      from === "end" || (backward ? event.revision <= from : event.revision >= from);
    return events.flatMap((event) => (within(event) ? (recordOf(event) ?? []) : []));
  }

  async function lastRevision(stream: StreamName): Promise<Revision> {
    const [last] = await readStream(stream, "end", { limit: 1, backward: true });
    return last?.revision ?? EMPTY_STREAM;
  }

  async function findEvent(
    name: string,
    fits: (eventId: string) => boolean,
    since: number,
  ): Promise<Appended | undefined> {
    const page = { count: SEARCH_PAGE, backward: true, bytesMax: PAGE_BYTES_MAX };
    let from: number | "end" = "end";
    for (;;) {
      const begin: number | "end" = from;
      const { events, ended }: Page = await connection.retrying(() =>
        readStreamPage(connection, name, begin, page),
      );
      for (const event of events) {
        if (fits(event.id)) {
          return {
            position: position(event.position),
            revision: revision(event.revision),
            repeated: true,
          };
        }
        if (event.time < since) return undefined;
      }
      const last = events.at(-1);
      if (ended || last === undefined || last.revision === 0) return undefined;
      from = last.revision - 1;
    }
  }

  function findAppend(stream: StreamName, id: Uint8Array): Promise<Appended | undefined> {
    const name = serverName(prefix, stream);
    const begin = idsBegin(name, id);
    return findEvent(name, (eventId) => isOfAppend(eventId, begin), 0);
  }

  return {
    filter,
    recordOf,
    readForward,
    readBackward,
    readStream,
    lastRevision,
    head,
    countBetween: count.between,
    findEvent,
    findAppend,
    note(position) {
      if (position > known) known = position;
    },
  };
}
