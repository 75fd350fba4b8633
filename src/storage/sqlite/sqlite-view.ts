/**
 * A view in a SQLite file: the file, its metadata and its checkpoint.
 *
 * The writer commits rows and checkpoint in one transaction and skips writes at or below the
 * checkpoint, so records that are applied twice change nothing. A lost transaction (with WAL mode
 * and synchronous=NORMAL, a power cut may lose the last ones) loses its checkpoint, too, and the
 * log is read again from there.
 *
 * With `bulk` a staging generation is built in a file without journal; `close` makes it durable and
 * live. A crash before that leaves the live generation. With `next` it is built in a file that
 * becomes live while both are open (generations.ts).
 *
 * A file that cannot be opened, or lacks a table, a column or an index, is renamed to `.damaged`;
 * one of an older release is deleted. The view is then built again from the log.
 */
import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CatalogError, type ErrorCode } from "../../core/errors.ts";
import { type Position, position } from "../../core/position.ts";
import { ownCommand } from "../../lib/command-hint.ts";
import { compareOrigin, modelAfter, type ViewOrigin } from "../view-origin.ts";
import { closeWriter } from "./close-writer.ts";
import {
  filesOf,
  formerSumsOf,
  liveFile,
  renameDamaged,
  replaceFile,
  stagingPath,
  syncToDisk,
} from "./generations.ts";
import { inaccessibleFile, permissionHint } from "./inaccessible-file.ts";
import { isDamaged, isInvalidValue, isSqliteError } from "./sqlite-errors.ts";
import {
  checkTables,
  checkVersion,
  findGeneration,
  LackingTables,
  OlderTables,
  readPosition,
  touchTables,
  type ViewSchema,
} from "./view-tables.ts";

/** A view in a file; with `bulk`, its staging generation. */
export interface ViewFile extends ViewOrigin {
  readonly path: string;
}

export interface SqliteView {
  readonly db: DatabaseSync;
  position(): Position;
  /** The name of the record at the checkpoint. */
  record(): string | undefined;
  /**
   * Runs `write` and stores the checkpoint with the name of its record, in one transaction. `write`
   * gets the previous checkpoint and must skip writes at or below it. When it throws, nothing has
   * changed.
   */
  commit(upTo: Position, write: (checkpoint: Position) => void, record?: string): void;
  /** Runs `write` in a transaction without moving the checkpoint. */
  amend(write: () => void | Promise<void>): Promise<void>;
  /** Empties the view and begins the next generation. */
  reset(): void;
  /** "discard" drops a staging generation. */
  close(outcome: "keep" | "discard"): void;
}

/** Half as many levels and page writes as the default of 4,096 once a view has a million rows. */
const PAGE_BYTES = 8_192;
const CACHE_KIB = 64 * 1024;
/**
 * Pages in the write-ahead log that start a checkpoint: 32 MB, so that hot pages are rewritten
 * seldom.
 */
const WAL_PAGES_MAX = 4_000;
/** The WAL file is cut to this size after a checkpoint, should a reader have held it open. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;
/** Locks of this process last milliseconds; a longer one belongs to a second process. */
const BUSY_TIMEOUT_MS = 5_000;

const METADATA = `
CREATE TABLE view (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  model TEXT,
  log TEXT,
  position INTEGER NOT NULL,
  record TEXT
) STRICT;
`;

/**
 * Opens a view for writing, and creates the file if it is missing. There may be one writer at a
 * time.
 */
