/**
 * How the connection that writes a file in WAL mode is closed: the file's -wal (emptied) and -shm stay. A full disk has
 * no space to create the -shm again (32 KiB), and without it the file cannot be opened.
 *
 * SQLite deletes both when the last connection closes, unless that one may only read: so one that reads closes last.
 */
import { DatabaseSync } from "node:sqlite";

/** How long another connection that reads may delay the end. */
const BUSY_MS_MAX = 100;

/** Never throws for what cannot be written: it stays in the -wal, for the next start. */
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
