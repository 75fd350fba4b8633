/**
 * The file of the embedded log: tables, format number, id and connections.
 *
 * One row of `log` is one append to one stream: `count` records; `position` and `revision` are those
 * of the first one. Positions have no gaps: that of the next row is this one's plus `count`. Streams
 * are numbers, because an index over long names would cost more than everything else. `crc` is the
 * row's checksum (checksum.ts); rows of the oldest releases have none.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CatalogError, messageOf } from "../../core/errors.ts";
import {
  inaccessibleFile,
  permissionHint,
  type Wanted,
} from "../../storage/sqlite/inaccessible-file.ts";
import { damagedFrom, inspectWal } from "../../storage/sqlite/write-ahead-log.ts";

/** "AnLg": identifies a log among SQLite files. */
const APPLICATION_ID = 0x416e4c67;
const FORMAT = 1;

/** Tables and indexes of a new log. */
export const TABLES = `
  CREATE TABLE stream (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE log (
    position INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    count INTEGER NOT NULL,
    id BLOB,
    data BLOB NOT NULL,
    crc INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX log_revision ON log (stream, revision);
  CREATE UNIQUE INDEX log_id ON log (stream, id) WHERE id IS NOT NULL;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
`;

/** Table with one row, the log's unique id. Logs of the oldest releases get it when opened. */
export const IDENTITY = "CREATE TABLE IF NOT EXISTS identity (id TEXT NOT NULL) STRICT;";

/** Maximum time that a connection waits for a lock. */
export const BUSY_MS_MAX = 10_000;
/** After a burst of writes the WAL file is truncated to this size. */
const WAL_BYTES_KEPT = 64 * 1024 * 1024;
const WRITER_CACHE_KIB = 32 * 1024;
const READER_CACHE_KIB = 4 * 1024;

/**
 * Opens a connection for reading, to an existing log of a format that this release supports. `create`
 * creates the file if necessary, and checks that it is writable. Throws `invalid` for a damaged file
 * or missing permissions, and `unavailable` otherwise.
 */
export function openForReading(file: string, options: { create: boolean }): DatabaseSync {
  if (!options.create && !existsSync(file)) {
    throw new CatalogError("unavailable", `there is no log "${file}"`, {
      hint: "Open it for writing once, which creates it",
    });
  }
  let setup: DatabaseSync | undefined;
  let database: DatabaseSync | undefined;
  try {
    if (options.create) setup = createOrCheck(file);
    database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS_MAX });
    checkFormat(database, file);
    database.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
    return database;
  } catch (cause) {
    database?.close();
    throw cannotOpen(file, cause, options.create ? "written" : "read");
  } finally {
    // Closed last: closing the only connection of a file would copy its whole WAL.
    setup?.close();
  }
}

