/** Stores results of verifications in a small SQLite file, which may be deleted at any time. */
import { DatabaseSync } from "node:sqlite";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { type Position, position } from "../../core/position.ts";
import type { Difference } from "../../projector/verify/differences.ts";
import {
  differencesMax,
  type VerificationSummary,
  type Verified,
  type VerifiedAt,
  type VerifiedState,
} from "../../projector/verify/verified-state.ts";
import { inaccessibleFile, permissionHint } from "./inaccessible-file.ts";
import { preparingOn } from "./prepared.ts";
import { diskIsFull, isDamaged, isSqliteError } from "./sqlite-errors.ts";

const BUSY_TIMEOUT_MS = 5_000;
/** Columns of the table in the first releases. */
const COLUMNS_BEFORE = 9;

// log, model: of the verified views. full_…, whole_…: verify/verified-state.ts. Earlier releases wrote release and
// sums; they are null now.
const TABLES = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS verified (
  view TEXT PRIMARY KEY,
  log TEXT NOT NULL,
  model TEXT NOT NULL,
  position INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  time INTEGER NOT NULL,
  full_position INTEGER,
  full_time INTEGER,
  differences INTEGER NOT NULL,
  whole_position INTEGER,
  whole_time INTEGER,
  release TEXT,
  sums BLOB
) STRICT;
CREATE TABLE IF NOT EXISTS difference (
  id INTEGER PRIMARY KEY,
  view TEXT NOT NULL,
  urn TEXT NOT NULL,
  aspect TEXT NOT NULL,
  kind TEXT NOT NULL,
  there TEXT,
  should TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS difference_view ON difference (view);
`;

/** Columns that files of earlier releases lack. */
const ADDED = [
  ...["whole_position INTEGER", "whole_time INTEGER", "release TEXT", "sums BLOB"],
].map((column) => `ALTER TABLE verified ADD COLUMN ${column}`);

export function openSqliteVerifiedState(
  path: string,
  made: { readonly log: string; readonly model: string },
): VerifiedState {
  const state = using(path, () => {
    try {
      return stateIn(openState(path), made);
    } catch (error) {
      // Without space the state of this process is in memory: the file is only a cache.
      if (diskIsFull(error, path)) return stateIn(openState(":memory:"), made);
      throw error;
    }
  });
  return {
    load: () => using(path, state.load),
    save: (verified) => using(path, () => state.save(verified)),
    list: (query) => using(path, () => state.list(query)),
    close: state.close,
  };
}

/**
 * Replaces errors of SQLite by one that names the file: a damaged page fails only when it is read.
 */
function using<T>(path: string, use: () => T): T {
  try {
    return use();
  } catch (cause) {
    if (!isSqliteError(cause)) throw cause;
    const inaccessible = inaccessibleFile(path, "written");
    if (inaccessible !== undefined) {
      throw new CatalogError("invalid", inaccessible, {
        hint: `${permissionHint}, or delete it`,
        cause,
      });
    }
    throw new CatalogError("unavailable", `"${path}" cannot be used: ${messageOf(cause)}`, {
      hint: isDamaged(cause)
        ? "Delete the file: the next verification creates it again"
        : "Check that the data directory is writable and has space",
      cause,
    });
  }
}

function openState(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec(TABLES);
    const columns = db.prepare("SELECT count(*) AS columns FROM pragma_table_info('verified')");
    if (Number(columns.get()?.columns) === COLUMNS_BEFORE) for (const sql of ADDED) db.exec(sql);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function stateIn(
  db: DatabaseSync,
  made: { readonly log: string; readonly model: string },
): VerifiedState {
  const all = db.prepare("SELECT * FROM verified WHERE log = ? AND model = ?");
  const put = db.prepare(`
    INSERT OR REPLACE INTO verified
      (view, log, model, position, rows, time, full_position, full_time, differences,
       whole_position, whole_time)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const forget = db.prepare("DELETE FROM difference WHERE view = ?");
  const insert = db.prepare(`
    INSERT INTO difference (view, urn, aspect, kind, there, should) VALUES (?, ?, ?, ?, ?, ?)`);
  const page = preparingOn(db).objects<StoredDifference>(`
    SELECT view, urn, aspect, kind, there, should FROM difference
    WHERE ?1 IS NULL OR view = ?1 ORDER BY id LIMIT ?2 OFFSET ?3`);
  const total = db.prepare(
    "SELECT coalesce(sum(differences), 0) AS total FROM verified WHERE ?1 IS NULL OR view = ?1",
  );

  const summaryOf = (row: Readonly<Record<string, unknown>>): VerificationSummary => ({
    ...{ view: String(row.view), position: at(row.position) },
    ...{ rows: Number(row.rows), time: Number(row.time), count: Number(row.differences) },
    full: verifiedAtOf(row.full_position, row.full_time),
    whole: verifiedAtOf(row.whole_position, row.whole_time),
  });

  return {
    load: () =>
      Object.fromEntries(
        all.all(made.log, made.model).map((row) => [String(row.view), summaryOf(row)]),
      ),
    save(verified: readonly Verified[]) {
      db.exec("BEGIN IMMEDIATE");
      try {
        for (const { view, full, whole, differences, ...one } of verified) {
          const { position: place, rows, time, count } = one;
          put.run(
            ...[view, made.log, made.model, place, rows, time],
            ...[full?.position ?? null, full?.time ?? null, count],
            ...[whole?.position ?? null, whole?.time ?? null],
          );
          forget.run(view);
          for (const { urn, aspect, kind, there, should } of differences.slice(0, differencesMax)) {
            insert.run(view, urn, aspect, kind, there ?? null, should ?? null);
          }
        }
        db.exec("COMMIT");
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    },
    list({ view, start, count }) {
      const rows = page.all(view ?? null, count, start);
      return {
        total: Number(total.get(view ?? null)?.total),
        differences: rows.map(({ there, should, ...row }) => ({
          ...row,
          ...(there !== null && { there }),
          ...(should !== null && { should }),
        })),
      };
    },
    close: () => db.close(),
  };
}

type StoredDifference = Omit<Difference, "there" | "should"> & {
  readonly there: string | null;
  readonly should: string | null;
};

const verifiedAtOf = (place: unknown, time: unknown): VerifiedAt | undefined =>
  place === null ? undefined : { position: at(place), time: Number(time) };

const at = (value: unknown): Position => position(Number(value));
