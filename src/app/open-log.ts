/** Opens the log: the embedded one, or that of a server. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { backUpLog as backUpLogFile } from "../log/sqlite/back-up.ts";
import { repairIndexes as repairLogFile } from "../log/sqlite/indexes/repair-indexes.ts";
import { type DirectoryLock, lockDirectory } from "../log/sqlite/lock.ts";
import { checkWriteAheadLog } from "../log/sqlite/schema.ts";
import { openSqliteChangeLog } from "../log/sqlite/sqlite-change-log.ts";
import type { Logger } from "../telemetry/logger.ts";
import { fileOf, sharedLog } from "./store-locations.ts";

/** Locks the data directory, which is created if needed. Throws `unavailable` if it is locked. */
export const lockData = (config: Pick<Config, "data">): DirectoryLock => lockDirectory(config.data);

/** Throws `invalid` if the data directory has no log, or if this user may not read it. */
export function requireLog(config: Pick<Config, "data" | "log">): void {
  if (sharedLog(config)) return;
  const file = fileOf(config, "log");
  try {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new CatalogError("invalid", `"${file}" may not be read (${code})`, {
      hint: "Run this as the user that the data directory belongs to, or name another one with --data",
      cause,
    });
  }
  throw new CatalogError("invalid", `there is no log in "${config.data}"`, {
    hint: "Name the data directory of a service with --data",
  });
}

/** Throws `invalid` for an embedded log whose opening by SQLite would lose records. */
export function requireWholeLog(config: Pick<Config, "data" | "log">): void {
  if (!sharedLog(config)) checkWriteAheadLog(fileOf(config, "log"));
}

/** Rebuilds the indexes of the log in the data directory; returns the number of its records. */
export const repairIndexes = (config: Pick<Config, "data">): number =>
  repairLogFile(fileOf(config, "log"));

/** Copies the log of a data directory into another directory (back-up.ts). */
export const backUpLog = (
  config: Pick<Config, "data">,
  to: string,
  onProgress: (done: number, total: number) => void,
): Promise<Position> =>
  backUpLogFile(fileOf(config, "log"), fileOf({ data: to }, "log"), onProgress);

/** Opens the log for appending; the directory must exist. */
export async function openLog(
  config: Pick<Config, "data" | "log">,
  options: { readonly logger?: Logger } = {},
): Promise<ChangeLog> {
  if (sharedLog(config)) return openServerLog(config, "streams.sqlite", options);
  return openSqliteChangeLog({ file: fileOf(config, "log"), ...options });
}

/** Opens the log for reading, while another thread or process writes to it. */
export async function openLogReader(
  config: Pick<Config, "data" | "log"> & { readonly indexState?: SharedArrayBuffer | undefined },
): Promise<ChangeLog> {
  if (sharedLog(config))
    return openServerLog(config, "streams.projector.sqlite", { readOnly: true });
  const { indexState } = config;
  return openSqliteChangeLog({ file: fileOf(config, "log"), readOnly: true, indexState });
}

/** Adapters for servers are loaded when they are used, so that embedded catalogs start faster. */
async function openServerLog(
  config: Pick<Config, "data" | "log">,
  names: string,
  options: {
    readonly readOnly?: boolean;
    readonly logger?: Logger;
  },
): Promise<ChangeLog> {
  const { openEventStoreChangeLog } = await import("../log/eventstoredb/eventstore-change-log.ts");
  const namesFile = join(config.data, names);
  return openEventStoreChangeLog({ connection: config.log, namesFile, ...options });
}
