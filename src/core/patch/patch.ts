/**
 * Applies a patch to an aspect: JSON Patch (RFC 6902), in the lenient form that clients rely on,
 * with members of arrays addressed by key.
 *
 * Removing an absent target succeeds, missing parents are created, and replacing an absent target
 * adds it. The order of members is stable: a member with an existing key is replaced at its index,
 * other members are appended. An operation that cannot be applied rejects the whole patch. Pure:
 * the value and the patch are not mutated, and the result shares no objects with them.
 */

import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { CatalogError } from "../errors.ts";
import { createPatchDocument, type PatchDocument, setOwn } from "./patch-document.ts";
import { type ArrayRules, arrayRules, type PatchRules, shown } from "./patch-keys.ts";
import { depthMax, type Operation, type Path, parseOperations } from "./patch-parse.ts";

export type { PatchRules } from "./patch-keys.ts";

import { sameJson } from "../../lib/same-json.ts";

/** A parsed patch, applicable to any value of its aspect. */
export interface Patch {
  readonly aspect: string;
  readonly operations: readonly Operation[];
  readonly arrays: ArrayRules;
  /** Initial members of the aspect and its records, by field path; with placeholders. */
  readonly initialValues: Readonly<Record<string, JsonObject>>;
}

/** Time of the request in epoch milliseconds, and its actor. */
interface Stamp {
  readonly time: number;
  readonly actor: string;
}

/** Limits of all copy operations of a patch: repeated copies double the size each time. */
const copiedMax = { values: 1_000_000, characters: 64_000_000 };

/**
 * Reads a patch from JSON text or from the parsed value: a list of operations, or `{patch: [...],
 * arrayPrimaryKeys?, forceGenericPatch?}`. `rules`: the content of avro/patch-keys.json. Throws
 * `malformed` with the index of the first invalid operation.
 */
export function parsePatch(source: unknown, rules: PatchRules, aspect: string): Patch {
  const { operations, keys, generic } = parseOperations(source);
  const known = Object.hasOwn(rules, aspect) ? rules[aspect] : undefined;
  return {
    aspect,
    operations,
    arrays: arrayRules(known, { keys, generic }),
    initialValues: known?.born ?? {},
  };
}

/**
 * Applies the patch to the current value, or to the initial value of the aspect if `current` is
 * undefined. Does not validate the result. Throws `invalid` with the operation's index and path.
 */
export function applyPatch(
  current: JsonObject | undefined,
  patch: Patch,
  stamp: Stamp,
): Record<string, unknown> {
  const document = createPatchDocument(
    current && (copied(current) as JsonObject),
    patch.arrays,
    (path) =>
      filled(Object.hasOwn(patch.initialValues, path) ? patch.initialValues[path] : {}, stamp),
  );
  const budget = { ...copiedMax };
  for (const [index, operation] of patch.operations.entries()) {
    try {
      perform(document, operation, budget);
    } catch (cause) {
      if (!(cause instanceof CatalogError)) throw cause;
      const which = `operation ${index} (${operation.op} "${operation.path.text}") of the patch of "${patch.aspect}"`;
      const { code, message, hint } = cause;
      throw new CatalogError(code, `${which}: ${message}`, { hint, cause });
    }
  }
  return document.whole();
}

function perform(document: PatchDocument, operation: Operation, budget: Budget): void {
  const { path } = operation;
  switch (operation.op) {
    case "add":
      put(document, path, copied(operation.value));
      break;
    case "replace":
      document.locate(path.segments, true)?.replace(copied(operation.value));
      break;
    case "remove":
      document.locate(path.segments, false)?.remove();
      break;
    case "test":
      checkTest(document, path, operation.value);
      break;
    case "copy":
      put(document, path, copied(valueAt(document, operation.from), budget));
      break;
    case "move":
      move(document, operation.from, path);
  }
}

function put(document: PatchDocument, path: Path, value: unknown): void {
  document.locate(path.segments, true)?.add(value);
}

function move(document: PatchDocument, from: Path, path: Path): void {
  if (path.text.startsWith(`${from.text}/`)) {
    throw new CatalogError("invalid", `"${from.text}" cannot be moved into itself`);
  }
  const value = copied(valueAt(document, from));
  document.locate(from.segments, false)?.remove();
  put(document, path, value);
}

function checkTest(document: PatchDocument, path: Path, expected: unknown): void {
  const found = document.locate(path.segments, false)?.read();
  // Aspects store no nulls: null equals an absent field.
  if (sameJson(found ?? null, expected)) return;
  // A group of one member equals that member.
  if (Array.isArray(found) && found.length === 1 && sameJson(found[0], expected)) return;
  throw new CatalogError(
    "invalid",
    `the test failed: there is ${found === undefined ? "nothing" : shown(found)}, not ${shown(expected)}`,
    { hint: "Read the aspect again and send a patch that fits it" },
  );
}

function valueAt(document: PatchDocument, from: Path): unknown {
  const value = document.locate(from.segments, false)?.read();
  if (value !== undefined) return value;
  throw new CatalogError("invalid", `there is nothing at "${from.text}"`, {
    hint: "Read the aspect again and name a field that it has",
  });
}

/** An initial record, with the request's time and actor in place of "$now" and "$actor". */
function filled(born: JsonObject = {}, stamp: Stamp): Record<string, unknown> {
  const inner = (value: unknown): unknown => {
    if (value === "$now") return stamp.time;
    if (value === "$actor") return stamp.actor;
    if (Array.isArray(value)) return value.map(inner);
    return jsonObject(value) ? filled(value, stamp) : value;
  };
  return Object.fromEntries(Object.entries(born).map(([name, value]) => [name, inner(value)]));
}

interface Budget {
  values: number;
  characters: number;
}

function copied(value: unknown, budget?: Budget, depth = 0): unknown {
  if (budget !== undefined) spend(budget, typeof value === "string" ? value.length : 0);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= depthMax) {
    throw new CatalogError("invalid", `the value nests deeper than ${depthMax}`);
  }
  if (Array.isArray(value)) return value.map((member) => copied(member, budget, depth + 1));
  const copy: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    if (budget !== undefined) budget.characters -= name.length;
    setOwn(copy, name, copied(inner, budget, depth + 1));
  }
  return copy;
}

/** A value, and the characters of a text. */
function spend(budget: Budget, characters: number): void {
  budget.values -= 1;
  budget.characters -= characters;
  for (const what of ["values", "characters"] as const) {
    if (budget[what] >= 0) continue;
    throw new CatalogError("too_large", `the patch copies more than ${copiedMax[what]} ${what}`);
  }
}
