/** What does not fit together in a SQLite file of which some pages are not as they were written. */
import { DatabaseSync } from "node:sqlite";

const BUSY_MS_MAX = 5_000;

/** A fragment; undefined where all fits. Throws what SQLite throws of a damaged file. */
export function unsoundness(file: string): string | undefined {
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS_MAX });
  try {
    const [verdict] = Object.values(db.prepare("PRAGMA integrity_check(1)").get() ?? {});
    return verdict === "ok" ? undefined : String(verdict);
  } finally {
    db.close();
  }
}
