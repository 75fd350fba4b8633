/**
 * Checks the permissions of a database and its -wal and -shm files. SQLite reports a read-only file
 * only at the first write, and does not name the file that it cannot open.
 */
import { accessSync, constants } from "node:fs";
import { fileInPlace, filesOf } from "./generations.ts";

/** The required access. */
export type Wanted = "read" | "written";

const modes: Readonly<Record<Wanted, number>> = {
  read: constants.R_OK,
  written: constants.R_OK | constants.W_OK,
};

/** Why it does not: EROFS is said of what lies on a file system that takes nothing. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM", "EROFS"]);

/** The first of a database's files that may not be, as a fragment; undefined where all may, or are not there. */
export function refusedFile(path: string, wanted: Wanted): string | undefined {
  // Behind a link SQLite keeps what it has beside the file that the link leads to.
  for (const file of filesOf(fileInPlace(path))) {
    try {
      accessSync(file, modes[wanted]);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (REFUSALS.has(code)) return `"${file}" may not be ${wanted} (${code})`;
    }
  }
  return undefined;
}

/** Hint for a file without the required permissions. */
export const giveFile = "Give it to the user that the service runs as, with mode 600";
