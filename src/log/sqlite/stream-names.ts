/**
 * Index of stream names in byte order, for a log whose server cannot list them: a small SQLite file
 * that follows the log and may be deleted. Several threads and processes may share one file: each
 * adds the names that it has read, and the position of the file only grows.
 */
import { DatabaseSync } from "node:sqlite";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { type Position, position } from "../../core/position.ts";
import type { StreamName } from "../../core/stream.ts";
import { BUSY_MS_MAX } from "./schema.ts";

export interface StreamNames {
  /** The index has the names of all records up to this position. */
  position(): Position;
  /** Adds the names of all records up to a position. */
  add(names: ReadonlySet<StreamName>, upTo: Position): void;
  /** Names with a prefix, after a name. */
  list(prefix: string, after: StreamName, limit: number): readonly StreamName[];
  close(): void;
}

const TABLES = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS stream_name (name TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS reached (log TEXT NOT NULL, position INTEGER NOT NULL) STRICT;
`;

/** Uses memory without a file. Names of another log in the file are deleted. */
export function openStreamNames(file: string | undefined, logId: string | undefined): StreamNames {
  const log = logId ?? "";
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file ?? ":memory:", { timeout: BUSY_MS_MAX });
    database.exec(TABLES);
    database.exec("BEGIN IMMEDIATE");
    const row = database.prepare("SELECT log FROM reached").get();
    if (row?.log !== log) {
      database.exec("DELETE FROM stream_name; DELETE FROM reached");
      database.prepare("INSERT INTO reached (log, position) VALUES (?, 0)").run(log);
    }
    database.exec("COMMIT");
  } catch (cause) {
    throw new CatalogError("unavailable", `cannot store names of streams: ${messageOf(cause)}`, {
      hint: `Check that "${file}" is writable, or delete it: it is created again from the log`,
      cause,
    });
  }
  const selectReached = database.prepare("SELECT position FROM reached");
  const insert = database.prepare("INSERT OR IGNORE INTO stream_name (name) VALUES (?)");
  const reach = database.prepare("UPDATE reached SET position = max(position, ?)");
  const select = database.prepare(
    "SELECT name FROM stream_name WHERE name >= max(?1, ?2) AND name <> ?2 ORDER BY name LIMIT ?3",
  );

  return {
    position: () => position(Number(selectReached.get()?.position ?? 0)),

    add(names, upTo) {
      database.exec("BEGIN IMMEDIATE");
      for (const name of names) insert.run(name);
      reach.run(upTo);
      database.exec("COMMIT");
    },

    list(prefix, after, limit) {
      const names = select.all(prefix, after, limit).map((row) => String(row.name));
      const end = names.findIndex((name) => !name.startsWith(prefix));
      return end < 0 ? names : names.slice(0, end);
    },

    close: () => database.close(),
  };
}
