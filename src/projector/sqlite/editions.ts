/**
 * The files of a view. If no process has the view open, a rebuilt file replaces the old one.
 *
 * While a service runs, readers and the writer have the file open, and SQLite must never combine a
 * file with the write-ahead log of another. The staging generation is therefore built in a file of
 * another name (`<view>.sqlite.1` and `.2` alternate), and a rename of a symbolic link makes it live
 * atomically. The view always opens one generation with its own log.
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
import { CatalogError, saidBy } from "../../core/errors.ts";
import { ownCommand } from "../../core/own-command.ts";

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

/** The file that is in place under a path, which may be a link to it. */
export function fileInPlace(path: string): string {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    // No link, or nothing.
    return path;
  }
}

/** Where the edition lies that is grown beside the one in place. */
export const nextEdition = (path: string): string => {
  const [first, second] = names(path);
  return fileInPlace(path) === resolve(first) ? second : first;
};

const names = (path: string): readonly [string, string] => [`${path}.1`, `${path}.2`];
const linkOf = (path: string): string => `${path}.link`;

/**
 * Puts the next edition in place, which must be durable and stay open or closed as it is; gives back
 * the files that nobody needs then. Throws `unavailable` where a file system has no links.
 */
export function putNextInPlace(path: string): readonly string[] {
  const next = nextEdition(path);
  const before = fileInPlace(path);
  try {
    rmSync(linkOf(path), { force: true });
    symlinkSync(basename(next), linkOf(path));
  } catch (cause) {
    throw new CatalogError("unavailable", `no link could be made at "${path}"`, {
      hint: `${(cause as Error).message}. Stop the service and run: ${ownCommand("rebuild")}`,
      cause,
    });
  }
  renameSync(linkOf(path), path);
  synchronise(dirname(path));
  return filesOf(before).filter((file) => file !== path);
}

/** Removes what an end in the middle of growing or of putting in place has left. */
export function removeLeftovers(path: string): void {
  const inPlace = fileInPlace(path);
  const others = names(path).filter((name) => resolve(name) !== inPlace);
  for (const file of [linkOf(path), ...others.flatMap(filesOf)]) rmSync(file, { force: true });
  if (inPlace === path) return;
  for (const file of filesOf(path)) if (file !== path) rmSync(file, { force: true });
}

/**
 * Renames the file of an unreadable view to `.damaged`, for analysis. Replaces an earlier such file.
 */
export function setAside(path: string): void {
  const aside = `${path}.damaged`;
  const before = fileInPlace(path);
  for (const old of filesOf(aside)) rmSync(old, { force: true });
  renameSync(before, aside);
  for (const old of [...filesOf(before), ...filesOf(path)]) rmSync(old, { force: true });
  synchronise(dirname(path));
}

/**
 * Replaces a database that is not open by another. The old one is removed first, because its
 * write-ahead log must never meet the new file. After a crash in between the view is rebuilt.
 */
export function replace(path: string, by: string): void {
  withoutWriteAheadLog(by);
  synchronise(by);
  const before = fileInPlace(path);
  for (const old of [...filesOf(path), ...filesOf(before)]) rmSync(old, { force: true });
  renameSync(by, path);
  synchronise(dirname(path));
  removeLeftovers(path);
}

/** All of a database that nobody has open is in its file, which is renamed without its other files. */
function withoutWriteAheadLog(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec("PRAGMA journal_mode = DELETE");
  } finally {
    db.close();
  }
}

/** Syncs a file or directory to disk. Throws `unavailable` when that fails. */
export function synchronise(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } catch (cause) {
    throw new CatalogError("unavailable", `"${path}" could not be put on disk: ${saidBy(cause)}`, {
      hint: "Look whether the disk is well; what was there before is unchanged",
      cause,
    });
  } finally {
    closeSync(descriptor);
  }
}
