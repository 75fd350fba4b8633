/**
 * What a commit that failed has left in the write-ahead log. SQLite has rolled it back and will write
 * over it; but where the process ends before it does, whoever opens the file next finds a transaction
 * there that is whole, and takes it: a write that was refused.
 */
import { closeSync, fstatSync, ftruncateSync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

/** https://sqlite.org/walformat.html: a header, then frames of a header and a page each. */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Returns a function for the only writer of the file, to be called when nothing is under way; readers
 * never look behind what was committed last. Throws where that cannot be cut off.
 */
export function createTailCut(file: string, database: DatabaseSync): () => void {
  const look = database.prepare("PRAGMA wal_checkpoint(NOOP)");
  const pageBytes = Number(database.prepare("PRAGMA page_size").get()?.page_size);
  return () => {
    // Pages of committed transactions; -1 where there is no such log.
    const pages = Number(look.get()?.log);
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
