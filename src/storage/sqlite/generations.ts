/**
 * The files of a view. If no process has the view open, a rebuilt file replaces the old one.
 *
 * While a service runs, readers and the writer have the file open, and SQLite must never combine a
 * file with the write-ahead log of another. The staging generation is therefore built in a file of
 * another name (`<view>.sqlite.1` and `.2` alternate), and a rename of a symbolic link makes it
 * live atomically. The view always opens one generation with its own log.
 */
import {
  closeSync,
  fsyncSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { ownCommand } from "../../lib/command-hint.ts";

/** Earlier releases kept checksums of a view's pages in this file. It is ignored and deleted. */
export const formerSumsOf = (path: string): string => `${path}-sums`;

/** A database and the files that belong to it. */
export const filesOf = (path: string): readonly string[] => [
  path,
  `${path}-journal`,
  `${path}-wal`,
  `${path}-shm`,
  formerSumsOf(path),
];

/** The file of the live generation; the path may be a link to it. */
export function liveFile(path: string): string {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    // Not a link, or missing.
    return path;
  }
}

/** The path of the staging generation. */
export const stagingPath = (path: string): string => {
  const [first, second] = names(path);
  return liveFile(path) === resolve(first) ? second : first;
};

const names = (path: string): readonly [string, string] => [`${path}.1`, `${path}.2`];
const linkOf = (path: string): string => `${path}.link`;

/**
 * Makes the staging generation live, which must be durable and may be open. Returns the files of
 * the old one. Throws `unavailable` on a file system without symbolic links.
 */
export function makeStagingLive(path: string): readonly string[] {
  const next = stagingPath(path);
  const before = liveFile(path);
  try {
    rmSync(linkOf(path), { force: true });
    symlinkSync(basename(next), linkOf(path));
  } catch (cause) {
    throw new CatalogError("unavailable", `the symbolic link "${path}" could not be created`, {
      hint: `${(cause as Error).message}. Stop the service and run: ${ownCommand("rebuild")}`,
      cause,
    });
  }
  renameSync(linkOf(path), path);
  syncToDisk(dirname(path));
  return filesOf(before).filter((file) => file !== path);
}

/** Removes files of an interrupted build or replacement. */
export function removeLeftovers(path: string): void {
  const live = liveFile(path);
  const others = names(path).filter((name) => resolve(name) !== live);
  for (const file of [linkOf(path), ...others.flatMap(filesOf)]) rmSync(file, { force: true });
  if (live === path) return;
  for (const file of filesOf(path)) if (file !== path) rmSync(file, { force: true });
}

/**
 * Renames the file of an unreadable view to `.damaged`, for analysis. Replaces an earlier such
 * file.
 */
export function renameDamaged(path: string): void {
  const damaged = `${path}.damaged`;
  const before = liveFile(path);
  for (const old of filesOf(damaged)) rmSync(old, { force: true });
  renameSync(before, damaged);
  for (const old of [...filesOf(before), ...filesOf(path)]) rmSync(old, { force: true });
  syncToDisk(dirname(path));
}

/**
 * Replaces a closed database by another one. Removes the old one first, because SQLite must never
 * apply its write-ahead log to the new file. After a crash between the two steps, the view is
 * rebuilt.
 */
export function replaceFile(path: string, by: string): void {
  withoutWriteAheadLog(by);
  syncToDisk(by);
  const before = liveFile(path);
  for (const old of [...filesOf(path), ...filesOf(before)]) rmSync(old, { force: true });
  renameSync(by, path);
  syncToDisk(dirname(path));
  removeLeftovers(path);
}

/**
 * Moves the write-ahead log of a closed database into its file, which can then be renamed alone.
 */
function withoutWriteAheadLog(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA journal_mode = DELETE");
  } finally {
    db.close();
  }
}

/** Syncs a file or directory to disk. Throws `unavailable` when that fails. */
export function syncToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } catch (cause) {
    throw new CatalogError(
      "unavailable",
      `"${path}" could not be synced to disk: ${messageOf(cause)}`,
      {
        hint: "Check the disk; the previous generation is unchanged",
        cause,
      },
    );
  } finally {
    closeSync(descriptor);
  }
}
