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

/** True if the file is damaged. For an unreadable full-text index, SQLite only reports SQLITE_ERROR. */
export const isDamaged = (error: Error): boolean =>
  hasCode(error, [SQLITE_CORRUPT, SQLITE_NOTADB]) ||
  error.message.startsWith("vtable constructor failed");

/** True if the values cause the error, not the file. */
export const isInvalidValue = (error: Error): boolean =>
  hasCode(error, [SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH]);

/** Compares the primary code, which is the low byte of an extended code. */
const hasCode = (error: Error, codes: readonly number[]): boolean =>
  "errcode" in error && codes.includes(Number(error.errcode) & 0xff);

export const isSqliteError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";

/** Bytes that SQLite needs for the index of a write-ahead log. */
const INDEX_BYTES = 32 * 1024;

/** True if SQLite failed because the file system of the file has no space left. */
export function diskIsFull(error: unknown, path: string): boolean {
  if (!isSqliteError(error)) return false;
  if (hasCode(error, [SQLITE_FULL])) return true;
  return hasCode(error, [SQLITE_IOERR]) && !hasSpace(dirname(path));
}

/** True if the file system of the directory has space for the smallest write of SQLite. */
export function hasSpace(directory: string): boolean {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize >= INDEX_BYTES;
}
