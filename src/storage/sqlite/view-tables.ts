/** Checks that a SQLite file has the tables and indexes of this release, and is intact. */
import { DatabaseSync } from "node:sqlite";
import { CatalogError } from "../../core/errors.ts";
import { type Position, position } from "../../core/position.ts";
import { ownCommand } from "../../lib/command-hint.ts";

/** The shape of one kind of view. */
export interface ViewSchema {
  readonly view: string;
  /** Incremented with every change to `tables`; a file of another version is not read. */
  readonly version: number;
  readonly tables: string;
  /** Empties the tables. Numbers that open readers may have cached must keep their meaning. */
  readonly reset: string;
}

/** The tables are of an older release. `isInLog`: the log covers all of the view. */
export class OlderTables extends CatalogError {
  readonly isInLog: boolean;
  constructor(message: string, { hint, isInLog }: { hint: string; isInLog: boolean }) {
    super("unavailable", message, { hint });
    this.isInLog = isInLog;
  }
}

export class LackingTables extends CatalogError {}

/** Throws for a missing table or column, which writes need, and for a missing index, which reads need. */
export function checkTables(db: DatabaseSync, schema: ViewSchema): void {
  const [first] = differingParts(db, schema);
  if (first === undefined) return;
  throw new LackingTables("unavailable", `of the view "${schema.view}" ${first}`, {
    hint: `Run: ${ownCommand(`rebuild ${schema.view}`)}`,
  });
}

/** Tables and indexes that differ from the schema: sentences without a full stop. */
export function differingParts(
  db: DatabaseSync,
  schema: Pick<ViewSchema, "tables">,
): readonly string[] {
  const own = partsOf(db);
  const expected = new DatabaseSync(":memory:");
  try {
    expected.exec(schema.tables);
    return [...partsOf(expected)].flatMap(([part, made]) => {
      const there = own.get(part);
      if (there === made) return [];
      return [`the ${part} is not ${there === undefined ? "there" : "as it was made"}`];
    });
  } finally {
    expected.close();
  }
}

/** Columns of tables and definitions of indexes by name; without the indexes of constraints. */
const partsOf = (db: DatabaseSync): ReadonlyMap<string, string> =>
  new Map(
    db
      .prepare(
        `SELECT type, made.name AS made,
           iif(type = 'index', sql, (SELECT group_concat(name) FROM pragma_table_info(made.name))) AS parts
         FROM sqlite_schema AS made WHERE type IN ('table', 'index') AND sql IS NOT NULL`,
      )
      .all()
      .map(({ type, made, parts }) => [`${type} "${made}"`, String(parts).replaceAll(/\s+/g, " ")]),
  );

/** Reads the first page of each table: a table without it is unusable. */
export function touchTables(db: DatabaseSync): void {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name } of tables) db.prepare(`SELECT * FROM "${name}" LIMIT 1`).get();
}

/** `head`: of the view's log, if it is known. */
export function checkVersion(db: DatabaseSync, schema: ViewSchema, head?: Position): void {
  const version = Number(db.prepare("PRAGMA user_version").get()?.user_version);
  const hint = `Run: ${ownCommand(`rebuild ${schema.view}`)}`;
  if (version !== schema.version) {
    const release = version > schema.version ? "a newer" : "an older";
    const what = `the view "${schema.view}" was built by ${release} release (version ${version} of its tables, this one has ${schema.version})`;
    if (version < schema.version) {
      throw new OlderTables(what, { hint, isInLog: isInLog(db, head) });
    }
    throw new CatalogError("unavailable", what, {
      hint: `Start that release, or run: ${ownCommand(`rebuild ${schema.view}`)}`,
    });
  }
  const row = db.prepare("SELECT name FROM view").get();
  if (row === undefined) {
    const what = `the table "view" of the view "${schema.view}" is empty`;
    throw new LackingTables("unavailable", what, { hint });
  }
  const { name } = row;
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

function isInLog(db: DatabaseSync, head: Position | undefined): boolean {
  try {
    return head !== undefined && readPosition(db) <= head;
  } catch {
    // The file is not a view.
    return false;
  }
}

export const readPosition = (db: DatabaseSync): Position =>
  position(Number(db.prepare("SELECT position FROM view").get()?.position));

/** Reads from a file that others may write; undefined if the file is missing or unreadable. */
function readFile<T>(path: string, timeout: number, read: (db: DatabaseSync) => T): T | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout });
    return read(db);
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}

/** The checkpoint in a file; an unreadable view will be rebuilt. */
export const findPosition = (path: string): Position | undefined =>
  readFile(path, BUSY_MS_MAX, readPosition);

/** The generation in a file. */
export const findGeneration = (path: string, busyMsMax = BUSY_MS_MAX): number | undefined =>
  readFile(path, busyMsMax, (db) => {
    const generation = Number(db.prepare("SELECT generation FROM view").get()?.generation);
    return Number.isSafeInteger(generation) ? generation : undefined;
  });

/** The writer of a view holds no lock longer than it takes to commit. */
const BUSY_MS_MAX = 5_000;
