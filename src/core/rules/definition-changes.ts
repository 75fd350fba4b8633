/**
 * The definition of a structured property may change as long as all its stored values stay valid.
 * Any other change (another type, fewer allowed values) needs a new `version`. The qualified name,
 * by which searches find the values, never changes.
 */

import type { JsonObject } from "../../lib/json.ts";
import { sameJson } from "../../lib/same-json.ts";
import { type CatalogError, invalid } from "../errors.ts";
import { shown } from "../patch/patch-keys.ts";
import { allowedBy, cardinalityOf } from "./property-values.ts";

const VERSION = /^[0-9]{14}$/;

/**
 * The error of a `propertyDefinition`; undefined if it is valid. `previous`: the current value.
 * `removed`: the property's `status` is removed.
 */
export function rejectionOfDefinition(
  value: JsonObject,
  { previous, removed }: { readonly previous: JsonObject | undefined; readonly removed: boolean },
): CatalogError | undefined {
  if (sameJson(value, previous)) return undefined;
  if (removed) {
    return invalid(
      "Cannot mutate a soft deleted Structured Property Definition",
      "Write the property's status with removed false first",
    );
  }
  const { version } = value;
  if (version !== undefined && version !== previous?.version && !VERSION.test(String(version))) {
    return invalid(
      `version ${shown(version)} of the definition is not 14 digits`,
      'Number versions by time, as "20260731120000"',
    );
  }
  return previous && rejectionOfChange(value, previous);
}

function rejectionOfChange(value: JsonObject, previous: JsonObject): CatalogError | undefined {
  if (value.qualifiedName !== previous.qualifiedName) {
    return invalid(
      `Cannot change the fully qualified name of a Structured Property: ${shown(previous.qualifiedName)} to ${shown(value.qualifiedName)}`,
      "Define another property of that name",
    );
  }
  if (isNewer(value.version, previous.version)) return undefined;
  const what = breakIn(value, previous);
  if (what === undefined) return undefined;
  return invalid(what, 'Give the definition a later version, as "20260731120000"');
}

/** The change that can invalidate stored values. */
function breakIn(value: JsonObject, previous: JsonObject): string | undefined {
  if (value.valueType !== previous.valueType) {
    return `Value type cannot be changed as this is a backwards incompatible change: "${previous.valueType}" to "${value.valueType}"`;
  }
  if (cardinalityOf(value) === "SINGLE" && cardinalityOf(previous) === "MULTIPLE") {
    return "Property definition cardinality cannot be changed from MULTI to SINGLE";
  }
  const allowed = allowedBy(value);
  if (allowed === undefined) return undefined;
  const allowedBefore = allowedBy(previous);
  if (allowedBefore === undefined) {
    return "Cannot restrict values that were previously allowed: all were";
  }
  const gone = allowedBefore.find((one) => !allowed.some((other) => sameJson(one, other)));
  return gone === undefined
    ? undefined
    : `Cannot restrict values that were previously allowed: ${shown(gone)}`;
}

/** Versions are 14 digits, so that the later one is the greater text. */
const isNewer = (version: unknown, before: unknown): boolean =>
  typeof version === "string" && (typeof before !== "string" || version > before);
