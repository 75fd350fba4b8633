/**
 * The change log on EventStoreDB: a stream for each of ours, an event for each record, and the
 * order of $all as the log's own. A record's position is where the server put its event: a number
 * of bytes, so that positions grow with gaps. The server's own events are passed over.
 *
 * What differs from the embedded log: a call of several streams is one append for each, so that
 * some may be in the log when another is refused; appends of different streams, made at the same
 * time, may come in either order; what one append may carry is the server's setting. Positions of
 * truncated records stay unused; reads go on past them.
 */
import { randomUUID } from "node:crypto";
import { assert, CatalogError } from "../../core/errors.ts";
import {
  EMPTY_STREAM,
  type Position,
  position,
  type Revision,
  revision,
  START,
} from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import type { Logger } from "../../telemetry/logger.ts";
import {
  type Append,
  type Appended,
  type ChangeLog,
  type LogRecord,
  type ReadOptions,
  WrongRevision,
} from "../change-log.ts";
import { openStreamNames, type StreamNames } from "../sqlite/stream-names.ts";
import { type Draft, openAppendSession } from "./append-session.ts";
import { openConnection } from "./connection.ts";
import { appendTooLarge } from "./errors.ts";
import {
  eventIds,
  eventType,
  identityStream,
  identityType,
  idsBegin,
  isOfAppend,
  recordTypes,
  serverName,
  streamOf,
} from "./events.ts";
import { createLanes, type Passenger } from "./lanes.ts";
import { type Filter, type Page, type RawEvent, readAllPage, readStreamPage } from "./reads.ts";
import { createRecordCount } from "./record-count.ts";
import { scavengeStreams } from "./scavenging.ts";
import { followLog } from "./tail.ts";

export interface EventStoreChangeLogOptions {
  /** See address.ts. */
  readonly connection: string;
  /** Where names of streams are kept between starts; in memory when absent. */
  readonly namesFile?: string | undefined;
  /** Appends are `unavailable`, and a log that has no id gets none. */
  readonly readOnly?: boolean | undefined;
  /** What names of this log's streams begin with on the server; nothing when absent. */
  readonly prefix?: string | undefined;
  readonly logger?: Logger | undefined;
}

export interface EventStoreChangeLog extends ChangeLog {
  /**
   * Takes a stream's records before a revision away: from reads at once, from the disk when the
   * server is scavenged.
   */
  truncateBefore(stream: StreamName, before: number): Promise<void>;
}

/** Where it is not known what became of an append, nothing is said that would be decided on. */
function failureOf(
  failures: readonly unknown[],
  appended: ReadonlyMap<StreamName, Appended>,
): unknown {
  const doubt = failures.find((failure) => !(failure instanceof WrongRevision));
  const [lost] = failures;
  if (doubt !== undefined || !(lost instanceof WrongRevision)) return doubt;
  return new WrongRevision(lost.stream, lost.expected, lost.actual, appended);
}

const ID_BYTES = 16;
/** A page ends with the record that takes it past this. */
const PAGE_BYTES_MAX = 16 * 1024 * 1024;
const SEARCH_PAGE = 500;
const NAMES_PAGE = 2_000;
const CONNECT_MS_MAX = 5_000;
/** So many records are looked at, so often, to know how large they are. */
const COUNTED = 200;
const COUNT_MS = 5_000;

