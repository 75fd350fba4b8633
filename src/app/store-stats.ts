/** Sizes of the embedded stores on disk, and the generations of the views. */
import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { embedded } from "../config/kinds.ts";
import type { StoreFigures } from "../jobs/status/status.ts";
import { findGeneration } from "../storage/sqlite/view-tables.ts";
import { viewNames } from "./store-locations.ts";

const stores = ["log", ...viewNames] as const;

/** Figures of the log or of a view; undefined for stores in servers. */
export function storeFigures(
  config: Pick<Config, "data" | (typeof stores)[number]>,
  store: string,
): StoreFigures {
  const name = stores.find((one) => one === store);
  if (name === undefined || config[name] !== embedded) return {};
  const file = join(config.data, `${name}.sqlite`);
  return { bytes: bytesOf(file), generation: name === "log" ? undefined : findGeneration(file, 0) };
}

/** Bytes of a database with its write-ahead log; undefined while there is no file. */
function bytesOf(path: string): number | undefined {
  try {
    // The file may be a link to the live generation, which has its write-ahead log beside it.
    const file = realpathSync(path);
    const ahead = statSync(`${file}-wal`, { throwIfNoEntry: false });
    return statSync(file).size + (ahead?.size ?? 0);
  } catch {
    return undefined;
  }
}
