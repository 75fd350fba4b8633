/**
 * Rebuilds the indexes of the log from its tables in one transaction. It commits only if the checksums of all rows
 * are right before and after, and SQLite's check of the whole file finds nothing. This is necessary because damaged
 * pages of an index may point to pages of a table, which SQLite could then free.
 */
import { DatabaseSync } from "node:sqlite";
import type { CatalogError } from "../../../core/errors.ts";
import { type Position, START } from "../../../core/position.ts";
import { LogDamaged } from "../../change-log.ts";
import { createLogReader } from "../log-reader.ts";
import { replaceFile } from "../replace-file.ts";
import { BUSY_MS_MAX, isCorruption } from "../schema.ts";
import { findDifference } from "./index-check.ts";
import { createIndexState } from "./index-state.ts";

const PAGE_MAX = 1_000;
const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Returns the number of records of the log. Throws LogDamaged `unreadable`, and changes nothing, if a row is damaged or
 * missing. No other connection may be open.
 */
export function repairIndexes(file: string): number {
  const database = new DatabaseSync(file, { timeout: BUSY_MS_MAX });
  let head: Position;
  try {
    database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; BEGIN IMMEDIATE");
    try {
      head = verifyRows(database, file);
      const lost = findLostRow(database, head);
      if (lost !== undefined) {
        throw damagedRows(file, `position ${lost}: an index has the row, the table lacks it`);
      }
      if (reindex(database)) {
        requireRows(database, file, head);
        database.exec("COMMIT");
        return head;
      }
    } finally {
      if (database.isTransaction) database.exec("ROLLBACK");
    }
  } finally {
    database.close();
  }
  replaceFile(file, (fresh) => {
    requireRows(fresh, file, head);
    const left = findDifference(fresh);
    if (left !== undefined) throw damagedRows(file, left);
  });
  return head;
}

function requireRows(database: DatabaseSync, file: string, head: Position): void {
  const end = verifyRows(database, file);
  if (end !== head) throw damagedRows(file, `a copy ends at position ${end} of ${head}`);
}

/** Returns the position of the last record. Reads the tables alone. */
function verifyRows(database: DatabaseSync, file: string): Position {
  try {
    const reader = createLogReader(database, PAGE_BYTES_MAX, createIndexState(file));
    let at: Position = START;
    for (;;) {
      const last = reader.readAll(at, { limit: PAGE_MAX }).at(-1);
      if (last === undefined) return at;
      at = last.position;
    }
  } catch (error) {
    if (error instanceof LogDamaged) throw damagedRows(file, error.message);
    throw error;
  }
}

/**
 * Finds a row that a damaged page hides at the end of the table: it leaves no gap between other rows, but an index may
 * still lead to it. If the index entry itself is damaged, the table has its revision at another position.
 */
function findLostRow(database: DatabaseSync, head: Position): number | undefined {
  const hasRevision = database.prepare(
    "SELECT 1 FROM log NOT INDEXED WHERE stream = ? AND revision = ? LIMIT 1",
  );
  try {
    const beyond = database
      .prepare(
        `SELECT stream, revision, position FROM log INDEXED BY log_revision
         WHERE stream IS NOT NULL AND position > ?`,
      )
      .all(head);
    const lost = beyond.find(
      ({ stream, revision }) => hasRevision.get(Number(stream), Number(revision)) === undefined,
    );
    return lost === undefined ? undefined : Number(lost.position);
  } catch (error) {
    if (isCorruption(error)) return undefined;
    throw error;
  }
}

/** Returns true if SQLite could rebuild the indexes within the file. */
function reindex(database: DatabaseSync): boolean {
  try {
    database.exec("REINDEX");
    return findDifference(database) === undefined;
  } catch (error) {
    if (isCorruption(error)) return false;
    throw error;
  }
}

const damagedRows = (file: string, why: string): CatalogError =>
  new LogDamaged("unreadable", `rows of the log "${file}" are damaged: ${why}`, {
    hint: "Restore the log from a backup (docs/backup.md). Its indexes are unchanged",
  });
