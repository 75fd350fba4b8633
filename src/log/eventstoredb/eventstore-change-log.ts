/**
 * The change log on EventStoreDB: each stream is a stream on the server, each record is an event, and
 * $all gives the order of the log. The position of a record is the commit position of its event, a
 * number of bytes, so positions have gaps. The server's own events are skipped.
 *
 * Differences from the embedded log: a call with several streams is one append for each, so some may
 * succeed when another is rejected. Concurrent appends to different streams have no defined order.
 * The server's setting limits the size of an append. Positions of truncated records stay unused;
 * reads continue after them.
 */
import { randomUUID } from "node:crypto";
import { CatalogError } from "../../core/errors.ts";
import { EMPTY_STREAM, revision } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { type ChangeLog, type LogRecord, type Scavenged, WrongRevision } from "../change-log.ts";
import { checkRead } from "../check-arguments.ts";
import { openStreamNames, type StreamNames } from "../sqlite/stream-names.ts";
import { type AppendSession, openAppendSession } from "./append-session.ts";
import { createAppender } from "./appender.ts";
import { type Connection, openConnection } from "./connection.ts";
import { streamDeleted } from "./errors.ts";
import { identityStream, identityType, serverName } from "./events.ts";
import { createLogReader } from "./log-reader.ts";
import { isTombstoned, ONE, type Page, readStreamPage } from "./reads.ts";
import { followLog } from "./tail.ts";

export interface EventStoreChangeLogOptions {
  /** See connection-string.ts. */
  readonly connection: string;
  /** File that stores the names of streams; in memory when absent. */
  readonly namesFile?: string | undefined;
  /** Appends reject with `unavailable`, and a log without an id gets none. */
  readonly readOnly?: boolean | undefined;
  /** Prefix of this log's streams on the server; empty when absent. */
  readonly prefix?: string | undefined;
  readonly logger?: Logger | undefined;
}

export interface EventStoreChangeLog extends ChangeLog {
  /**
   * Removes a stream's records before a revision: from reads at once, from the disk when the server
   * is scavenged.
   */
  truncateBefore(stream: StreamName, before: number): Promise<void>;
}

const NAMES_PAGE = 2_000;

