/** Where the stores are, as the settings say. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { embedded } from "../config/kinds.ts";
import { defaultOf } from "../config/settings.ts";
import { CatalogError } from "../core/errors.ts";
import type { ServerPlace } from "../storage/view-origin.ts";

/** The settings that say where the stores are. */
export const placeKeys = [
  "data",
  "log",
  "aspects",
  "timeseries",
  "graph",
  "search",
  "kafka",
  "roles",
  "storeName",
  "storeCertificatesFile",
  "onModelChange",
  "searchSecondsMax",
] as const satisfies readonly (keyof Config)[];

export type Places = Pick<Config, (typeof placeKeys)[number]>;

/** The projector feeds them in this order. */
export const viewNames = ["aspects", "timeseries", "graph", "search"] as const;
export type ViewName = (typeof viewNames)[number];

/** Views that are made of those of aspects and timeseries. */
export const foldedViews: ReadonlySet<ViewName> = new Set(["search"]);

export const fileOf = (config: Pick<Config, "data">, name: "log" | ViewName): string =>
  join(config.data, `${name}.sqlite`);

/** The flag that makes a command in a message use the same data directory; empty for the default one. */
export function dataFlag({ data }: Pick<Config, "data">): string {
  if (data === resolve(defaultOf("data"))) return "";
  return ` --data ${/^[\w./@:+-]+$/.test(data) ? data : JSON.stringify(data)}`;
}

/** Where a view is that is in the data directory. */
export const viewFile = (config: Pick<Config, "data">, view: ViewName): string =>
  fileOf(config, view);

/** True if other processes may write to the log. */
export const sharedLog = (config: Pick<Config, "log">): boolean => config.log !== embedded;

/** True for a view in a server, which other processes use, too. */
export const sharedView = (config: Pick<Config, ViewName>, view: ViewName): boolean =>
  config[view] !== embedded;

/** Where a view in a server is. */
export const placeOf = (config: Places, view: ViewName): ServerPlace =>
  placeAt(config, config[view]);

/** A server, as the catalog uses it. */
export function placeAt(
  { storeName: name, storeCertificatesFile: file }: Places,
  url: string,
): ServerPlace {
  return { url, name, certificates: file === "" ? undefined : certificatesIn(file) };
}

/** Throws `invalid` for a file that is named and cannot be read, also where no server is. */
export function requireCertificates({
  storeCertificatesFile: file,
}: Pick<Places, "storeCertificatesFile">): void {
  if (file !== "") certificatesIn(file);
}

function certificatesIn(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CatalogError("invalid", `the file "${file}" cannot be read`, {
      hint: "Name a file with certificates in --store-certificates-file",
      cause,
    });
  }
}
