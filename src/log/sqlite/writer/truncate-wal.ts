/**
 * Truncates the remainder of a failed commit from the write-ahead log. SQLite rolls the commit back and
 * overwrites it later. But if the process ends before that, the next process finds a complete
 * transaction in the file and applies it: a rejected write.
 */
import { closeSync, fstatSync, ftruncateSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** https://sqlite.org/walformat.html: a header, then frames of a header and a page each. */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Returns a function for the only writer of the file. Call it between transactions; readers never read
 * beyond the last commit. Throws if the file cannot be truncated.
 */
export function createTailCut(file: string, database: DatabaseSync): () => void {
  const walState = database.prepare("PRAGMA wal_checkpoint(NOOP)");
  const pageBytes = Number(database.prepare("PRAGMA page_size").get()?.page_size);
  return () => {
    // Pages of committed transactions; -1 without a write-ahead log.
    const pages = Number(walState.get()?.log);
    if (!(pages >= 0)) return;
    const end = HEADER_BYTES + pages * (FRAME_HEADER_BYTES + pageBytes);
    const wal = openSync(`${file}-wal`, "r+");
    try {
      if (fstatSync(wal).size > end) ftruncateSync(wal, end);
    } finally {
      closeSync(wal);
    }
  };
}
