/**
 * Closes the connection that writes a file in WAL mode, and keeps the -wal (emptied) and -shm
 * files. A full disk has no space to create the -shm again (32 KiB), and without it the file cannot
 * be opened.
 *
 * SQLite deletes both when the last connection closes, unless that one is read-only. So a read-only
 * connection is closed last.
 */
import { DatabaseSync } from "node:sqlite";

/** Maximum wait of the checkpoint for readers. */
const BUSY_MS_MAX = 100;

/**
 * Does not throw if the checkpoint fails: the transactions stay in the -wal, for the next start.
 */
export function closeWriter(database: DatabaseSync, path: string): void {
  let last: DatabaseSync | undefined;
  try {
    last = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX });
    last.prepare("SELECT 1 FROM sqlite_schema").get();
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS_MAX}; PRAGMA wal_checkpoint(TRUNCATE)`);
  } catch {
    // A full disk, or a damaged file.
  } finally {
    database.close();
    last?.close();
  }
}
