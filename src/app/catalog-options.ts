/** Options of the catalog and the HTTP server, from the configuration. */
import { readFileSync } from "node:fs";
import type { BodyThreadData } from "../bodies/body-messages.ts";
import { isLoopback } from "../config/addresses.ts";
import type { Config } from "../config/config.ts";
import { CatalogError } from "../core/errors.ts";
import type { JsonLimits } from "../core/json-text.ts";
import type { PatchRules } from "../core/patch/patch.ts";
import type { UrnLimits } from "../core/urn.ts";

export const systemActorOf = ({ urnNamespace }: Config): string =>
  `urn:${urnNamespace}:corpuser:__datahub_system`;

export const urnLimitsOf = (config: Config): UrnLimits => ({
  bytesMax: config.urnBytesMax,
  schemaFieldBytesMax: config.schemaFieldUrnBytesMax,
});

export const jsonLimitsOf = (config: Config): JsonLimits => ({
  depthMax: config.bodyDepthMax,
  membersMax: config.bodyMembersMax,
});

/** The settings that the body thread needs; it gets no others, such as addresses of stores. */
export const bodyConfig = (config: Config): BodyThreadData["config"] => ({
  model: config.model,
  modelExtension: config.modelExtension,
  recordPrefix: config.recordPrefix,
  urnNamespace: config.urnNamespace,
  urnBytesMax: config.urnBytesMax,
  schemaFieldUrnBytesMax: config.schemaFieldUrnBytesMax,
  aspectBytesMax: config.aspectBytesMax,
  bodyDepthMax: config.bodyDepthMax,
  bodyMembersMax: config.bodyMembersMax,
});

/** Throws `invalid` if the service cannot distinguish users, so that all could read or write everything. */
export function authorizes(what: "read" | "write", config: Config, required: boolean): boolean {
  if (config[`${what}Authorization`] === "off") return false;
  // Trusted actor headers distinguish readers, but everyone may write the policies.
  if (required || (what === "read" && isLoopback(config.host))) return true;
  const why = `--${what}-authorization is on, but no request needs a token`;
  throw new CatalogError("invalid", why, { hint: "Set --auth on, too" });
}

const besideSource = (path: string): URL => new URL(`../../${path}`, import.meta.url);

export const patchRules = (): PatchRules =>
  JSON.parse(readFileSync(besideSource("avro/patch-keys.json"), "utf8"));
