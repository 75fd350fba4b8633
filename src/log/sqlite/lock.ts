/**
 * One process per data directory. The lock is an exclusive lock on a small SQLite file. The operating
 * system releases it when the process ends, so a crash needs no cleanup.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { inaccessibleFile, permissionHint } from "../../storage/sqlite/inaccessible-file.ts";

export interface DirectoryLock {
  release(): void;
}

/**
 * Creates the directory if necessary. Throws `unavailable` if another process holds the lock,
 * `invalid` if the directory cannot be created or used.
 */
export function lockDirectory(directory: string): DirectoryLock {
  make(directory);
  requireWritable(directory);
  const file = join(directory, "lock.sqlite");
  const holder = join(directory, "lock.pid");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    const pages = database.prepare("PRAGMA page_count").get()?.page_count;
    if (pages === 0) database.exec("PRAGMA user_version = 1");
    // The transaction holds the lock until the connection closes. It writes nothing, so that a full disk
    // does not prevent it.
    database.exec("BEGIN EXCLUSIVE");
    writeHolder(holder);
  } catch (cause) {
    database?.close();
    throw lockError(directory, { file, holder }, cause);
  }
  return { release: () => database.close() };
}

function make(directory: string): void {
  try {
    makeWithParents(resolve(directory));
  } catch (cause) {
    throw new CatalogError("invalid", `cannot create the data directory "${directory}"`, {
      hint: `${String((cause as Error).message)}. Name another one with --data`,
      cause,
    });
  }
}

/** Checks permissions first: an existing directory is not written until views open, with worse errors. */
function requireWritable(directory: string): void {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? messageOf(cause);
    const what = `cannot use the data directory "${directory}": it may not be read and written (${code})`;
    throw new CatalogError("invalid", what, {
      hint: code === "EROFS" ? anotherPlace : giveDirectory,
      cause,
    });
  }
}

/** Writes the pid, only for messages. It is missing if the disk is full. */
function writeHolder(file: string): void {
  try {
    writeFileSync(file, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

const giveDirectory =
  "Give it to the user that the service runs as, with mode 700, or name another one with --data";

/** Not mkdir's `recursive`, which never returns in directories such as /proc. */
function makeWithParents(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
  if (!existsSync(dirname(directory))) makeWithParents(dirname(directory));
  mkdirSync(directory, { mode: 0o700 });
}

/** SQLITE_BUSY and SQLITE_LOCKED: another process holds the lock. */
const HELD = new Set([5, 6]);

function lockError(
  directory: string,
  { file, holder }: { readonly file: string; readonly holder: string },
  cause: unknown,
): CatalogError {
  const code = (cause as { errcode?: number }).errcode ?? 0;
  if (!HELD.has(code & 0xff)) {
    const inaccessible = inaccessibleFile(file, "written") ?? inaccessibleFile(holder, "written");
    if (inaccessible !== undefined) {
      return new CatalogError(
        "invalid",
        `cannot use the data directory "${directory}": ${inaccessible}`,
        {
          // On a read-only file system, permissions do not help.
          hint: inaccessible.includes("EROFS")
            ? anotherPlace
            : `${permissionHint}, or run this as its owner`,
          cause,
        },
      );
    }
    return new CatalogError("invalid", `cannot use the data directory "${directory}"`, {
      hint: `${String((cause as Error).message)}. ${anotherPlace}`,
      cause,
    });
  }
  return new CatalogError(
    "unavailable",
    `the data directory "${directory}" is in use by another process${pidOf(holder)}`,
    { hint: "Stop that one first, or name another directory with --data" },
  );
}

const anotherPlace = "Check that it may be written, or name another one with --data";

function pidOf(holder: string): string {
  try {
    return ` (pid ${readFileSync(holder, "utf8").trim()})`;
  } catch {
    return "";
  }
}
