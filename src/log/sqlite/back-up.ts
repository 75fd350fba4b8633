/** Copies the file of a log with SQLite's online backup, also while another process appends to it. */
import { backup } from "node:sqlite";
import { CatalogError, messageOf } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { createIndexState } from "./indexes/index-state.ts";
import { createLogReader } from "./log-reader.ts";
import { openForReading } from "./schema.ts";

/** Pages of a step, 8 MiB. Between steps, the thread handles signals. */
const STEP_PAGES = 2_000;

/**
 * Resolves with the last position of the copy. One read transaction covers all steps, so the copy is the log at one
 * point, and appends do not restart it. The write-ahead log grows by these appends until the copy is complete.
 *
 * `onProgress` gets numbers of pages; if it throws, the copy ends with that error. Throws CatalogError `unavailable` if
 * a file cannot be read or written. The target is incomplete after an error.
 */
export async function backUpLog(
  file: string,
  target: string,
  onProgress: (done: number, total: number) => void,
): Promise<Position> {
  const database = openForReading(file, { create: false });
  try {
    database.exec("BEGIN");
    // The first read of a transaction fixes its snapshot.
    const head = createLogReader(database, 1, createIndexState(file)).head();
    let stopped: unknown;
    const progress = (pages: { totalPages: number; remainingPages: number }): void => {
      try {
        onProgress(pages.totalPages - pages.remainingPages, pages.totalPages);
      } catch (error) {
        stopped = error;
        throw error;
      }
    };
    try {
      await backup(database, target, { rate: STEP_PAGES, progress });
    } catch (cause) {
      if (stopped !== undefined) throw stopped;
      throw new CatalogError("unavailable", `cannot copy the log "${file}": ${messageOf(cause)}`, {
        hint: "Check that the target has enough free space and is writable",
        cause,
      });
    }
    return head;
  } finally {
    database.close();
  }
}
