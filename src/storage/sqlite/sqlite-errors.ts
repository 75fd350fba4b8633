/** Classifies SQLite's errors: damaged files, full disks, rejected values. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";

const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

const SQLITE_TOOBIG = 18;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;

/** Of an index of words whose own tables cannot be read SQLite says no more than that. */
export const damaged = (error: Error): boolean =>
  is(error, [SQLITE_CORRUPT, SQLITE_NOTADB]) ||
  error.message.startsWith("vtable constructor failed");

/** It says something of the values, and nothing of the file. */
export const unfit = (error: Error): boolean =>
  is(error, [SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH]);

/** The low byte of an extended code is the code that it extends. */
const is = (error: Error, codes: readonly number[]): boolean =>
  "errcode" in error && codes.includes(Number(error.errcode) & 0xff);

export const isSqliteError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";

/** Bytes that SQLite needs for the index of a write-ahead log. */
const INDEX_BYTES = 32 * 1024;

/** True if SQLite failed because the file system of the file has no space left. */
export function diskIsFull(error: unknown, path: string): boolean {
  if (!isSqliteError(error)) return false;
  if (is(error, [SQLITE_FULL])) return true;
  return is(error, [SQLITE_IOERR]) && !hasSpace(dirname(path));
}

/** The file system of the directory has space for the smallest write of SQLite. */
export function hasSpace(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize >= INDEX_BYTES;
}
