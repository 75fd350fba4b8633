/**
 * The settings of one run: flags before environment before defaults, checked and frozen. The only
 * place that reads process.env.
 *
 * An unknown ANNALS_ variable or a malformed value throws CatalogError `invalid` that names it: a
 * misspelt setting must stop the start, not be ignored.
 */
import { CatalogError } from "../core/errors.ts";
import { ownCommand } from "../lib/command-hint.ts";
import { withoutPassword } from "../lib/connection-string.ts";
import { nearest } from "../lib/did-you-mean.ts";
import {
  flagOf,
  type Setting,
  type SettingKey,
  settingKeys,
  settings,
  type Value,
  variableOf,
  variablePrefix,
} from "./settings.ts";

export type Config = { readonly [K in SettingKey]: Value<(typeof settings)[K]> };

/** Flags as the command line gave them, by setting. */
export type Flags = Readonly<Partial<Record<SettingKey, string>>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a value came from. */
type Source = "flag" | "environment" | "default";

/** Throws CatalogError `invalid`. */
export function readConfig(flags: Flags, environment: Environment = process.env): Config {
  rejectUnknown(environment);
  const entries = settingKeys.map((key) => [key, readOne(key, flags, environment).value]);
  return Object.freeze(Object.fromEntries(entries)) as Config;
}

/** Every setting with its value as text and where that came from. Throws as readConfig does. */
export function explainConfig(
  flags: Flags,
  environment: Environment = process.env,
): readonly { readonly key: SettingKey; readonly value: string; readonly source: Source }[] {
  rejectUnknown(environment);
  return settingKeys.map((key) => {
    const { value, source } = readOne(key, flags, environment);
    return { key, value: (settings[key] as Setting<unknown>).kind.show(value), source };
  });
}

function readOne(
  key: SettingKey,
  flags: Flags,
  environment: Environment,
): { readonly value: unknown; readonly source: Source } {
  const { fallback } = settings[key];
  const flag = flags[key];
  if (flag !== undefined) {
    return { value: parse(key, flagOf(key), flag), source: "flag" };
  }
  // An empty variable counts as not set: compose files pass an empty value for an unset one.
  const variable = environment[variableOf(key)];
  if (variable !== undefined && variable !== "") {
    return { value: parse(key, variableOf(key), variable), source: "environment" };
  }
  const { standardVariable = "" } = settings[key] as Setting<unknown>;
  const standard = environment[standardVariable];
  if (standard !== undefined && standard !== "") {
    return { value: parse(key, standardVariable, standard), source: "environment" };
  }
  return { value: parse(key, `the default of ${flagOf(key)}`, fallback), source: "default" };
}

function parse(key: SettingKey, name: string, given: string): unknown {
  const { kind } = settings[key] as Setting<unknown>;
  const value = kind.parse(given);
  if (value === undefined) {
    throw new CatalogError("invalid", `${name} cannot be "${withoutPassword(given)}"`, {
      hint: `Allowed: ${kind.allowed}`,
    });
  }
  return value;
}

/** True if the environment sets it. */
export const isSet = (key: SettingKey, environment: Environment = process.env): boolean =>
  (environment[variableOf(key)] ?? "") !== "";

function rejectUnknown(environment: Environment): void {
  const known = new Set(settingKeys.map(variableOf));
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(variablePrefix) || known.has(name)) continue;
    throw new CatalogError("invalid", `the environment sets "${name}", which is not a setting`, {
      hint: nearest(name, known) ?? `All settings are listed by: ${ownCommand("settings")}`,
    });
  }
}
