/**
 * Port: the change log, the source of truth. Streams of records in one total order.
 *
 * A record is opaque here: bytes that record-codec.ts encodes and decodes. Every adapter passes
 * test/contract/change-log.contract.ts.
 */
import { CatalogError } from "../core/errors.ts";
import { type Position, type Revision, START } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";

/** Records to append to one stream, all or none. */
export interface Append {
  readonly stream: StreamName;
  /** Expected last revision of the stream (-1: the stream does not exist), or "any". */
  readonly expected: Revision | "any";
  /** At least one; each at most `recordBytesMax`. */
  readonly records: readonly Uint8Array[];
  /**
   * Idempotency key of this append (16 bytes). If the stream already has it, nothing is appended and
   * the first result is returned; `expected` is ignored.
   */
  readonly id?: Uint8Array | undefined;
}

export interface Appended {
  /** Position and revision of the last record of this append. */
  readonly position: Position;
  readonly revision: Revision;
  /** True if an earlier append had the same id. */
  readonly repeated: boolean;
}

export interface LogRecord {
  readonly position: Position;
  readonly stream: StreamName;
  readonly revision: Revision;
  readonly data: Uint8Array;
}

/**
 * The stream is not at the expected revision. Nothing of the call was appended, except the streams in
 * `appended`, which only adapters with `atomicAcrossStreams: false` set.
 */
export class WrongRevision extends Error {
  override readonly name = "WrongRevision";
  readonly stream: StreamName;
  readonly expected: Revision;
  readonly actual: Revision;
  readonly appended: ReadonlyMap<StreamName, Appended>;
  constructor(
    stream: StreamName,
    expected: Revision,
    actual: Revision,
    appended: ReadonlyMap<StreamName, Appended> = new Map(),
  ) {
    super(`stream "${stream}" is at revision ${actual}, expected ${expected}`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
    this.appended = appended;
  }
}

/** Result of scavenging. */
export interface Scavenged {
  /** Number of records that were not scavenged before. */
  readonly records: number;
  /** Bytes that were freed. */
  readonly bytes: number;
}

export interface ReadOptions {
  /**
   * Maximum number of records. A page has fewer at the end, or if the records are large, but at least
   * one while there are any.
   */
  readonly limit: number;
  readonly backward?: boolean | undefined;
}

export interface CheckOptions {
  /** Maximum age of an earlier check whose result is reused, in milliseconds; 0 when absent. */
  readonly maxAgeMs?: number | undefined;
}

export interface ChangeLog {
  /** Unique id of the log, which copies of its file keep; undefined if it has none. */
  readonly id?: string | undefined;

  /**
   * Appends to one or more streams. Resolves with one result per append, in order, when all are
   * durable; until then the caller must not change the records. Calls are appended in the order in
   * which they are made. With `orderAcrossStreams: false`, concurrent calls keep their order only
   * within a stream.
   * Rejects with WrongRevision, CatalogError too_large (a record over `recordBytesMax`) or
   * unavailable (closed, disk full, …). Then nothing of this call is in the log, except with
   * `atomicAcrossStreams: false`, where appends to other streams of the call may be: WrongRevision
   * lists them, and is only used if the result of each append is known. If a response of the store
   * was lost, the result is unknown: the error is `unavailable`, with a hint that says so.
   */
  append(appends: readonly Append[]): Promise<readonly Appended[]>;

  /** The result of the append with that id to that stream; undefined if there was none. */
  findAppend(stream: StreamName, id: Uint8Array): Promise<Appended | undefined>;

  /**
   * Records of the whole log after a position, in order of position; backward: before it, newest
   * first. Forward from "end" there are none. The position must be START or that of a record. If
   * positions have gaps (`gaplessPositions: false`), other positions may reject with `invalid`.
   */
  readAll(from: Position | "end", options: ReadOptions): Promise<readonly LogRecord[]>;

  /**
   * Records of one stream at or after a revision; backward: at or before it, newest first. Empty if
   * the stream does not exist.
   */
  readStream(
    stream: StreamName,
    from: Revision | "end",
    options: ReadOptions,
  ): Promise<readonly LogRecord[]>;

