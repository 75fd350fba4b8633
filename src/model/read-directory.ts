/**
 * Reads one directory of schemas into a part of a model. The files determine which of two layouts it
 * has:
 *
 * own        entities.json, snapshots.json, types/**.avsc: one named type per file (avro/README.md)
 * published  *.avsc beside each other, as the reference's Python package carries them: every file
 *            defines its types inline, key records carry the registry
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { CatalogError, messageOf } from "../core/errors.ts";
import { type JsonObject, jsonObject } from "../lib/json.ts";
import type { ModelPart } from "./avro-schema.ts";
import { broken, type DefinedType, readSchema } from "./avro-schema.ts";
import { fromPublished } from "./published-layout.ts";
import { withPrefix } from "./record-names.ts";

/** Throws CatalogError `invalid` when the directory holds no model or a broken one. */
export function readDirectory(directory: string, prefix: string): ModelPart {
  const names = list(directory);
  if (names.some((name) => name === "types" || name === "entities.json")) {
    return readOwn(directory, prefix);
  }
  const schemas = names.filter((name) => name.endsWith(".avsc"));
  if (schemas.length === 0) {
    throw new CatalogError("invalid", `model directory "${directory}" holds no schemas`, {
      hint: "It needs a folder types with .avsc files and an entities.json, or .avsc files as the reference publishes them",
    });
  }
  return fromPublished(
    schemas.sort().map((name) => {
      const file = join(directory, name);
      return { file, schema: readJson(file) };
    }),
    prefix,
  );
}

function readOwn(directory: string, prefix: string): ModelPart {
  const types = new Map<string, DefinedType>();
  const rename = (name: string) => withPrefix(name, prefix);
  for (const file of schemaFiles(join(directory, "types"))) {
    readSchema(readJson(file), {
      file,
      rename,
      define(defined) {
        const other = types.get(defined.type.name);
        if (other) {
          throw broken(file, `"${defined.type.name}" is defined in "${other.file}" already`);
        }
        types.set(defined.type.name, defined);
      },
    });
  }
  return {
    types,
    entities: readEntries(join(directory, "entities.json"), "name").map(({ entry, file }) => ({
      name: text(entry, "name", file),
      keyAspect: optionalText(entry, "keyAspect", file),
      aspects: texts(entry, "aspects", file),
      category: optionalText(entry, "category", file),
      searchGroup: optionalText(entry, "searchGroup", file),
      file,
    })),
    snapshots: readEntries(join(directory, "snapshots.json"), "record").map(({ entry, file }) => ({
      record: rename(text(entry, "record", file)),
      entity: text(entry, "entity", file),
      aspects: texts(entry, "aspects", file).map(rename),
      file,
    })),
  };
}

/** The entries of a registry file; none when there is no such file. No two have the same name. */
function readEntries(file: string, key: string): { entry: JsonObject; file: string }[] {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return [];
  const entries = readJson(file);
  if (!Array.isArray(entries)) throw broken(file, "is not a JSON array");
  const names = new Set<unknown>();
  return entries.map((entry) => {
    if (!jsonObject(entry)) {
      throw broken(file, `has an entry that is not an object: ${JSON.stringify(entry)}`);
    }
    if (names.has(entry[key])) throw broken(file, `has two entries "${entry[key]}"`);
    names.add(entry[key]);
    return { entry, file };
  });
}

function text(entry: JsonObject, key: string, file: string): string {
  const value = optionalText(entry, key, file);
  if (value === undefined) throw broken(file, `an entry has no "${key}": ${JSON.stringify(entry)}`);
  return value;
}

function optionalText(entry: JsonObject, key: string, file: string): string | undefined {
  const value = entry[key];
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw broken(file, `"${key}" is ${JSON.stringify(value)} where a name is needed`);
}

function texts(entry: JsonObject, key: string, file: string): readonly string[] {
  const value = entry[key] ?? [];
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw broken(file, `"${key}" is ${JSON.stringify(value)} where a list of names is needed`);
}

function schemaFiles(directory: string): string[] {
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) return [];
  // With file types: without them, Node reads the status of each file to find the folders.
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith(".avsc"))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (cause) {
    throw new CatalogError("invalid", `model directory "${directory}" cannot be read`, {
      hint: "Name a directory that is there and may be read",
      cause,
    });
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    const why = messageOf(cause);
    throw new CatalogError("invalid", `model file "${file}" is not JSON: ${why}`, { cause });
  }
}
