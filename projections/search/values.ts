/**
 * Converts the values at an annotated path to values of a field. Empty texts, and values that do not
 * fit the type of the field, are skipped.
 */
import { slashedPath } from "../../src/core/query/browse-path.ts";
import { jsonObject } from "../../src/lib/json.ts";
import type { FieldValue } from "../../src/views/search/search.ts";
import type { AspectRule, SearchFieldType } from "./annotations.ts";
import { plainText } from "./plain-text.ts";
import { SEPARATOR, wordsCharsMax } from "./words.ts";

/** Map entries with a value of this length or longer are skipped: such a value is a whole document. */
export const mapValueCharsMax = 4096;

/** May return longer texts than a document stores, but none with more characters than are indexed. */
export function valuesOf(rule: AspectRule, found: readonly unknown[]): readonly FieldValue[] {
  const { type, map, rich } = rule;
  if (type === "BROWSE_PATH_V2") return folderPath(found);
  const values: FieldValue[] = [];
  for (const raw of map ? found.flatMap(entriesOf) : found) {
    const value = convert(raw, type);
    if (value === undefined) continue;
    if (!rich || typeof value !== "string") values.push(value);
    else {
      const plain = plainText(value.slice(0, wordsCharsMax));
      if (plain !== "") values.push(plain);
    }
  }
  return values;
}

function convert(value: unknown, type: SearchFieldType): FieldValue | undefined {
  switch (type) {
    case "BOOLEAN":
      if (typeof value === "boolean") return value;
      return value === "true" ? true : value === "false" ? false : undefined;
    case "COUNT":
    case "DATETIME":
    case "DOUBLE": {
      if (typeof value === "number") return value;
      const number = typeof value === "string" && value !== "" ? Number(value) : Number.NaN;
      return Number.isFinite(number) ? number : undefined;
    }
    case "BROWSE_PATH":
      return typeof value === "string" && value !== "" ? slashedPath(value) : undefined;
    default:
      if (typeof value === "string") return value === "" ? undefined : value;
      return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
  }
}

/** Joins the ids of folders, from the outermost one. */
function folderPath(ids: readonly unknown[]): readonly string[] {
  const texts = ids.filter((id) => typeof id === "string" && id !== "");
  return texts.length === 0 ? [] : [texts.map((id) => `${SEPARATOR}${id}`).join("")];
}

function entriesOf(map: unknown): readonly string[] {
  if (!jsonObject(map)) return [];
  const entries: string[] = [];
  for (const [key, raw] of Object.entries(map)) {
    const value = convert(raw, "KEYWORD") ?? (raw === "" ? "" : undefined);
    if (value === undefined || String(value).length >= mapValueCharsMax) continue;
    entries.push(`${key}=${value}`);
  }
  return entries;
}

/** The values of maps whose keys are fields of their own. */
export function valuesByKey(found: readonly unknown[]): readonly (readonly [string, FieldValue])[] {
  return found.filter(jsonObject).flatMap((map) =>
    Object.entries(map).flatMap(([key, value]) =>
      (Array.isArray(value) ? value : [value]).flatMap((item) => {
        const one = typeof item === "number" ? item : convert(item, "KEYWORD");
        return one === undefined ? [] : [[key, one] as const];
      }),
    ),
  );
}

/**
 * Values of structured properties by the id of their property. A value is a union of texts and
 * numbers: { "string": … } or { "double": … }.
 */
export function propertyValues(aspect: unknown): readonly (readonly [string, FieldValue])[] {
  if (!jsonObject(aspect) || !Array.isArray(aspect.properties)) return [];
  return aspect.properties.filter(jsonObject).flatMap(({ propertyUrn, values }) => {
    if (typeof propertyUrn !== "string" || !Array.isArray(values)) return [];
    const id = propertyUrn.split(":").slice(3).join(":");
    const members = values.filter(jsonObject).flatMap((union) => Object.values(union));
    return valuesByKey([{ [id]: members }]);
  });
}
