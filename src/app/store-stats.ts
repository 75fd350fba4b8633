/** Sizes of the embedded stores on disk, and the generations of the views. */
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { embedded } from "../config/kinds.ts";
import type { StoreFigures } from "../jobs/status/status.ts";
import { bytesOf, generationOf } from "../storage/sqlite/view-figures.ts";
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
  return { bytes: bytesOf(file), generation: name === "log" ? undefined : generationOf(file) };
}
