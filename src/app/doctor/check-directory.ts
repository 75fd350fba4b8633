/**
 * Checks of the data directory for `annals check`: finds what would make a start fail. A service may run on it: files
 * are opened for reading only.
 */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../../config/config.ts";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { endsBefore } from "../../projector/start-checkpoints.ts";
import {
  inaccessibleFile,
  permissionHint,
  type Wanted,
} from "../../storage/sqlite/inaccessible-file.ts";
import { findPosition } from "../../storage/sqlite/view-tables.ts";
import { openLogReader, requireWholeLog } from "../open-log.ts";
import { dataFlag, fileOf, sharedLog, type ViewName, viewNames } from "../store-locations.ts";

type Store = "log" | ViewName;

/** `own`: the stores in the directory. */
export async function checkDirectory(
  config: Config,
  own: readonly Store[],
): Promise<{ readonly version: string; readonly findings: readonly string[] }> {
  const place = existsSync(config.data) ? config.data : dirname(config.data);
  try {
    accessSync(place, constants.R_OK | constants.W_OK);
  } catch (error) {
    return { version: "", findings: [`It cannot be written: ${messageOf(error)}`] };
  }
  if (!statSync(place).isDirectory()) {
    return { version: "", findings: [`"${place}" is not a directory`] };
  }
  const inaccessible = inaccessibleFiles(config, own);
  // Files that this user may not use cannot be checked further.
  if (inaccessible.length > 0 || sharedLog(config)) return { version: "", findings: inaccessible };
  return { version: "", findings: await checkAhead(config, own) };
}

function inaccessibleFiles(config: Config, own: readonly Store[]): readonly string[] {
  const wanted: readonly (readonly [string, Wanted])[] = [
    ...own.map((store) => [fileOf(config, store), "written"] as const),
    ...otherFiles(config),
  ];
  return wanted.flatMap(([file, use]) => {
    const inaccessible = inaccessibleFile(file, use);
    return inaccessible === undefined ? [] : [`${inaccessible}. ${permissionHint}`];
  });
}

/** Files other than the stores that a start uses. */
function otherFiles(config: Config): readonly (readonly [string, Wanted])[] {
  const { data, operatorTokenFile, metricsTokenFile, systemClientFile } = config;
  const { signingKeyFile, secretKeyFile } = config;
  const at = (name: string) => join(data, name);
  return [
    [at("lock.sqlite"), "written"],
    [at("lock.pid"), "written"],
    [at("verify.sqlite"), "written"],
    [at("node.id"), "read"],
    [operatorTokenFile || at("operator.token"), "read"],
    [signingKeyFile || at("signing.key"), "read"],
    [secretKeyFile || at("secret.key"), "read"],
    [systemClientFile || at("system.client"), "read"],
    ...(metricsTokenFile === "" ? [] : [[metricsTokenFile, "read"] as const]),
  ];
}

/** Reads the views before the log: while a service runs, only the log may then be ahead. */
async function checkAhead(config: Config, own: readonly Store[]): Promise<readonly string[]> {
  const places = viewNames
    .filter((view) => own.includes(view))
    .flatMap((view) => {
      const position = findPosition(fileOf(config, view));
      return position === undefined ? [] : [{ view, position }];
    });
  try {
    requireWholeLog(config);
    const head = await headOf(config);
    const ahead = places.find(({ position }) => position > head);
    if (ahead !== undefined) return [endsBefore(ahead, head, dataFlag(config)).text];
    await checkLogIndexes(config);
    return [];
  } catch (error) {
    if (error instanceof CatalogError) return [error.text];
    throw error;
  }
}

/** Throws CatalogError if the log's indexes do not match its tables. */
async function checkLogIndexes(config: Config): Promise<void> {
  if (!existsSync(fileOf(config, "log"))) return;
  const log = await openLogReader(config);
  try {
    await log.checkIndexes?.();
  } finally {
    await log.close();
  }
}

/** START if there is no log yet: a start creates it. */
async function headOf(config: Config): Promise<Position> {
  if (!existsSync(fileOf(config, "log"))) return START;
  const log = await openLogReader(config);
  try {
    return await log.head();
  } finally {
    await log.close();
  }
}
