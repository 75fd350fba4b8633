/** Size and generation of a SQLite view, for monitoring, read while others write. */
import { realpathSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Bytes on disk, with those of its write-ahead log; undefined while there is no file. */
export function bytesOf(path: string): number | undefined {
  try {
    // The file may be a link to the live generation, which has its write-ahead log beside it.
    const file = realpathSync(path);
    const ahead = statSync(`${file}-wal`, { throwIfNoEntry: false });
    return statSync(file).size + (ahead?.size ?? 0);
  } catch {
    return undefined;
  }
}

/** The generation of a view; undefined for an unreadable file, which health checks report. */
export function generationOf(path: string): number | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    const row = database.prepare("SELECT generation FROM view").get();
    return row === undefined ? undefined : Number(row.generation);
  } catch {
    return undefined;
  } finally {
    database?.close();
  }
}
