/**
 * A process that runs SQLite's integrity check on the file of one view and ends (check-process.ts).
 */
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../core/errors.ts";
import { reportFinding } from "./check-process.ts";
import { isDamaged, isSqliteError } from "./sqlite-errors.ts";

/** The writer of a view holds no lock longer than it takes to commit. */
const BUSY_MS_MAX = 5_000;

function findDamage(path: string): string | undefined {
  try {
    const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS_MAX });
    try {
      const [verdict] = Object.values(db.prepare("PRAGMA integrity_check(1)").get() ?? {});
      return verdict === "ok" ? undefined : String(verdict);
    } finally {
      db.close();
    }
  } catch (error) {
    if (isSqliteError(error) && isDamaged(error)) return messageOf(error);
    throw error;
  }
}

reportFinding(findDamage);