/** Throws CatalogError `invalid` for an invalid address, `unavailable` if no server answers. */
export async function openEventStoreChangeLog(
  options: EventStoreChangeLogOptions,
): Promise<EventStoreChangeLog> {
  const { prefix = "", readOnly = false, logger } = options;
  const connection = openConnection(options.connection);
  const { hosts, appendBytesMax } = connection.address;
  const stopping = new AbortController();
  let closed: Promise<void> | undefined;
  let names: StreamNames | undefined;
  const serially = createConcurrencyLimit(1);

  const reader = createLogReader(connection, prefix, stopping.signal);
  const session = openAppendSession({
    connection,
    logger,
    find: ({ name, eventIds: ids }, since) =>
      reader.findEvent(name, (each) => each === ids.at(-1), since),
    probe: () => readIdentity(connection, prefix),
  });
  const appender = createAppender({ session, reader, prefix, appendBytesMax });

  function checkOpen(): void {
    if (closed !== undefined) {
      throw new CatalogError("unavailable", `the log in eventstoredb at ${hosts} is closed`, {
        hint: "The service is stopping; try again after its restart",
      });
    }
  }

  function checkWritable(): void {
    if (!readOnly) return;
    throw new CatalogError(
      "unavailable",
      `the log in eventstoredb at ${hosts} is open for reading only`,
    );
  }

  /** Runs one task at a time: each continues where the previous one ended. */
  function withNames<T>(work: (kept: StreamNames) => T): Promise<T> {
    return serially(async () => {
      checkOpen();
      names ??= openStreamNames(options.namesFile, id);
      // Up to the head at present: while others write, a next page may never be empty.
      for (const head = await reader.head(); names.position() < head; ) {
        const page = await reader.readForward(names.position(), { limit: NAMES_PAGE });
        const last = page.at(-1);
        if (last === undefined) break;
        names.add(new Set(page.map((record) => record.stream)), last.position);
      }
      return work(names);
    });
  }

  /** Reads the metadata of a stream on the server. */
  async function metadataOf(stream: StreamName) {
    checkOpen();
    const name = `$$${serverName(prefix, stream)}`;
    const last = await connection.retrying(() => readStreamPage(connection, name, "end", NEWEST));
    const held = last.events[0]?.data;
    const settings: { readonly $tb?: unknown } =
      held === undefined ? {} : JSON.parse(Buffer.from(held).toString());
    return { name, last, settings };
  }

  async function truncateBefore(stream: StreamName, before: number): Promise<void> {
    const { name, last, settings } = await metadataOf(stream);
    const text = Buffer.from(JSON.stringify({ ...settings, $tb: before }));
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
    await appender.idle();
    stopping.abort();
    session.close();
    await serially(async () => names?.close());
    await connection.close();
  }

  const id = await logIdentity(connection, session, { prefix, readOnly }).catch(async (error) => {
    session.close();
    await connection.close();
    throw error;
  });

  return {
    id,

    // Returns the appender's own promise: append-queue.ts compares when it settles with later appends.
    append(appends) {
      try {
        checkOpen();
        checkWritable();
        return appends.length === 0 ? Promise.resolve([]) : appender.append(appends);
      } catch (error) {
        return Promise.reject(error);
      }
    },

    async findAppend(stream, appendId) {
      checkOpen();
      return reader.findAppend(stream, appendId);
    },

    async readAll(from, readOptions) {
      checkOpen();
      checkRead(from, readOptions.limit, 0);
      if (readOptions.backward) return reader.readBackward(from, readOptions.limit);
      return from === "end" ? [] : reader.readForward(from, readOptions);
    },

    async rejectGone(stream) {
      checkOpen();
      const name = serverName(prefix, stream);
      if (await connection.retrying(() => isTombstoned(connection, name))) {
        throw streamDeleted(stream, hosts);
      }
    },

    async readStream(stream, from, readOptions) {
      checkOpen();
      checkRead(from, readOptions.limit, EMPTY_STREAM);
      return reader.readStream(stream, from, readOptions);
    },

    async listStreams(begin, { after, limit }) {
      checkOpen();
      return withNames((kept) => kept.list(begin, after ?? "", limit));
    },

    async head() {
      checkOpen();
      return reader.head();
    },

    countBetween: reader.countBetween,

    async *tail(after, signal) {
      checkOpen();
      const until = AbortSignal.any([signal, stopping.signal]);
      const { filter, recordOf, readForward: readAll } = reader;
      yield* followLog({ connection, filter, recordOf, logger, readAll }, after, until);
    },

    disconnections: () => connection.disconnections(),

    trouble: () => session.trouble(),

    async scavenge(records) {
      checkOpen();
      const read = (stream: StreamName, limit: number) => reader.readStream(stream, 0, { limit });
      return scavengeStreams(records, { read, truncateBefore });
    },

    truncateBefore,

    async firstKept(stream) {
      const { $tb } = (await metadataOf(stream)).settings;
      return revision(Number.isSafeInteger($tb) ? Number($tb) : 0);
    },

    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}

const NEWEST = { ...ONE, backward: true };

const CONNECT_MS_MAX = 5_000;

/** `prefix`: prefix of the log's streams on the server. */
function readIdentity(connection: Connection, prefix: string): Promise<Page> {
  const options = { ...ONE, deadlineMs: CONNECT_MS_MAX };
  return readStreamPage(connection, serverName(prefix, identityStream), 0, options);
}

/**
 * Returns the log's id, which its first node writes to a separate stream on the server. Creates one if
 * the log has none, unless it is open for reading only.
 */
async function logIdentity(
  connection: Connection,
  session: Pick<AppendSession, "send">,
  { prefix, readOnly }: { readonly prefix: string; readonly readOnly: boolean },
): Promise<string | undefined> {
  const present = await first();
  if (present !== undefined || readOnly) return present;
  const given = Buffer.from(JSON.stringify({ id: randomUUID() }));
  try {
    await session.send({
      stream: identityStream,
      name: serverName(prefix, identityStream),
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

  async function first(): Promise<string | undefined> {
    const page = await connection.retrying(() => readIdentity(connection, prefix));
    const event = page.events.find(({ type }) => type === identityType);
    return event && idIn(event.data);
  }
}

function idIn(data: Uint8Array): string | undefined {
  const { id } = JSON.parse(Buffer.from(data).toString()) as { id?: unknown };
  return typeof id === "string" ? id : undefined;
}

interface Streams {
  /** The first records of a stream. */
  read(stream: StreamName, limit: number): Promise<readonly LogRecord[]>;
  truncateBefore(stream: StreamName, before: number): Promise<void>;
}

const NOTHING: Scavenged = { records: 0, bytes: 0 };

/**
 * Scavenges a store that cannot replace events: it hides events at the beginning of a stream with the
 * stream's truncate-before setting ($tb). The server frees the disk space when its operator starts a
 * scavenge. Events after one that must stay are not removed. The log no longer recognises the ids of
 * removed appends.
 */
async function scavengeStreams(
  records: readonly LogRecord[],
  streams: Streams,
): Promise<Scavenged> {
  let done = NOTHING;
  for (const [stream, gone] of Map.groupBy(records, (record) => record.stream)) {
    const { records, bytes } = await scavengeStream(stream, gone, streams);
    done = { records: done.records + records, bytes: done.bytes + bytes };
  }
  return done;
}

async function scavengeStream(
  stream: StreamName,
  gone: readonly LogRecord[],
  { read, truncateBefore }: Streams,
): Promise<Scavenged> {
  const revisions = new Set<number>(gone.map(({ revision }) => revision));
  const first = await read(stream, gone.length);
  const kept = first.findIndex(({ revision }) => !revisions.has(revision));
  const hidden = kept < 0 ? first : first.slice(0, kept);
  const last = hidden.at(-1);
  if (last === undefined) return NOTHING;
  await truncateBefore(stream, last.revision + 1);
  const bytes = hidden.reduce((sum, { data }) => sum + data.length, 0);
  return { records: hidden.length, bytes };
}
