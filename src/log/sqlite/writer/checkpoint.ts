/**
 * Keeps the write-ahead log short: a checkpoint copies it into the file, so that SQLite restarts it.
 * The writer runs it after it has sent its results, when no call waits.
 *
 * A passive checkpoint does not wait for readers, so overlapping readers could prevent a restart for
 * ever. Past a second limit, a checkpoint waits for readers for a short time. If a long reader (a
 * backup, say) still prevents it, the limit grows, so that the waits stay rare.
 */
import type { DatabaseSync } from "node:sqlite";
import { BUSY_MS_MAX } from "../schema.ts";

/** Pages (4 KiB). A short log is overwritten in place, which the disk flushes faster. */
const PASSIVE_PAGES_MIN = 2_000;
const RESTART_PAGES_MIN = 16_000;
const RESTART_WAIT_MS_MAX = 100;

/** Returns a function to be called after commits. Throws what SQLite throws. */
export function createCheckpointer(database: DatabaseSync): () => void {
  const walState = database.prepare("PRAGMA wal_checkpoint(NOOP)");
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
    const state = walState.get();
    const pages = Number(state?.log);
    if (pages >= restartAt) tryRestart(pages);
    else if (pages - Number(state?.checkpointed) >= PASSIVE_PAGES_MIN) passive.get();
  };
}
