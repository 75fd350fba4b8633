/** What does not fit together in a SQLite file of which some pages are not as they were written. */
import { DatabaseSync } from "node:sqlite";

const BUSY_MS_MAX = 5_000;

/**
 * A fragment; undefined where all fits. Of what an index of words has in its own tables SQLite knows
 * too little: their pages may not be other ones. Throws what SQLite throws of a damaged file.
 */
export function unsoundness(file: string, pages: readonly number[]): string | undefined {
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS_MAX });
  try {
    const [verdict] = Object.values(db.prepare("PRAGMA integrity_check(1)").get() ?? {});
    if (verdict !== "ok") return String(verdict);
    const owner = db
      .prepare(
        `SELECT made.name AS name FROM dbstat AS stat, sqlite_schema AS made
         WHERE stat.pageno IN (SELECT value FROM json_each(?))
           AND made.sql LIKE 'CREATE VIRTUAL TABLE%' AND stat.name GLOB made.name || '_*'`,
      )
      .get(JSON.stringify(pages));
    return owner && `pages of "${owner.name}" are not as they were written`;
  } finally {
    db.close();
  }
}
