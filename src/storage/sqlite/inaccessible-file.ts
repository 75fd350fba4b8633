/**
 * Checks the permissions of a database and its -wal and -shm files. SQLite reports a read-only file
 * only at the first write, and does not name the file that it cannot open.
 */
import { accessSync, constants } from "node:fs";
import { filesOf, liveFile } from "./generations.ts";

/** The required access. */
export type Wanted = "read" | "written";

const modes: Readonly<Record<Wanted, number>> = {
  read: constants.R_OK,
  written: constants.R_OK | constants.W_OK,
};

/** Errors of missing permissions; EROFS is that of a read-only file system. */
const DENIED: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM", "EROFS"]);

/** The first file of a database without the required access, as a fragment; undefined if none. */
export function inaccessibleFile(path: string, wanted: Wanted): string | undefined {
  // SQLite creates -wal and -shm beside the target of a link.
  for (const file of filesOf(liveFile(path))) {
    try {
      accessSync(file, modes[wanted]);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (DENIED.has(code)) return `"${file}" may not be ${wanted} (${code})`;
    }
  }
  return undefined;
}

/** Hint for a file without the required permissions. */
export const permissionHint = "Give it to the user that the service runs as, with mode 600";
