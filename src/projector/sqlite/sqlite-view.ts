/**
 * What every view in a SQLite file has in common: the file, its metadata, its checkpoint.
 *
 * The writer commits rows and checkpoint in one transaction and drops writes at or below the
 * checkpoint: what is in the view stays as it is, whatever is told again. A lost transaction (the
 * file is in WAL mode with synchronous=NORMAL, so a power cut may take the last ones) takes its
 * checkpoint with it, and the log is read again from there.
 *
 * With `bulk` the view is regrown beside the one that is there, in a file without any protection,
 * and takes its place when it is closed, made durable. A crash before that leaves the old view. With
 * `next` it is grown in the file that another takes its place by while both are open (editions.ts).
 *
 * A file that cannot even be opened, or lacks what the tables have, is set aside; one of an older release
 * goes. The view begins anew: all of it is in the log.
 */
import { existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CatalogError } from "../../core/errors.ts";
import { ownCommand } from "../../core/own-command.ts";
import { type Position, position } from "../../core/position.ts";
import { judge, modelAfter, type ViewOrigin } from "../view-origin.ts";
import { fileInPlace, filesOf, nextEdition, replace, setAside, synchronise } from "./editions.ts";

/** The shape of one kind of view. */
export interface ViewSchema {
  readonly view: string;
  /** Raised with every change to `tables`: a file of another version is not read. */
  readonly version: number;
  readonly tables: string;
  /** Empties the tables. Numbers that open readers may have cached must keep their meaning. */
  readonly reset: string;
}

/** A view in a file; with `bulk` regrown from nothing: see above. */
export interface ViewFile extends ViewOrigin {
  readonly path: string;
}

export interface SqliteView {
  readonly db: DatabaseSync;
  position(): Position;
  /**
   * One transaction: what `write` does, and the checkpoint. `write` gets the checkpoint so far and
   * must pass over what lies at or below it. When it throws, nothing has happened.
   */
  commit(upTo: Position, write: (checkpoint: Position) => void): void;
  /** One transaction that leaves the checkpoint where it is. */
  mend(write: () => void | Promise<void>): Promise<void>;
  /** Empties the view and begins the next generation. */
  reset(): void;
  /** "discard" drops a view that was regrown beside another. */
  close(outcome: "keep" | "discard"): void;
}

/** Half as many levels and page writes as the default of 4,096 once a view has a million rows. */
const PAGE_BYTES = 8_192;
const CACHE_KIB = 64 * 1024;
/** Pages in the write-ahead log that start a checkpoint: 16 MB, rewriting hot pages seldom. */
const WAL_PAGES_MAX = 2_000;
/** The WAL file is cut to this size after a checkpoint, should a reader have held it open. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;
/** Another connection's lock is over within milliseconds; longer means a second process. */
const BUSY_TIMEOUT_MS = 5_000;

const METADATA = `
CREATE TABLE view (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  name TEXT NOT NULL,
  generation INTEGER NOT NULL,
  model TEXT,
  log TEXT,
  position INTEGER NOT NULL
) STRICT;
`;

