/**
 * Parses a patch: its operations, their paths, and the keys of arrays. Rejects all errors that do
 * not depend on the value.
 */

import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { CatalogError } from "../errors.ts";
import { shown } from "./patch-keys.ts";

export type Operation =
  | { readonly op: "add" | "replace" | "test"; readonly path: Path; readonly value: unknown }
  | { readonly op: "remove"; readonly path: Path }
  | { readonly op: "move" | "copy"; readonly path: Path; readonly from: Path };

/** A JSON pointer (RFC 6901): its text and its segments. */
export interface Path {
  readonly text: string;
  readonly segments: readonly string[];
}

interface ParsedPatch {
  readonly operations: readonly Operation[];
  /** `arrayPrimaryKeys`: key fields by the array's field; [] for plain texts. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  /** `forceGenericPatch`: only `keys` count, not those of the known aspects. */
  readonly generic: boolean;
}

/** More than the largest schema has columns. */
const operationsMax = 20_000;
const segmentsMax = 64;
/** Deeper than any aspect, and shallow enough for recursive functions. */
export const depthMax = 200;
const OPS = ["add", "remove", "replace", "move", "copy", "test"] as const;

/**
 * Reads a patch from JSON text or from the parsed value: a list of operations, or
 * `{patch: [...], arrayPrimaryKeys?, forceGenericPatch?}`. Throws `malformed` with the operation's
 * index.
 */
export function parseOperations(source: unknown): ParsedPatch {
  const value = typeof source === "string" ? parseText(source) : source;
  const whole: JsonObject = Array.isArray(value)
    ? { patch: value }
    : jsonObject(value)
      ? value
      : {};
  const { patch, arrayPrimaryKeys = {}, forceGenericPatch = false } = whole;
  if (!Array.isArray(patch)) {
    throw malformed(
      `a patch is a list of operations, not ${shown(value)}`,
      'Send [{"op": "add", "path": "/a/b", "value": …}, …] or {"patch": […], "arrayPrimaryKeys": {…}}',
    );
  }
  if (patch.length > operationsMax) {
    throw malformed(
      `a patch has ${patch.length} operations; at most ${operationsMax} are allowed`,
      "Send it in parts",
    );
  }
  return {
    operations: patch.map(parseOperation),
    keys: parseKeys(arrayPrimaryKeys ?? {}),
    generic: forceGenericPatch === true,
  };
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CatalogError("malformed", `a patch is not JSON: ${(cause as Error).message}`, {
      hint: "Send a JSON list of operations as the aspect's value",
      cause,
    });
  }
}

function parseOperation(value: unknown, index: number): Operation {
  if (!jsonObject(value)) {
    throw malformed(`operation ${index} is ${shown(value)}`, 'An operation is {"op", "path", …}');
  }
  const op = OPS.find((known) => known === value.op);
  if (op === undefined) {
    throw malformed(`operation ${index} has the op ${shown(value.op)}`, `Use ${OPS.join(", ")}`);
  }
  const path = parsePath(value.path, `operation ${index} (${op})`, "path");
  switch (op) {
    case "remove":
      return { op, path };
    case "move":
    case "copy":
      return { op, path, from: parsePath(value.from, `operation ${index} (${op})`, "from") };
    default:
      if (!Object.hasOwn(value, "value")) {
        throw malformed(`operation ${index} (${op} "${path.text}") has no value`, 'Give a "value"');
      }
      if (!withinDepth(value.value, depthMax)) {
        throw malformed(`operation ${index} (${op} "${path.text}") nests deeper than ${depthMax}`);
      }
      return { op, path, value: value.value };
  }
}

function withinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => withinDepth(inner, depth - 1));
}

function parsePath(text: unknown, operation: string, member: "path" | "from"): Path {
  if (typeof text !== "string" || (text !== "" && !text.startsWith("/"))) {
    throw malformed(
      `${operation} has the ${member} ${shown(text)}`,
      `A ${member} begins with "/", as in "/tags/urn:li:tag:pii"`,
    );
  }
  if (/~(?![01])/.test(text)) {
    throw malformed(
      `${operation} has a "~" in its ${member} ${shown(text)} that stands for nothing`,
      'Write "~0" for "~" and "~1" for "/"',
    );
  }
  // "/a//b" has the segments a, the empty one, b: an empty key is a key.
  const segments = text.split("/").slice(1).map(unescaped);
  if (segments.length > segmentsMax) {
    throw malformed(`${operation} has a ${member} of more than ${segmentsMax} segments`);
  }
  const hostile = segments.some(
    (name, i) =>
      name === "__proto__" || (name === "constructor" && segments[i + 1] === "prototype"),
  );
  if (hostile) {
    throw malformed(
      `${operation} has the ${member} ${shown(text)}`,
      "No field of an aspect has such a name",
    );
  }
  return { text, segments };
}

const unescaped = (segment: string): string =>
  segment.includes("~") ? segment.replaceAll("~1", "/").replaceAll("~0", "~") : segment;

function parseKeys(value: unknown): ParsedPatch["keys"] {
  const entries = jsonObject(value) ? Object.entries(value) : undefined;
  const fits = entries?.every(
    ([, keys]) => Array.isArray(keys) && keys.every((key) => typeof key === "string"),
  );
  if (!fits) {
    throw malformed(
      `arrayPrimaryKeys is ${shown(value)}`,
      'Give the keys by field, as in {"tags": ["attribution␟source", "tag"]}',
    );
  }
  return value as ParsedPatch["keys"];
}

const malformed = (message: string, hint?: string): CatalogError =>
  new CatalogError("malformed", message, { hint });
