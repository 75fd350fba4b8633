/**
 * Detects that another file has replaced the file of an open log. The process still has the old file,
 * which is deleted: its records would be lost at the end of the process.
 */
import { statSync } from "node:fs";
import { CatalogError } from "../../core/errors.ts";
import { ownCommand } from "../../lib/command-hint.ts";

/** Returns a function that returns the error once the path no longer names the file that it names now. */
export function watchIdentity(file: string): () => CatalogError | undefined {
  const opened = identityOf(file);
  return () =>
    identityOf(file) === opened
      ? undefined
      : new CatalogError("unavailable", `the file "${file}" was replaced or deleted`, {
          hint: RECOVERY,
        });
}

/** Undefined for a missing file. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

const RECOVERY = `Stop the service, and put the newer log back; or, if the file that is there is the right one, delete "log.sqlite-wal" and "log.sqlite-shm" and run: ${ownCommand("rebuild")}`;