/** Opens a view for writing; makes the file if there is none. There may be one writer at a time. */
export function openSqliteView(schema: ViewSchema, file: ViewFile): SqliteView {
  const beside = `${file.path}.regrown`;
  const path = file.next ? nextEdition(file.path) : file.bulk ? beside : file.path;
  const leftovers = file.next ? (file.bulk ? path : undefined) : beside;
  for (const leftover of leftovers === undefined ? [] : filesOf(leftovers)) {
    rmSync(leftover, { force: true });
  }
  if (file.next && !file.bulk) requireFile(schema, path);
  const db = translated(schema, "opened", () => openOrBegin(path, schema, file));
  let checkpoint = translated(schema, "read", () => readPosition(db));
  const savePosition = db.prepare("UPDATE view SET position = ?");

  const usable = () => {
    if (!db.isOpen) throw new CatalogError("unavailable", `the view "${schema.view}" is closed`);
  };

  function transaction(write: () => void): void {
    usable();
    translated(schema, "written", () => {
      db.exec("BEGIN IMMEDIATE");
      try {
        write();
        db.exec("COMMIT");
      } catch (error) {
        // A full disk or the like ends the transaction by itself.
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
    commit(upTo, write) {
      usable();
      if (upTo <= checkpoint) return;
      transaction(() => {
        write(checkpoint);
        savePosition.run(upTo);
      });
      checkpoint = upTo;
    },
    async mend(write) {
      usable();
      try {
        db.exec("BEGIN IMMEDIATE");
        await write();
        db.exec("COMMIT");
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        translated(schema, "written", () => {
          throw error;
        });
      }
    },
    reset() {
      transaction(() => empty(db, schema));
      checkpoint = position(0);
    },
    close(outcome) {
      if (!db.isOpen) return;
      db.close();
      if (!file.bulk) return;
      if (outcome === "discard") rmSync(path);
      else if (file.next) synchronise(path);
      else replace(file.path, beside);
    },
  };
}

/** Opens a view for reading only, at any time after the writer has made the file. */
export function openSqliteViewReader(schema: ViewSchema, path: string): DatabaseSync {
  for (;;) {
    const file = fileInPlace(path);
    const db = openReader(schema, path);
    // Its log may have been gone already, if another edition was put in place meanwhile.
    if (fileInPlace(path) === file) return db;
    db.close();
  }
}

function requireFile(schema: ViewSchema, path: string): void {
  if (existsSync(path)) return;
  throw new CatalogError("unavailable", `there is no view "${schema.view}" at "${path}"`, {
    hint: `Run: ${ownCommand(`rebuild ${schema.view}`)}`,
  });
}

function openReader(schema: ViewSchema, path: string): DatabaseSync {
  requireFile(schema, path);
  return translated(schema, "opened", () => {
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

/** Runs an operation of the driver; its errors become the catalog's own. */
export function translated<T>(schema: ViewSchema, done: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    if (error instanceof CatalogError || !isSqliteError(error)) throw error;
    if (unfit(error)) {
      const what = `the view "${schema.view}" cannot take what it was given: ${error.message}`;
      throw new CatalogError("internal", what, { cause: error });
    }
    throw new CatalogError(
      "unavailable",
      `the view "${schema.view}" could not be ${done}: ${error.message}`,
      {
        cause: error,
        ...(damaged(error) && { hint: `Run: ${ownCommand(`rebuild ${schema.view}`)}` }),
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
    const older = error instanceof OlderTables && error.isTold && file.keepsOlder !== true;
    if (older)
      for (const old of [...filesOf(fileInPlace(path)), path]) rmSync(old, { force: true });
    else if (error instanceof LackingTables || (isSqliteError(error) && damaged(error))) {
      setAside(path);
    } else throw error;
    file.onEmptied?.(older ? "an older release" : "damaged");
    return open(path, bulk, schema, file);
  }
}

/** `isTold`: all that is in the view is in the log, too. */
class OlderTables extends CatalogError {
  readonly isTold: boolean;
  constructor(message: string, { hint, isTold }: { hint: string; isTold: boolean }) {
    super("unavailable", message, { hint });
    this.isTold = isTold;
  }
}

class LackingTables extends CatalogError {}

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
      create(db, schema, bulk ? generationOf(file.path) + 1 : 1);
    checkVersion(db, schema, file.log?.head);
    if (!bulk && file.next !== true) checkTables(db, schema);
    touchTables(db);
    takeOrigin(db, schema, file);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A table that is not there, or lacks a column, could not be written. */
function checkTables(db: DatabaseSync, schema: ViewSchema): void {
  const own = columnsOf(db);
  const expected = new DatabaseSync(":memory:");
  try {
    expected.exec(schema.tables);
    for (const [table, columns] of columnsOf(expected)) {
      if (own.get(table) === columns) continue;
      const what = `the table "${table}" of the view "${schema.view}" is not as it was made`;
      throw new LackingTables("unavailable", what, {
        hint: `Run: ${ownCommand(`rebuild ${schema.view}`)}`,
      });
    }
  } finally {
    expected.close();
  }
}

const columnsOf = (db: DatabaseSync): ReadonlyMap<string, string> =>
  new Map(
    db
      .prepare(
        `SELECT made.name AS made, group_concat(info.name) AS columns
         FROM sqlite_schema AS made JOIN pragma_table_info(made.name) AS info
         WHERE made.type = 'table' GROUP BY made.name`,
      )
      .all()
      .map(({ made, columns }) => [String(made), String(columns)]),
  );

/** A table whose first page cannot be read is as good as none. */
function touchTables(db: DatabaseSync): void {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name } of tables) db.prepare(`SELECT * FROM "${name}" LIMIT 1`).get();
}

/**
 * What another model made, or another log, is not what these would make: the view begins anew and
 * is grown again. Unless that log ends before it: then the log may be lost, and the view is all that
 * is left of it (the projector refuses to start).
 */
function takeOrigin(db: DatabaseSync, schema: ViewSchema, file: ViewFile) {
  const { model, log } = file;
  const columns = db.prepare("SELECT name FROM pragma_table_info('view')").all();
  db.exec("BEGIN IMMEDIATE");
  if (!columns.some(({ name }) => name === "log")) db.exec("ALTER TABLE view ADD COLUMN log TEXT");
  const made = db.prepare("SELECT model, log, position FROM view").get();
  const at = position(Number(made?.position));
  const text = (value: unknown): string | null => (value == null ? null : String(value));
  const madeOf = { model: text(made?.model), log: text(made?.log), position: at };
  const verdict = judge(madeOf, file);
  if (verdict === "stale") file.onStale?.(true);
  else if (verdict !== "own" && verdict !== "ahead") {
    empty(db, schema);
    if (at > 0) file.onEmptied?.(verdict);
  }
  if (verdict !== "ahead") {
    const after = verdict === "stale" ? modelAfter(madeOf.model, model) : model;
    db.prepare("UPDATE view SET model = ?, log = coalesce(?, log)").run(
      after ?? null,
      log?.id ?? null,
    );
  }
  db.exec("COMMIT");
}

function empty(db: DatabaseSync, schema: ViewSchema): void {
  db.exec(schema.reset);
  db.exec("UPDATE view SET position = 0, generation = generation + 1");
}

function create(db: DatabaseSync, schema: ViewSchema, generation: number): void {
  db.exec(`BEGIN; ${METADATA} ${schema.tables} PRAGMA user_version = ${schema.version};`);
  db.prepare("INSERT INTO view (one, name, generation, position) VALUES (1, ?, ?, 0)").run(
    schema.view,
    generation,
  );
  db.exec("COMMIT");
}

/** `head`: of the log that feeds the view, as far as that is known. */
function checkVersion(db: DatabaseSync, schema: ViewSchema, head?: Position): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.user_version);
  const hint = `Run: ${ownCommand(`rebuild ${schema.view}`)}`;
  if (version !== schema.version) {
    const release = version > schema.version ? "a newer" : "an older";
    const what = `the view "${schema.view}" was made by ${release} release (version ${version} of its tables, this one has ${schema.version})`;
    if (version < schema.version) {
      throw new OlderTables(what, { hint, isTold: isTold(db, head) });
    }
    throw new CatalogError("unavailable", what, {
      hint: `Start that release, or run: ${ownCommand(`rebuild ${schema.view}`)}`,
    });
  }
  const name = db.prepare("SELECT name FROM view").get()?.name;
  if (name !== schema.view) {
    throw new CatalogError(
      "unavailable",
      `the file holds the view "${name}", not "${schema.view}"`,
      {
        hint,
      },
    );
  }
}

function isTold(db: DatabaseSync, head: Position | undefined): boolean {
  try {
    return head !== undefined && readPosition(db) <= head;
  } catch {
    // It is no view.
    return false;
  }
}

/** The generation of a view that is to be replaced; 0 when there is none that can be read. */
function generationOf(path: string): number {
  if (!existsSync(path)) return 0;
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    return Number(db.prepare("SELECT generation FROM view").get()?.generation);
  } catch {
    // Whatever the file is, it is being replaced.
    return 0;
  } finally {
    db.close();
  }
}

const readPosition = (db: DatabaseSync): Position =>
  position(Number(db.prepare("SELECT position FROM view").get()?.position));

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

const SQLITE_TOOBIG = 18;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;

/** Of an index of words whose own tables cannot be read SQLite says no more than that. */
const damaged = (error: Error): boolean =>
  is(error, [SQLITE_CORRUPT, SQLITE_NOTADB]) ||
  error.message.startsWith("vtable constructor failed");

/** It says something of the values, and nothing of the file. */
const unfit = (error: Error): boolean =>
  is(error, [SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH]);

/** The low byte of an extended code is the code that it extends. */
const is = (error: Error, codes: readonly number[]): boolean =>
  "errcode" in error && codes.includes(Number(error.errcode) & 0xff);

const isSqliteError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";
