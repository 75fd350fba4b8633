/**
 * Keeps the write-ahead log short: copies it into the file when it has grown, so that SQLite
 * begins it anew. Called by the writer after it has answered, when nobody waits for it.
 *
 * A passive checkpoint waits for nobody, but readers that come and go at the wrong moments could
 * keep the log from ever beginning anew. Past a second mark one waits for them, a little; a reader
 * that stays (a backup, say) moves the mark on, so that it costs little however long it stays.
 */
import type { DatabaseSync } from "node:sqlite";
import { BUSY_MS_MAX } from "./schema.ts";

/** Pages (4 KiB). A short log is overwritten in place, which the disk flushes faster. */
const PASSIVE_PAGES_MIN = 2_000;
const RESTART_PAGES_MIN = 16_000;
const RESTART_WAIT_MS_MAX = 100;

/** Returns a function to be called after commits. Throws what SQLite throws. */
export function createCheckpointer(database: DatabaseSync): () => void {
  const look = database.prepare("PRAGMA wal_checkpoint(NOOP)");
  const passive = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  const restart = database.prepare("PRAGMA wal_checkpoint(RESTART)");
  let restartAt = RESTART_PAGES_MIN;

  function tryRestart(pages: number): void {
    database.exec(`PRAGMA busy_timeout = ${RESTART_WAIT_MS_MAX}`);
    try {
      const hindered = restart.get()?.busy !== 0;
      restartAt = hindered ? pages + RESTART_PAGES_MIN : RESTART_PAGES_MIN;
    } finally {
      database.exec(`PRAGMA busy_timeout = ${BUSY_MS_MAX}`);
    }
  }

  return () => {
    const state = look.get();
    const pages = Number(state?.log);
    if (pages >= restartAt) tryRestart(pages);
    else if (pages - Number(state?.checkpointed) >= PASSIVE_PAGES_MIN) passive.get();
  };
}
