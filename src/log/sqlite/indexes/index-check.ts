/**
 * Checks that the indexes of the log match its tables: in this thread if the file is small, else in a process of its
 * own.
 */
import { existsSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { CatalogError, saidBy } from "../../../core/errors.ts";
import { checkInProcess } from "../../../storage/sqlite/check-process.ts";
import { differingParts } from "../../../storage/sqlite/view-tables.ts";
import type { CheckOptions } from "../../change-log.ts";
import { BUSY_MS_MAX, hasChecksums, isCorruption, TABLES } from "../schema.ts";
import type { IndexState } from "./index-state.ts";

export interface IndexChecks {
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
    const finding =
      bytesOf(file) <= directBytesMax
        ? findIndexDamage(file)
        : await findInProcess(file, closing.signal);
    checkedAt = performance.now();
    if (finding !== undefined) throw state.mark(finding);
    state.setSound();
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

/**
 * Compares the indexes with the tables, and the file's structure with SQLite's rules. Returns the first difference, as
 * a fragment; undefined when there is none. Reads the whole file (some 100 MB a second). Throws CatalogError
 * `unavailable` when the file cannot be read.
 */
export function findIndexDamage(file: string): string | undefined {
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS_MAX });
    try {
      return findDifference(database);
    } finally {
      database.close();
    }
  } catch (cause) {
    if (isCorruption(cause)) return saidBy(cause);
    throw new CatalogError(
      "unavailable",
      `cannot check the indexes of the log "${file}": ${saidBy(cause)}`,
      { cause },
    );
  }
}

/** The same through an open connection. Throws errors of SQLite. */
export function findDifference(database: DatabaseSync): string | undefined {
  // The oldest logs have no checksums until they are opened for writing.
  const [unlike] = hasChecksums(database) ? differingParts(database, { tables: TABLES }) : [];
  if (unlike !== undefined) return unlike;
  const [verdict] = Object.values(database.prepare("PRAGMA integrity_check(1)").get() ?? {});
  return verdict === "ok" ? undefined : String(verdict).replace(HEADING, "");
}

/** Heading of SQLite's messages about the structure of a file. */
const HEADING = /^\*\*\* in database main \*\*\*\n/;

async function findInProcess(file: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const module = new URL("./index-check-process.ts", import.meta.url);
    return await checkInProcess(module, file, signal);
  } catch (error) {
    const message = `cannot check the indexes of the log "${file}": ${saidBy(error)}`;
    throw new CatalogError("unavailable", message);
  }
}
