/**
 * A backup of the data directory: its log, its keys and its id. Views are left out, because a start builds them from
 * the log.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { ProcessOperations } from "../../cli/operations.ts";
import type { Config } from "../../config/config.ts";
import { embedded } from "../../config/kinds.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { backUpLog, openLogReader, requireLog, requireWholeLog } from "../open-log.ts";
import { fileOf, sharedLog } from "../store-locations.ts";

type Options = Parameters<ProcessOperations["backup"]>[1];

/** Small files of a data directory that nothing can rebuild. A directory lacks those that are configured elsewhere. */
const keptFiles = ["operator.token", "system.client", "signing.key", "secret.key", "node.id"];
const VERIFY_PAGE = 1_000;

/** Operations.backup. */
export const backUp: ProcessOperations["backup"] = async (config, options) => {
  const target = resolve(options.to);
  requireSource(config);
  requireTarget(target);
  // Beside the target, so that the rename at the end is atomic.
  const staging = mkdtempSync(`${target}.incomplete-`);
  try {
    for (const name of keptFiles) {
      const file = join(config.data, name);
      if (existsSync(file)) copyFileSync(file, join(staging, name));
    }
    const position = await copyLog(config, staging, options);
    await verifyCopy(staging, position, options);
    const { size: bytes } = statSync(fileOf({ data: staging }, "log"));
    for (const name of readdirSync(staging)) sync(join(staging, name));
    sync(staging);
    // rename() would replace an empty directory.
    requireTarget(target);
    renameSync(staging, target);
    sync(dirname(target));
    return { to: target, position, bytes };
  } catch (error) {
    rmSync(staging, { recursive: true, force: true, maxRetries: 3 });
    throw error;
  }
};

function requireSource(config: Config): void {
  if (sharedLog(config)) {
    throw new CatalogError(
      "invalid",
      "backup copies only an embedded log, and --log names a server",
      {
        hint: "Back up the server itself, as docs/backup.md describes, or copy its log with copy-log",
      },
    );
  }
  requireLog(config);
  requireWholeLog(config);
}

function requireTarget(target: string): void {
  if (existsSync(target)) {
    throw new CatalogError("invalid", `"${target}" already exists`, {
      hint: "Name a directory with --to that does not exist yet",
    });
  }
  const parent = dirname(target);
  if (!statSync(parent, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CatalogError("invalid", `"${parent}" is not a directory`, {
      hint: "Create it, or name another directory with --to",
    });
  }
}

function copyLog(
  config: Config,
  staging: string,
  { signal, onProgress }: Options,
): Promise<Position> {
  return backUpLog(config, staging, (done, total) => {
    onProgress({ step: "copying", done, total });
    signal?.throwIfAborted();
  });
}

/** Throws CatalogError if the copy is damaged: checks its structure, its indexes, and the checksum of every record. */
async function verifyCopy(
  data: string,
  position: Position,
  { signal, onProgress }: Options,
): Promise<void> {
  signal?.throwIfAborted();
  const log = await openLogReader({ data, log: embedded });
  // Ends a check of the indexes in progress.
  const close = (): void => void log.close();
  signal?.addEventListener("abort", close, { once: true });
  try {
    onProgress({ step: "verifying", done: 0, total: position });
    await log.checkIndexes?.();
    let at: Position = START;
    while (at < position) {
      const last = (await log.readAll(at, { limit: VERIFY_PAGE })).at(-1);
      if (last === undefined) break;
      at = last.position;
      onProgress({ step: "verifying", done: at, total: position });
      // Lets signals arrive.
      await setImmediate();
      signal?.throwIfAborted();
    }
    if (at !== position) {
      throw new CatalogError(
        "unavailable",
        `the copy of the log ends at position ${at} of ${position}`,
      );
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", close);
    await log.close();
  }
  // Readers create them. The copy has nothing in them.
  for (const end of ["-wal", "-shm"]) rmSync(`${fileOf({ data }, "log")}${end}`, { force: true });
}

/** Makes the content of a file, or the names in a directory, durable. */
function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