export function openSqliteView(schema: ViewSchema, file: ViewFile): SqliteView {
  const beside = `${file.path}.regrown`;
  const path = file.next ? stagingPath(file.path) : file.bulk ? beside : file.path;
  const leftovers = file.next ? (file.bulk ? path : undefined) : beside;
  for (const leftover of leftovers === undefined ? [] : filesOf(leftovers)) {
    rmSync(leftover, { force: true });
  }
  if (file.next && !file.bulk) requireFile(schema, path);
  if (!file.bulk) requireWritable(schema.view, path);
  rmSync(formerSumsOf(liveFile(path)), { force: true });
  const db = withCatalogErrors(schema, "opened", () => openOrBegin(path, schema, file));
  const openedFile = file.next ? path : liveFile(path);
  let checkpoint = withCatalogErrors(schema, "read", () => readPosition(db));
  let record = withCatalogErrors(schema, "read", () => readRecord(db));
  const savePosition = db.prepare("UPDATE view SET position = ?, record = ?");

  const usable = () => {
    if (!db.isOpen) throw new CatalogError("unavailable", `the view "${schema.view}" is closed`);
  };

  function transaction(write: () => void): void {
    usable();
    withCatalogErrors(schema, "written", () => {
      db.exec("BEGIN IMMEDIATE");
      try {
        write();
        db.exec("COMMIT");
      } catch (error) {
        // SQLite itself rolls back after some errors, such as a full disk.
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    });
  }

  return {
    db,
    position() {
      usable();
      return checkpoint;
    },
    record() {
      usable();
      return record;
    },
    commit(upTo, write, last) {
      usable();
      if (upTo <= checkpoint) return;
      transaction(() => {
        write(checkpoint);
        savePosition.run(upTo, last ?? null);
      });
      checkpoint = upTo;
      record = last;
    },
    async amend(write) {
      usable();
      try {
        db.exec("BEGIN IMMEDIATE");
        await write();
        db.exec("COMMIT");
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        withCatalogErrors(schema, "written", () => {
          throw error;
        });
      }
    },
    reset() {
      transaction(() => empty(db, schema));
      checkpoint = position(0);
      record = undefined;
    },
    close(outcome) {
      if (!db.isOpen) return;
      if (!file.bulk) {
        closeWriter(db, openedFile);
        return;
      }
      db.close();
      if (outcome === "discard") {
        rmSync(path);
        return;
      }
      if (file.next) syncToDisk(path);
      else replaceFile(file.path, beside);
    },
  };
}

/** Throws `invalid` if the file of an existing view is not writable. */
export function requireWritable(view: string, path: string): void {
  const inaccessible = inaccessibleFile(path, "written");
  if (inaccessible !== undefined) throw notOpened("invalid", view, path, inaccessible);
}

/** Opens a view for reading, at any time after the writer has created the file. */
export function openSqliteViewReader(schema: ViewSchema, path: string): DatabaseSync {
  for (;;) {
    const file = liveFile(path);
    let db: DatabaseSync;
    try {
      db = openReader(schema, path);
    } catch (error) {
      // Retries if another generation became live during the open.
      if (liveFile(path) === file) throw error;
      continue;
    }
    // Retries if another generation became live: the write-ahead log may already be deleted.
    if (liveFile(path) === file) return db;
    db.close();
  }
}

function requireFile(schema: ViewSchema, path: string): void {
  if (existsSync(path)) return;
  throw new CatalogError("unavailable", `there is no view "${schema.view}" at "${path}"`, {
    hint: `Run: ${ownCommand(`rebuild ${schema.view}`)}`,
  });
}

const notOpened = (code: ErrorCode, view: string, path: string, why: string): CatalogError =>
  new CatalogError(code, `the view "${view}" could not be opened: ${why}`, {
    hint: `${permissionHint}; or remove "${path}", also with -wal and -shm behind its name, and the view is built again`,
  });

function openReader(schema: ViewSchema, path: string): DatabaseSync {
  requireFile(schema, path);
  const inaccessible = inaccessibleFile(path, "read");
  if (inaccessible !== undefined) throw notOpened("unavailable", schema.view, path, inaccessible);
  return withCatalogErrors(schema, "opened", () => {
    const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    try {
      checkVersion(db, schema);
      db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** Runs an operation of the driver, and turns its errors into CatalogErrors. */
export function withCatalogErrors<T>(schema: ViewSchema, done: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    if (error instanceof CatalogError || !isSqliteError(error)) throw error;
    if (isInvalidValue(error)) {
      const what = `the view "${schema.view}" cannot store the value: ${error.message}`;
      throw new CatalogError("internal", what, { cause: error });
    }
    throw new CatalogError(
      "unavailable",
      `the view "${schema.view}" could not be ${done}: ${error.message}`,
      {
        cause: error,
        hint: isDamaged(error) ? `Run: ${ownCommand(`rebuild ${schema.view}`)}` : undefined,
      },
    );
  }
}

function openOrBegin(path: string, schema: ViewSchema, file: ViewFile): DatabaseSync {
  const bulk = file.bulk === true;
  try {
    return open(path, bulk, schema, file);
  } catch (error) {
    if (bulk || file.next) throw error;
    const older = error instanceof OlderTables && error.isInLog && file.keepsOlder !== true;
    if (older) for (const old of [...filesOf(liveFile(path)), path]) rmSync(old, { force: true });
    else if (error instanceof LackingTables || (isSqliteError(error) && isDamaged(error))) {
      renameDamaged(path);
    } else throw error;
    file.onEmptied?.(older ? "an older release" : "damaged");
    return open(path, bulk, schema, file);
  }
}

function open(path: string, bulk: boolean, schema: ViewSchema, file: ViewFile): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
    if (bulk) {
      // A failed batch is rolled back from memory; a crash loses the file, which nobody reads yet.
      db.exec(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF",
      );
    } else {
      db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      db.exec(`PRAGMA wal_autocheckpoint = ${WAL_PAGES_MAX}`);
      db.exec(`PRAGMA journal_size_limit = ${WAL_BYTES_MAX}`);
    }
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`);
    if (db.prepare("SELECT 1 FROM sqlite_schema").get() === undefined)
      create(db, schema, bulk ? (findGeneration(file.path) ?? 0) + 1 : 1);
    checkVersion(db, schema, file.log?.head);
    if (!bulk && file.next !== true) checkTables(db, schema);
    touchTables(db);
    claimOrigin(db, schema, file);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Empties a view that was built from another model or log, and stores the origin. Keeps a view
 * whose position is after the end of its log: the log may have lost records, and the view is the
 * only copy. The projector then does not start.
 */
function claimOrigin(db: DatabaseSync, schema: ViewSchema, file: ViewFile) {
  const { model, log } = file;
  const columns = db.prepare("SELECT name FROM pragma_table_info('view')").all();
  db.exec("BEGIN IMMEDIATE");
  for (const added of ["log", "record"]) {
    if (columns.some(({ name }) => name === added)) continue;
    db.exec(`ALTER TABLE view ADD COLUMN ${added} TEXT`);
  }
  const made = db.prepare("SELECT model, log, position FROM view").get();
  const at = position(Number(made?.position));
  const text = (value: unknown): string | null => (value == null ? null : String(value));
  const madeOf = { model: text(made?.model), log: text(made?.log), position: at };
  const verdict = compareOrigin(madeOf, file);
  if (verdict === "stale") file.onStale?.(true);
  else if (verdict !== "own" && verdict !== "ahead") {
    empty(db, schema);
    if (at > 0) file.onEmptied?.(verdict);
  }
  if (verdict !== "ahead") {
    const after = verdict === "stale" ? modelAfter(madeOf.model, model) : model;
    // Without a change nothing is written: a full disk does not prevent the start.
    db.prepare(
      "UPDATE view SET model = ?1, log = coalesce(?2, log) WHERE model IS NOT ?1 OR log IS NOT coalesce(?2, log)",
    ).run(after ?? null, log?.id ?? null);
  }
  db.exec("COMMIT");
}

function empty(db: DatabaseSync, schema: ViewSchema): void {
  db.exec(schema.reset);
  db.exec("UPDATE view SET position = 0, record = NULL, generation = generation + 1");
}

const readRecord = (db: DatabaseSync): string | undefined => {
  const record = db.prepare("SELECT record FROM view").get()?.record;
  return typeof record === "string" ? record : undefined;
};

function create(db: DatabaseSync, schema: ViewSchema, generation: number): void {
  db.exec(`BEGIN; ${METADATA} ${schema.tables} PRAGMA user_version = ${schema.version};`);
  db.prepare("INSERT INTO view (one, name, generation, position) VALUES (1, ?, ?, 0)").run(
    schema.view,
    generation,
  );
  db.exec("COMMIT");
}