/** The connection that appends: every commit is on disk when it returns. */
export function openForWriting(file: string): DatabaseSync {
  try {
    const database = new DatabaseSync(file, { timeout: BUSY_MS_MAX });
    // Fullfsync: macOS otherwise leaves the data in the drive's cache. Checkpoints: checkpoint.ts.
    database.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
      PRAGMA cache_size = -${WRITER_CACHE_KIB};
    `);
    return database;
  } catch (cause) {
    throw cannotOpen(file, cause, "written");
  }
}

/**
 * Checks the write-ahead log before the log is opened. SQLite silently discards everything after the
 * first damaged frame, so acknowledged writes would be lost. Throws `invalid` if it is damaged. Returns
 * the byte where an incomplete last transaction begins; undefined without one.
 */
export function checkWriteAheadLog(file: string): number | undefined {
  const path = `${file}-wal`;
  const { damaged: byte, unfinished } = inspectWal(path);
  // If another process has the file open, it may have written to it meanwhile.
  if (byte === undefined || damagedFrom(path) !== byte) return unfinished;
  const what = `the log "${file}" is damaged: the write-ahead log "${path}" is damaged from byte ${byte} on`;
  throw new CatalogError("invalid", what, {
    hint: "Restore the log from a backup (docs/backup.md). To continue and lose the writes from there on, move that file away",
  });
}

function createOrCheck(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_MS_MAX });
  try {
    if (isEmpty(database)) {
      database.exec("PRAGMA journal_mode = WAL");
      database.exec("BEGIN IMMEDIATE");
      // Another process may have been first.
      if (isEmpty(database)) database.exec(TABLES);
      database.exec("COMMIT");
    }
    checkFormat(database, file);
    if (logId(database) === undefined) giveId(database);
    if (!hasChecksums(database)) giveChecksums(database);
    checkWritable(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Undefined for a log that was not opened for writing since logs have ids. */
export function logId(database: DatabaseSync): string | undefined {
  const named = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'identity'").get();
  const row = named && database.prepare("SELECT id FROM identity").get();
  return row === undefined ? undefined : String(row.id);
}

function giveId(database: DatabaseSync): void {
  database.exec(`BEGIN IMMEDIATE; ${IDENTITY}`);
  // Another process may have been first.
  if (logId(database) === undefined) {
    database.prepare("INSERT INTO identity (id) VALUES (?)").run(randomUUID());
  }
  database.exec("COMMIT");
}

/** False for a log that was not opened for writing since rows have checksums. */
export const hasChecksums = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM pragma_table_info('log') WHERE name = 'crc'").get() !== undefined;

function giveChecksums(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  // Another process may have been first.
  if (!hasChecksums(database)) database.exec("ALTER TABLE log ADD COLUMN crc INTEGER");
  database.exec("COMMIT");
}

/**
 * Checks that the file is writable. SQLite opens a read-only file without an error, and even an
 * immediate transaction only reads, so the error would appear with the first append.
 */
const checkWritable = (database: DatabaseSync): void =>
  database.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${FORMAT}; ROLLBACK`);

const isEmpty = (database: DatabaseSync): boolean =>
  database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;

function checkFormat(database: DatabaseSync, file: string): void {
  if (pragma(database, "application_id") !== APPLICATION_ID) {
    throw new CatalogError("unavailable", `"${file}" is not a log`, {
      hint: "Name another data directory, or move the file away",
    });
  }
  const format = pragma(database, "user_version");
  if (format > FORMAT) {
    throw new CatalogError(
      "unavailable",
      `log "${file}" has format ${format}; this release knows formats up to ${FORMAT}`,
      { hint: "Start the release that wrote it, or a later one" },
    );
  }
}

function pragma(database: DatabaseSync, name: "application_id" | "user_version"): number {
  // Safe lookup: the type of `name` is a closed list.
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

const SQLITE_READONLY = 8;
/** SQLITE_CORRUPT and SQLITE_NOTADB: pages or the header of the file are damaged. */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);
export const isCorruption = (cause: unknown): boolean => DAMAGED.has(codeOf(cause));
/** The low byte of an extended code is the code that it extends. */
const codeOf = (cause: unknown): number => ((cause as { errcode?: number }).errcode ?? 0) & 0xff;

function cannotOpen(file: string, cause: unknown, wanted: Wanted): CatalogError {
  if (cause instanceof CatalogError) return cause;
  const inaccessible = inaccessibleFile(file, wanted);
  const why = inaccessible ?? messageOf(cause);
  if (inaccessible === undefined && isCorruption(cause)) {
    return new CatalogError("invalid", `the log "${file}" is damaged: ${why}`, {
      hint: "Restore the log from a backup (docs/backup.md)",
      cause,
    });
  }
  const unfit = inaccessible !== undefined || codeOf(cause) === SQLITE_READONLY;
  return new CatalogError(unfit ? "invalid" : "unavailable", `cannot open log "${file}": ${why}`, {
    hint:
      inaccessible === undefined ? lookAtDirectory : `${permissionHint}, or run this as its owner`,
    cause,
  });
}

const lookAtDirectory = "Check that the directory exists, is writable and has free space";
