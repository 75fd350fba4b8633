/** Locations of the stores, from the settings. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { embedded } from "../config/kinds.ts";
import { defaultOf } from "../config/settings.ts";
import { CatalogError } from "../core/errors.ts";
import type { ServerAddress } from "../storage/view-origin.ts";

/** The settings with the locations of the stores. */
export const locationKeys = [
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

export type StoreLocations = Pick<Config, (typeof locationKeys)[number]>;

/** In the order in which the projector applies batches to them. */
export const viewNames = ["aspects", "timeseries", "graph", "search"] as const;
export type ViewName = (typeof viewNames)[number];

/** Views that are built from the aspect and timeseries views. */
export const foldedViews: ReadonlySet<ViewName> = new Set(["search"]);

/** The file of an embedded store. */
export const fileOf = (config: Pick<Config, "data">, name: "log" | ViewName): string =>
  join(config.data, `${name}.sqlite`);

/** The flag that makes a command in a message use the same data directory; empty for the default one. */
export function dataFlag({ data }: Pick<Config, "data">): string {
  if (data === resolve(defaultOf("data"))) return "";
  return ` --data ${/^[\w./@:+-]+$/.test(data) ? data : JSON.stringify(data)}`;
}

/** True if other processes may write to the log. */
export const sharedLog = (config: Pick<Config, "log">): boolean => config.log !== embedded;

/** True for a view in a server, which several processes may use. */
export const sharedView = (config: Pick<Config, ViewName>, view: ViewName): boolean =>
  config[view] !== embedded;

/** The server of a view that is not embedded. */
export const serverOf = (config: StoreLocations, view: ViewName): ServerAddress =>
  serverAt(config, config[view]);

/** The address of a server, with the catalog's name in it and the trusted certificates. */
export function serverAt(
  { storeName: name, storeCertificatesFile: file }: StoreLocations,
  url: string,
): ServerAddress {
  return { url, name, certificates: file === "" ? undefined : certificatesIn(file) };
}

/** Throws `invalid` if the configured file cannot be read, even if no server is used. */
export function requireCertificates({
  storeCertificatesFile: file,
}: Pick<StoreLocations, "storeCertificatesFile">): void {
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
