/**
 * Keeps the write-ahead log short: copies it into the file when it has grown, so that SQLite
 * begins it anew. Called by the writer after it has answered, when nobody waits for it.
 *
 * A passive checkpoint waits for nobody, but readers that come and go at the wrong moments could
 * keep the log from ever beginning anew. Past the second mark one waits for them to finish.
 */
import type { DatabaseSync } from "node:sqlite";

/** Pages (4 KiB). A short log is overwritten in place, which the disk flushes faster. */
const PASSIVE_PAGES_MIN = 2_000;
const RESTART_PAGES_MIN = 16_000;

/** Returns a function to be called after commits. Throws what SQLite throws. */
export function createCheckpointer(database: DatabaseSync): () => void {
  const look = database.prepare("PRAGMA wal_checkpoint(NOOP)");
  const passive = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  const restart = database.prepare("PRAGMA wal_checkpoint(RESTART)");
  return () => {
    const state = look.get();
    const pages = Number(state?.log);
    if (pages >= RESTART_PAGES_MIN) restart.get();
    else if (pages - Number(state?.checkpointed) >= PASSIVE_PAGES_MIN) passive.get();
  };
}