  /**
   * Rejects with `gone` if the stream was deleted for good: it is empty, and takes no appends. Absent if
   * the store has no such streams.
   */
  rejectGone?(stream: StreamName): Promise<void>;

  /**
   * The first records of several streams, at most `limit` of each, in the order of the names. Empty
   * for a stream that does not exist; undefined for streams that were not read because the result was
   * large enough, but never for the first one. Absent if it is no faster than readStream.
   */
  readBeginnings?(
    streams: readonly StreamName[],
    options: { readonly limit: number },
  ): Promise<readonly (readonly LogRecord[] | undefined)[]>;

  /**
   * Names of streams with a prefix, after a name, in byte order, at most `limit`. Streams that are
   * created during the call may be missing.
   */
  listStreams(
    prefix: string,
    options: { readonly after?: StreamName | undefined; readonly limit: number },
  ): Promise<readonly StreamName[]>;

  /** Position of the last durable record; START when the log is empty. */
  head(): Promise<Position>;

  /**
   * Estimated number of records after a position up to another, without a request to the store.
   * Absent if positions number the records.
   */
  countBetween?(after: Position, upTo: Position): number;

  /**
   * Pages of records after a position, then new ones as they become durable, each once and in order.
   * Ends without an error when the signal aborts or the log closes.
   */
  tail(after: Position, signal: AbortSignal): AsyncIterable<readonly LogRecord[]>;

  /**
   * Replaces the data of existing records for good. Positions, revisions, order and ids of appends
   * stay. `records`, in the order of the log, have the positions and the new data. Resolves when the
   * change is durable; appends continue meanwhile. Idempotent; if it rejects, finished parts stay. A
   * store that can only remove records removes those at the beginning of their streams, and leaves
   * the others unchanged.
   */
  scavenge?(records: readonly LogRecord[]): Promise<Scavenged>;

  /**
   * Compares the indexes of the log with its tables; joins a running check. Resolves if they match.
   * Rejects with LogDamaged if they differ, and with CatalogError `unavailable` if they cannot be
   * read. Until the first check ends, a read that finds a stream empty also searches the table, and
   * rejects with LogDamaged `unreadable` if the stream has records there. Absent if the store checks
   * its indexes itself.
   */
  checkIndexes?(options?: CheckOptions): Promise<void>;

  /** State of the indexes, for readers of the log in other threads of the process. */
  readonly indexState?: SharedArrayBuffer | undefined;

  /**
   * The first revision of a stream that scavenging did not remove; 0 if it removed none. Absent if
   * scavenged records keep their revisions.
   */
  firstKept?(stream: StreamName): Promise<Revision>;

  /**
   * Number of lost connections to the store; the next connection may reach another log. Absent for a
   * log in a file.
   */
  disconnections?(): number;

  /** Why the log currently rejects appends; undefined or absent if no reason is known. */
  trouble?(): string | undefined;

  /**
   * The error if the store of the log was replaced since it was opened; this process still uses the
   * old one. Absent for a log in a server.
   */
  replaced?(): CatalogError | undefined;

  /** Waits for pending appends, then releases everything. Later calls reject with `unavailable`. */
  close(): Promise<void>;
}

/** Number of records after a position up to another; estimated if positions have gaps. */
export const recordsBetween = (
  { countBetween }: Pick<ChangeLog, "countBetween">,
  after: Position,
  upTo: Position,
): number => Math.max(0, countBetween?.(after, upTo) ?? upTo - after);

/** Number of records of the log; estimated if positions have gaps. */
export const countRecords = async (
  log: Pick<ChangeLog, "head" | "countBetween">,
): Promise<number> => recordsBetween(log, START, await log.head());

/** The stored data differs from the written data; a retry does not help. */
export class LogDamaged extends CatalogError {}

/** Maximum size of a record in bytes: an aspect value of 16,000,000 bytes and its envelope. */
export const recordBytesMax = 17_000_000;
