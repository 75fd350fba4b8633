/**
 * Copies the rows of a log into a new file, without using any index of the old one. The new file takes
 * its place.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { assert } from "../../core/errors.ts";
import { BUSY_MS_MAX, hasChecksums, IDENTITY, TABLES } from "./schema.ts";

/**
 * Replaces the file unless `check` throws. The disk needs room for both files. No other connection to the file may be
 * open.
 */
export function replaceFile(file: string, check: (fresh: DatabaseSync) => void): void {
  const path = `${file}.repaired`;
  removeDatabase(path);
  try {
    const crc = settle(file) ? "crc" : "NULL";
    const fresh = new DatabaseSync(path, { timeout: BUSY_MS_MAX });
    try {
      fresh.exec(`PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; ${TABLES} ${IDENTITY}`);
      fresh.prepare("ATTACH ? AS damaged").run(file);
      fresh.exec(`
        BEGIN;
        INSERT INTO main.identity SELECT id FROM damaged.identity;
        INSERT INTO main.stream SELECT id, name FROM damaged.stream NOT INDEXED ORDER BY id;
        INSERT INTO main.log
          SELECT position, stream, revision, count, id, data, ${crc}
          FROM damaged.log NOT INDEXED ORDER BY position;
        COMMIT;
        DETACH damaged;
        PRAGMA journal_mode = WAL`);
      check(fresh);
    } finally {
      fresh.close();
    }
    const { mode, uid, gid } = statSync(file);
    chmodSync(path, mode);
    chownSync(path, uid, gid);
    // The old file is complete without them; SQLite would apply them to the new one.
    rmSync(`${file}-wal`, { force: true });
    rmSync(`${file}-shm`, { force: true });
    renameSync(path, file);
    syncDirectory(dirname(file));
  } finally {
    removeDatabase(path);
  }
}

/** Moves the write-ahead log into the file. Returns true if rows have checksums. */
function settle(file: string): boolean {
  const database = new DatabaseSync(file, { timeout: BUSY_MS_MAX });
  try {
    const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() ?? {};
    assert(busy === 0, "no other connection has the log open");
    return hasChecksums(database);
  } finally {
    database.close();
  }
}

function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${end}`, { force: true });
}

function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