/** Throws CatalogError `invalid` for an address that is none, `unavailable` when nobody answers. */
export async function openEventStoreChangeLog(
  options: EventStoreChangeLogOptions,
): Promise<EventStoreChangeLog> {
  const { prefix = "", readOnly = false, logger } = options;
  const connection = openConnection(options.connection);
  const { hosts, appendBytesMax } = connection.address;
  const idName = serverName(prefix, identityStream);
  const filter: Filter = prefix === "" ? { types: recordTypes } : { streamsBegin: prefix };
  const lanes = createLanes();
  const stopping = new AbortController();
  let closed: Promise<void> | undefined;
  let names: StreamNames | undefined;
  let namesWork: Promise<unknown> = Promise.resolve();
  const count = createRecordCount();
  let countAgain = 0;
  /** The last position that is known to be one. */
  let known = 0;

  const session = openAppendSession({
    connection,
    logger,
    find: ({ name, eventIds: ids }, since) => findEvent(name, (id) => id === ids.at(-1), since),
    probe: () => readStreamPage(connection, idName, 0, { ...ONE, deadlineMs: CONNECT_MS_MAX }),
  });
  function checkOpen(): void {
    if (closed !== undefined) {
      throw new CatalogError("unavailable", `the log in eventstoredb at ${hosts} is closed`, {
        hint: "The service is stopping; try again when it is back",
      });
    }
  }

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

  /** The records of pages, until there is one, or the end. */
  async function firstRecords(
    read: (from: number | undefined) => Promise<Page>,
    wanted: (event: RawEvent) => boolean,
    limit: number,
  ): Promise<readonly LogRecord[]> {
    let from: number | undefined;
    for (;;) {
      const page = await connection.retrying(() => read(from), stopping.signal);
      const records: LogRecord[] = [];
      for (const event of page.events) {
        const record = wanted(event) && records.length < limit ? recordOf(event) : undefined;
        if (record !== undefined) records.push(record);
      }
      if (records.length > 0 || page.ended) return records;
      from = page.events.at(-1)?.position;
    }
  }

  function readForward(after: Position, { limit }: ReadOptions): Promise<readonly LogRecord[]> {
    // One more, because the event at the place itself is read with them.
    const page = { count: limit + 1, backward: false, bytesMax: PAGE_BYTES_MAX };
    return firstRecords(
      (from = after) => readAllPage(connection, from === 0 ? "start" : from, filter, page),
      (event) => event.position > after,
      limit,
    );
  }

  async function readBackward(
    before: Position | "end",
    limit: number,
  ): Promise<readonly LogRecord[]> {
    if (before === START) return [];
    // The server takes no place beyond its end.
    const beyond = before === "end" || (before > known && before > (await head()));
    const begin = beyond ? "end" : before;
    const page = { count: limit, backward: true, bytesMax: PAGE_BYTES_MAX };
    return firstRecords(
      (from = begin as number) => readAllPage(connection, from as number | "end", filter, page),
      (event) => before === "end" || event.position < before,
      limit,
    );
  }

  /** Now and then the records before it are looked at, too, for how many there are of them. */
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
    const read = (begin: number | "end"): Promise<Page> =>
      connection.retrying(() => readStreamPage(connection, name, begin, page), stopping.signal);
    let { events } = await read(from === "end" ? from : Math.max(from, 0));
    // Backward from beyond the end the server has nothing.
    if (events.length === 0 && backward && from !== "end") ({ events } = await read("end"));
    const within = (event: RawEvent): boolean =>
      from === "end" || (backward ? event.revision <= from : event.revision >= from);
    return events.flatMap((event) => (within(event) ? (recordOf(event) ?? []) : []));
  }

  async function lastRevision(stream: StreamName): Promise<Revision> {
    const [last] = await readStream(stream, "end", { limit: 1, backward: true });
    return last?.revision ?? EMPTY_STREAM;
  }

  /** The last event of a stream whose id fits, among those written since a time. */
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

  function findById(name: string, id: Uint8Array): Promise<Appended | undefined> {
    const begin = idsBegin(name, id);
    return findEvent(name, (eventId) => isOfAppend(eventId, begin), 0);
  }

  function draftOf({ stream, expected, records, id }: Append): Draft {
    assert(stream.isWellFormed(), "a stream's name is whole characters");
    assert(isExpectation(expected), `no revision: ${expected}`);
    assert(records.length > 0, "an append has records");
    assert(id === undefined || id.length === ID_BYTES, "an append's id has 16 bytes");
    const name = serverName(prefix, stream);
    const type = eventType(stream);
    // As the server counts it.
    const bytes = records.reduce((sum, each) => sum + each.length + 2 * type.length, 0);
    if (bytes > appendBytesMax) throw appendTooLarge(stream, bytes, appendBytesMax);
    const ids = eventIds(name, id, records.length);
    return { stream, name, expected, eventIds: ids, type, records, bytes };
  }

  function passengerOf({ id }: Append, draft: Draft): Passenger {
    const earlier = async (): Promise<Appended | undefined> => id && findById(draft.name, id);
    return {
      stream: draft.stream,
      expected: draft.expected,
      count: draft.records.length,
      alone: id !== undefined,
      earlier,
      actual: () => lastRevision(draft.stream),
      fly: id === undefined ? () => session.send(draft) : () => sendOnce(draft, earlier),
    };
  }

  async function sendOnce(
    draft: Draft,
    earlier: () => Promise<Appended | undefined>,
  ): Promise<Appended> {
    const before = await earlier();
    if (before !== undefined) return before;
    try {
      return await session.send(draft);
    } catch (error) {
      // Another node may have appended it in between.
      const found = error instanceof WrongRevision ? await earlier() : undefined;
      if (found === undefined) throw error;
      return found;
    }
  }

  async function appendAll(appends: readonly Append[]): Promise<readonly Appended[]> {
    // All are looked at before any is sent.
    const passengers = appends.map((append) => passengerOf(append, draftOf(append)));
    const outcomes = await Promise.allSettled(passengers.map(lanes.board));
    const appended: Appended[] = [];
    const byStream = new Map<StreamName, Appended>();
    const failures: unknown[] = [];
    for (const [n, outcome] of outcomes.entries()) {
      if (outcome.status === "rejected") {
        failures.push(outcome.reason);
        continue;
      }
      known = Math.max(known, outcome.value.position);
      appended.push(outcome.value);
      byStream.set(appends[n]?.stream ?? "", outcome.value);
    }
    if (failures.length > 0) throw failureOf(failures, byStream);
    return appended;
  }

  /** One at a time: each begins where the one before ended. */
  function withNames<T>(work: (kept: StreamNames) => T): Promise<T> {
    const running = namesWork.then(async () => {
      checkOpen();
      names ??= openStreamNames(options.namesFile, id);
      for (;;) {
        const page = await readForward(names.position(), { limit: NAMES_PAGE });
        const last = page.at(-1);
        if (last === undefined) return work(names);
        names.add(new Set(page.map((record) => record.stream)), last.position);
      }
    });
    namesWork = running.catch(() => undefined);
    return running;
  }

  async function truncateBefore(stream: StreamName, before: number): Promise<void> {
    checkOpen();
    const name = `$$${serverName(prefix, stream)}`;
    const last = await connection.retrying(() => readStreamPage(connection, name, "end", NEWEST));
    const held = last.events[0]?.data;
    const metadata = held === undefined ? {} : JSON.parse(Buffer.from(held).toString());
    const text = Buffer.from(JSON.stringify({ ...metadata, $tb: before }));
    await session.send({
      stream: name,
      name,
      expected: revision(last.events[0]?.revision ?? EMPTY_STREAM),
      eventIds: [randomUUID()],
      type: "$metadata",
      json: true,
      records: [text],
      bytes: text.length,
    });
  }

  async function closeAll(): Promise<void> {
    await lanes.idle();
    stopping.abort();
    session.close();
    await namesWork;
    names?.close();
    await connection.close();
  }

  const id = await identity().catch(async (error) => {
    session.close();
    await connection.close();
    throw error;
  });

  async function identity(): Promise<string | undefined> {
    const first = async (): Promise<string | undefined> => {
      const page = await connection.retrying(() =>
        readStreamPage(connection, idName, 0, { ...ONE, deadlineMs: CONNECT_MS_MAX }),
      );
      const event = page.events.find(({ type }) => type === identityType);
      return event && idIn(event.data);
    };
    const present = await first();
    if (present !== undefined || readOnly) return present;
    const given = Buffer.from(JSON.stringify({ id: randomUUID() }));
    try {
      await session.send({
        stream: identityStream,
        name: idName,
        expected: EMPTY_STREAM,
        eventIds: [randomUUID()],
        type: identityType,
        json: true,
        records: [given],
        bytes: given.length,
      });
    } catch (error) {
      // Another node was first.
      if (!(error instanceof WrongRevision)) throw error;
    }
    return first();
  }

  return {
    id,

    async append(appends) {
      checkOpen();
      if (readOnly) {
        throw new CatalogError(
          "unavailable",
          `the log in eventstoredb at ${hosts} is open for reading only`,
        );
      }
      return appends.length === 0 ? [] : appendAll(appends);
    },

    async findAppend(stream, appendId) {
      checkOpen();
      return findById(serverName(prefix, stream), appendId);
    },

    async readAll(from, readOptions) {
      checkOpen();
      checkPlace(from, readOptions.limit, 0);
      if (readOptions.backward) return readBackward(from, readOptions.limit);
      return from === "end" ? [] : readForward(from, readOptions);
    },

    async readStream(stream, from, readOptions) {
      checkOpen();
      checkPlace(from, readOptions.limit, EMPTY_STREAM);
      return readStream(stream, from, readOptions);
    },

    async listStreams(begin, { after, limit }) {
      checkOpen();
      return withNames((kept) => kept.list(begin, after ?? "", limit));
    },

    async head() {
      checkOpen();
      return head();
    },

    countBetween: count.between,

    async *tail(after, signal) {
      checkOpen();
      const until = AbortSignal.any([signal, stopping.signal]);
      yield* followLog(
        { connection, filter, recordOf, logger, readAll: readForward },
        after,
        until,
      );
    },

    trouble: () => session.trouble(),

    async scavenge(records) {
      checkOpen();
      const read = (stream: StreamName, limit: number) => readStream(stream, 0, { limit });
      return scavengeStreams(records, { read, truncateBefore });
    },

    truncateBefore,

    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}

const ONE = { count: 1, backward: false, bytesMax: PAGE_BYTES_MAX };
const NEWEST = { ...ONE, backward: true };

function idIn(data: Uint8Array): string | undefined {
  const { id } = JSON.parse(Buffer.from(data).toString()) as { id?: unknown };
  return typeof id === "string" ? id : undefined;
}

const isExpectation = (expected: Append["expected"]): boolean =>
  expected === "any" || (Number.isSafeInteger(expected) && expected >= EMPTY_STREAM);

function checkPlace(from: number | "end", limit: number, least: number): void {
  assert(from === "end" || (Number.isSafeInteger(from) && from >= least), `no place: ${from}`);
  assert(Number.isSafeInteger(limit) && limit > 0, `no limit: ${limit}`);
}
