/**
 * Checks that the indexes of the log match its tables: in this thread if the file is small, else in a process of its
 * own.
 */
import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CatalogError, messageOf } from "../../../core/errors.ts";
import { checkInProcess } from "../../../storage/sqlite/check-process.ts";
import { differingParts } from "../../../storage/sqlite/view-tables.ts";
import type { CheckOptions } from "../../change-log.ts";
import { BUSY_MS_MAX, hasChecksums, isCorruption, TABLES } from "../schema.ts";
import type { IndexState } from "./index-state.ts";

interface IndexChecks {
  /** ChangeLog.checkIndexes. */
  check(options?: CheckOptions): Promise<void>;
  /** Ends a running check. */
  close(): void;
}

/**
 * A file of up to this size is checked in the calling thread, within some tens of milliseconds. A larger one is
 * checked in a process of its own: SQLite cannot be interrupted from JavaScript, so a thread would delay the end of
 * the service.
 */
const DIRECT_BYTES_MAX = 4 * 1024 * 1024;

export function createIndexChecks(
  file: string,
  state: IndexState,
  directBytesMax = DIRECT_BYTES_MAX,
): IndexChecks {
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  let checkedAt: number | undefined;

  async function run(): Promise<void> {
    const finding = await findDamage();
    checkedAt = performance.now();
    if (finding !== undefined) throw state.mark(finding);
    state.setSound();
  }

  async function findDamage(): Promise<string | undefined> {
    if (bytesOf(file) <= directBytesMax) return findIndexDamage(file);
    // Until the names are checked, each read or append of a new stream scans the names of all streams.
    const finding = await findInProcess([file, NAMES], closing.signal);
    if (finding !== undefined) return finding;
    state.setSoundNames();
    return findInProcess([file], closing.signal);
  }

  return {
    async check({ maxAgeMs = 0 } = {}) {
      const isRecent = checkedAt !== undefined && performance.now() - checkedAt < maxAgeMs;
      if (isRecent) return state.requireUndamaged();
      running ??= run().finally(() => {
        running = undefined;
      });
      return running;
    },
    close: () => closing.abort(),
  };
}

function bytesOf(file: string): number {
  return [file, `${file}-wal`].reduce(
    (sum, path) => sum + (existsSync(path) ? statSync(path).size : 0),
    0,
  );
}

/** The table of the streams' names. */
const NAMES = "stream";

/**
 * Compares the indexes with the tables, and the file's structure with SQLite's rules. Returns the first difference, as
 * a fragment; undefined when there is none. Reads the whole file, or one table and its indexes (some 100 MB a second).
 * Throws CatalogError `unavailable` when the file cannot be read.
 */
export function findIndexDamage(file: string, table?: string): string | undefined {
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS_MAX });
    try {
      return findDifference(database, table);
    } finally {
      database.close();
    }
  } catch (cause) {
    if (isCorruption(cause)) return messageOf(cause);
    throw new CatalogError(
      "unavailable",
      `cannot check the indexes of the log "${file}": ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** The same through an open connection. Throws errors of SQLite. */
export function findDifference(database: DatabaseSync, table?: string): string | undefined {
  // The oldest logs have no checksums until they are opened for writing.
  const [unlike] = hasChecksums(database) ? differingParts(database, { tables: TABLES }) : [];
  if (unlike !== undefined) return unlike;
  // The argument is a table, or the number of findings.
  const check = database.prepare(`PRAGMA integrity_check(${table ?? 1})`);
  const [verdict] = Object.values(check.get() ?? {});
  return verdict === "ok" ? undefined : String(verdict).replace(HEADING, "");
}

/** Heading of SQLite's messages about the structure of a file. */
const HEADING = /^\*\*\* in database main \*\*\*\n/;

async function findInProcess(
  args: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const module = new URL("./index-check-process.ts", import.meta.url);
    return await checkInProcess(module, args, signal);
  } catch (error) {
    const message = `cannot check the indexes of the log "${args[0]}": ${messageOf(error)}`;
    throw new CatalogError("unavailable", message);
  }
}
