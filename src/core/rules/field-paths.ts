/**
 * Field paths of a schema are unique and not empty: with two entries for one path, neither is
 * certain to be found.
 */

import { listed } from "../../lib/format-list.ts";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { CatalogError } from "../errors.ts";

/** Where an aspect has the fields of a schema. */
interface Fields {
  readonly aspect: string;
  /** `fields` or `editableSchemaFieldInfo`: [{fieldPath, …}]. */
  readonly member: string;
}

/**
 * Why a schema cannot be written; undefined: it can. Paths that are wrong in the value of before
 * (`previous`) may stay so.
 */
export function refusalOfPaths(
  { aspect, member }: Fields,
  value: JsonObject,
  previous: JsonObject | undefined,
): CatalogError | undefined {
  const paths = pathsOf(value[member]);
  const distinct = new Set(paths);
  if (distinct.size === paths.length && !distinct.has("")) return undefined;
  const before = pathsOf(previous?.[member]);
  if (distinct.has("") && !before.includes("")) {
    return new CatalogError("invalid", `aspect "${aspect}" has an empty field path in ${member}`, {
      hint: "Give each field the path that names it",
    });
  }
  const known = new Set(repeated(before));
  const added = repeated(paths).filter((path) => !known.has(path));
  if (added.length === 0) return undefined;
  return new CatalogError(
    "invalid",
    `aspect "${aspect}" has duplicated field paths in ${member}: ${listed(added)}`,
    { hint: "Send each field path once" },
  );
}

const pathsOf = (fields: unknown): readonly string[] =>
  Array.isArray(fields) ? fields.filter(jsonObject).map(({ fieldPath }) => String(fieldPath)) : [];

/** Each text that occurs again, once. */
function repeated(texts: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const text of texts) {
    if (seen.has(text)) again.add(text);
    seen.add(text);
  }
  return [...again];
}
