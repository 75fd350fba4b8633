/**
 * Port: the change log, the only truth. Streams of records in one total order.
 *
 * A record is opaque here: bytes that record-codec.ts writes and reads. Every adapter passes
 * test/contract/change-log.contract.ts.
 */
import { CatalogError } from "../core/errors.ts";
import { type Position, type Revision, START } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";

/** Records that become one stream's next ones, all or none. */
export interface Append {
  readonly stream: StreamName;
  /** The stream's last revision as the writer knows it (-1: no such stream yet), or "any". */
  readonly expected: Revision | "any";
  /** At least one; each at most `recordBytesMax`. */
  readonly records: readonly Uint8Array[];
  /**
   * Names this append (16 bytes). The same id on the same stream again is answered as the first
   * time and appends nothing, whatever `expected` says.
   */
  readonly id?: Uint8Array | undefined;
}

export interface Appended {
  /** Position and revision of the last record of this append. */
  readonly position: Position;
  readonly revision: Revision;
  /** True when its id had been appended before. */
  readonly repeated: boolean;
}

export interface LogRecord {
  readonly position: Position;
  readonly stream: StreamName;
  readonly revision: Revision;
  readonly data: Uint8Array;
}

/**
 * An expectation that did not hold; nothing of the call was appended but what `appended` names, which
 * is there where the adapter declares `atomicAcrossStreams: false` alone.
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

/** What scavenging came to. */
export interface Scavenged {
  /** Those that had not been scavenged before. */
  readonly records: number;
  /** What they took more than what is there now. */
  readonly bytes: number;
}

export interface ReadOptions {
  /**
   * At most so many records are returned. Fewer come at the end, or where records are so large that
   * the adapter ends the page; never none while there are any.
   */
  readonly limit: number;
  readonly backward?: boolean | undefined;
}

export interface CheckOptions {
  /** Maximum age of an earlier check that counts, in milliseconds; 0 when absent. */
  readonly maxAgeMs?: number | undefined;
}

export interface ChangeLog {
  /** The log's own among all logs, however often it is copied; undefined where it has none. */
  readonly id?: string | undefined;

  /**
   * Appends to one or more streams. Resolves, one answer per append in order, when all are durable;
   * until then the records may not be changed. Calls are appended in the order in which they were
   * made; where the adapter declares `orderAcrossStreams: false`, that holds stream by stream for
   * calls that were made at the same time.
   * Rejects with WrongRevision (see there), CatalogError too_large (a record over
   * `recordBytesMax`) or unavailable (closed, disk full, …): then nothing of this call is in the
   * log, except where the adapter declares `atomicAcrossStreams: false`: there, appends to other
   * streams of the same call may be: WrongRevision then names them, and it is only said where what
   * became of each is known. Where an answer was lost on its way nobody knows, and the error is
   * `unavailable`, with a hint that says so.
   */
  append(appends: readonly Append[]): Promise<readonly Appended[]>;

  /** What the append of that id to that stream was answered; undefined if there was none. */
  findAppend(stream: StreamName, id: Uint8Array): Promise<Appended | undefined>;

  /**
   * Records of the whole log after a position in order of position; backward: before it, the
   * newest first. Forward from "end" there are none. The position is START or that of a record.
   * If positions have gaps (`gaplessPositions: false`), another position may reject `invalid`.
   */
  readAll(from: Position | "end", options: ReadOptions): Promise<readonly LogRecord[]>;

  /**
   * Records of one stream at or after a revision; backward: at or before it, the newest first.
   * None if the stream is unknown.
   */
  readStream(
    stream: StreamName,
    from: Revision | "end",
    options: ReadOptions,
  ): Promise<readonly LogRecord[]>;

  /**
   * The first records of some streams, at most `limit` of each, in the order of the names; none of
   * an unknown one. Undefined for streams that were not read, because there was too much before
   * them: never for the first. Absent where it would save nothing beside readStream.
   */
  readBeginnings?(
    streams: readonly StreamName[],
    options: { readonly limit: number },
  ): Promise<readonly (readonly LogRecord[] | undefined)[]>;

  /**
   * Names of streams that begin with a prefix and come after a name, in byte order, at most
   * `limit`. A stream that comes to be meanwhile is among them or not.
   */
  listStreams(
    prefix: string,
    options: { readonly after?: StreamName | undefined; readonly limit: number },
  ): Promise<readonly StreamName[]>;

  /** Position of the last durable record; START when the log is empty. */
  head(): Promise<Position>;

  /**
   * About how many records lie after a position, up to another, by what is known without asking.
   * Absent where positions number the records.
   */
  countBetween?(after: Position, upTo: Position): number;

  /**
   * Pages of records after a position, then new ones as they become durable, without gap or
   * repeat, until the signal aborts or the log closes (then it ends without an error).
   */
  tail(after: Position, signal: AbortSignal): AsyncIterable<readonly LogRecord[]>;

  /**
   * Puts other data in the place of records that are there: what they said is gone for good.
   * Positions, revisions, order and ids of appends stay. `records`, in the order of the log, name
   * their place and what is to be there. Resolves when it is durable; appends go on meanwhile. What
   * was done is kept when it rejects, and doing it again comes to the same. A store that can only take
   * records away does that, with those that their stream begins with; the others stay as they are.
   */
  scavenge?(records: readonly LogRecord[]): Promise<Scavenged>;

  /**
   * Compares the indexes of the log with its tables; joins a check that is under way. Resolves when they match. Rejects
   * with LogDamaged when they differ, and with CatalogError `unavailable` when they cannot be read. Until a first check
   * has ended, a read that finds a stream empty looks in the table, and rejects with LogDamaged `unreadable` when
   * the stream has records there. Absent if the store checks its indexes itself.
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
   * Number of lost connections to the store: the next connection may lead to another log. Absent for a
   * log in a file.
   */
  disconnections?(): number;

  /** Why it takes no appends at present; undefined, or absent, while nothing is known against it. */
  trouble?(): string | undefined;

  /** Waits for appends that were begun, then releases everything. Later calls are `unavailable`. */
  close(): Promise<void>;
}

/** Records after a position up to another, as the log counts them; 0 where there are none. */
export const recordsBetween = (
  { countBetween }: Pick<ChangeLog, "countBetween">,
  after: Position,
  upTo: Position,
): number => Math.max(0, countBetween?.(after, upTo) ?? upTo - after);

/** About how many records the log has. */
export const countRecords = async (
  log: Pick<ChangeLog, "head" | "countBetween">,
): Promise<number> => recordsBetween(log, START, await log.head());

/** What the log holds is not what was written: to ask again is of no use. */
export class LogDamaged extends CatalogError {}

/** Largest record in bytes: an aspect value of 16,000,000 bytes and its envelope. */
export const recordBytesMax = 17_000_000;
