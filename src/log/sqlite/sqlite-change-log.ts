/**
 * The change log in one SQLite file (schema.ts). A writer thread commits appends in groups; reads use
 * a connection of the calling thread.
 *
 * A log that is opened `readOnly`, in any thread or process, sees appends of others: a writer in the
 * same process notifies its tail; appends of other processes are found by polling.
 */
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { type Append, type ChangeLog, type LogRecord, recordBytesMax } from "../change-log.ts";
import { checkAppend } from "../check-arguments.ts";
import { watchIdentity } from "./file-identity.ts";
import { createIndexChecks } from "./indexes/index-check.ts";
import { createIndexState, type IndexState, REPAIR } from "./indexes/index-state.ts";
import { createLogReader } from "./log-reader.ts";
import { createWaker } from "./notify.ts";
import { checkWriteAheadLog, logId, openForReading } from "./schema.ts";
import { type AppenderOptions, startAppender } from "./writer/appender.ts";

export interface SqliteChangeLogOptions extends AppenderOptions {
  /** Created if it does not exist, unless `readOnly`; its directory must exist. */
  readonly file: string;
  /** Appends reject with `unavailable`. */
  readonly readOnly?: boolean | undefined;
  /** Interval at which a waiting tail polls for appends of other processes; 40 when absent. */
  readonly pollIntervalMs?: number | undefined;
  /** A page ends with the record that exceeds this size; 4 MiB when absent. */
  readonly pageBytesMax?: number | undefined;
  /** ChangeLog.indexState of the log that appends in this process; a new state when absent. */
  readonly indexState?: SharedArrayBuffer | undefined;
  /** Maximum size of a file that this thread checks, in bytes; 4 MiB when absent. */
  readonly directCheckBytesMax?: number | undefined;
}

/** Maximum size of an append in bytes; SQLite's own limit of a row is about seven times that. */
const appendBytesMax = 128 * 1024 * 1024;

const TAIL_PAGE = 1_000;

/**
 * Throws CatalogError `unavailable` if the file cannot be opened or was written by a later release,
 * and `invalid` if it is damaged or its permissions do not suffice.
 */
export async function openSqliteChangeLog(options: SqliteChangeLogOptions): Promise<ChangeLog> {
  const { file, readOnly = false, pollIntervalMs = 40, pageBytesMax = 4 * 1024 * 1024 } = options;
  const byte = readOnly ? undefined : checkWriteAheadLog(file);
  if (byte !== undefined) options.logger?.warn({ file, byte }, discarded);
  const database = openForReading(file, { create: !readOnly });
  const replaced = watchIdentity(file);
  const indexes = createIndexState(file, options.indexState);
  const checks = createIndexChecks(file, indexes, options.directCheckBytesMax);
  const reader = createLogReader(database, pageBytesMax, indexes);
  const waker = createWaker(file, reader.changed, pollIntervalMs);
  const appender = readOnly ? undefined : startAppender(file, indexes.shared, options);
  let closed: Promise<void> | undefined;

  function checkOpen(): void {
    if (closed !== undefined) {
      throw new CatalogError("unavailable", `log "${file}" is closed`, {
        hint: "The service is stopping; try again after its restart",
      });
    }
  }

  async function* pagesAfter(
    after: Position,
    signal: AbortSignal,
  ): AsyncIterable<readonly LogRecord[]> {
    waker.listen();
    let at = after;
    while (!signal.aborted && closed === undefined) {
      const page = reader.readAll(at, { limit: TAIL_PAGE });
      const last = page.at(-1);
      if (last === undefined) await waker.wait(signal);
      else {
        at = last.position;
        yield page;
      }
    }
  }

  async function closeAll(): Promise<void> {
    checks.close();
    waker.close();
    // Before the writer, which empties the write-ahead log (closeWriter).
    database.close();
    await appender?.close();
  }

  return {
    id: logId(database),

    async append(appends) {
      checkOpen();
      if (appender === undefined) {
        throw new CatalogError("unavailable", `log "${file}" is open for reading only`);
      }
      checkAppends(appends);
      const damage = indexes.damage();
      if (damage !== undefined) {
        throw new CatalogError("unavailable", `${damage}; appends are rejected`, { hint: REPAIR });
      }
      return appends.length === 0 ? [] : appender.append(appends);
    },

    async findAppend(stream, id) {
      checkOpen();
      return reader.findAppend(stream, id);
    },

    async readAll(from, readOptions) {
      checkOpen();
      return reader.readAll(from, readOptions);
    },

    async readStream(stream, from, readOptions) {
      checkOpen();
      return reader.readStream(stream, from, readOptions);
    },

    async readBeginnings(streams, readOptions) {
      checkOpen();
      return reader.readBeginnings(streams, readOptions.limit);
    },

    async listStreams(prefix, options) {
      checkOpen();
      return reader.listStreams(prefix, options);
    },

    async head() {
      checkOpen();
      return reader.head();
    },

    async *tail(after, signal) {
      checkOpen();
      yield* pagesAfter(after, signal);
    },

    async scavenge(records) {
      checkOpen();
      if (appender === undefined) {
        throw new CatalogError("unavailable", `log "${file}" is open for reading only`);
      }
      return appender.scavenge(records);
    },

    async checkIndexes(checkOptions) {
      checkOpen();
      await checks.check(checkOptions);
    },

    indexState: indexes.shared,

    trouble: () => replaced()?.text ?? appender?.trouble() ?? damageOf(indexes),

    replaced,

    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}

const discarded =
  "the last write in the write-ahead log is incomplete and discarded: the process ended during this write, or it is damaged";

/** The damage with its repair, for health checks. */
function damageOf({ damage }: Pick<IndexState, "damage">): string | undefined {
  const what = damage();
  return what === undefined ? undefined : `${what}. ${REPAIR}`;
}

function checkAppends(appends: readonly Append[]): void {
  for (const append of appends) {
    checkAppend(append);
    const { stream, records } = append;
    let bytes = 0;
    for (const { length } of records) {
      if (length > recordBytesMax) throw tooLarge(stream, "a record", length, recordBytesMax);
      bytes += length;
    }
    if (bytes > appendBytesMax) throw tooLarge(stream, "an append", bytes, appendBytesMax);
  }
}

const tooLarge = (stream: string, what: string, bytes: number, max: number): CatalogError =>
  new CatalogError(
    "too_large",
    `${what} to "${stream}" has ${bytes} bytes; at most ${max} are allowed`,
  );
