/**
 * Whether this process may read and write a database and what SQLite keeps beside it. SQLite opens a
 * file that may only be read all the same, and says so at the first write; of one that may not be
 * opened it does not say which one that is.
 */
import { accessSync, constants } from "node:fs";
import { fileInPlace, filesOf } from "./editions.ts";

/** What a file is wanted for. */
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

/** What to do about it. */
export const giveFile = "Give it to the user that the service runs as, with mode 600";
