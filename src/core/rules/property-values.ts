/**
 * Checks the values of structured properties against their definitions: number, type and allowed
 * values. Values that the entity already has are not checked, so that writing them again, or
 * patching another property, works after a definition has changed.
 */

import { listed } from "../../lib/format.ts";
import { type JsonObject, jsonObject, objectOf, objectsIn } from "../../lib/json.ts";
import { sameJson } from "../../lib/same-json.ts";
import { type CatalogError, invalid } from "../errors.ts";
import { shown } from "../patch/patch-keys.ts";
import { numberOf } from "../query/filter.ts";
import { entityTypeOf, isUrn } from "../urn.ts";

/** The current definition of a structured property. */
export interface PropertyDefinition {
  /** Value of its `propertyDefinition`; undefined if it has none: values are not checked. */
  readonly value: JsonObject | undefined;
  /** True if its `status` is removed. */
  readonly removed: boolean;
}

interface PropertyCheck {
  /** The entity's current entries. */
  readonly before: readonly JsonObject[];
  /** Returns undefined if the property does not exist. */
  readonly definitionOf: (urn: string) => PropertyDefinition | undefined;
  /** True for the result of a patch, which may have one entry per property and source. */
  readonly patched: boolean;
}

/**
 * The error of the members of `properties`, {propertyUrn, values: [{string}|{double}],
 * attribution?}; undefined if they are valid.
 */
export function rejectionOfValues(
  properties: readonly JsonObject[],
  { before, definitionOf, patched }: PropertyCheck,
): CatalogError | undefined {
  const known = Map.groupBy(before, urnOf);
  for (const [urn, entries] of Map.groupBy(properties, urnOf)) {
    const earlier = known.get(urn) ?? [];
    if (sameJson(entries, earlier)) continue;
    const sources = new Set(entries.map(patched ? sourceOf : () => ""));
    if (sources.size < entries.length) return severalEntries(urn, entries.length);
    const added = entries.filter((entry) => !earlier.some((one) => sameJson(one, entry)));
    const definition = definitionOf(urn);
    if (added.length === 0 || definition === undefined) continue;
    if (earlier.length > 0 && definition.value?.immutable === true) {
      return invalid(
        `Cannot mutate an immutable property: "${urn}"`,
        "Leave its values unchanged: the definition is immutable",
      );
    }
    const rejection = rejectionOfEntries(urn, added, definition);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

function rejectionOfEntries(
  urn: string,
  entries: readonly JsonObject[],
  { value: definition, removed }: PropertyDefinition,
): CatalogError | undefined {
  if (removed) {
    return invalid(
      `Cannot apply a soft deleted Structured Property value: "${urn}" is removed`,
      "Leave the property out, or write its status with removed false first",
    );
  }
  if (definition === undefined) return undefined;
  for (const { values } of entries) {
    const assigned = objectsIn(values);
    if (assigned.length > 1 && cardinalityOf(definition) === "SINGLE") {
      return invalid(
        `property "${urn}" has cardinality 1, but multiple values were assigned: ${listed(assigned.map(textOf))}`,
        "Send one value, or define the property with the cardinality MULTIPLE",
      );
    }
    for (const value of assigned) {
      const wrong = typeErrorOf(value, definition) ?? unknownValueIn(value, definition);
      if (wrong !== undefined) {
        return invalid(`property "${urn}", value ${shown(value)} ${wrong.what}`, wrong.hint);
      }
    }
  }
  return undefined;
}

/** SINGLE or MULTIPLE; SINGLE if the definition states none. */
export const cardinalityOf = ({ cardinality = "SINGLE" }: JsonObject): unknown => cardinality;

/** The values that the definition allows, {string} or {double} each; undefined: all. */
export const allowedBy = ({ allowedValues }: JsonObject): readonly unknown[] | undefined =>
  Array.isArray(allowedValues) ? objectsIn(allowedValues).map(({ value }) => value) : undefined;

/** The error of a value, worded to follow "value … ", and the hint. */
interface ValidationError {
  readonly what: string;
  readonly hint: string;
}

/** Of the value's type. */
function typeErrorOf(
  { string: text, double }: JsonObject,
  definition: JsonObject,
): ValidationError | undefined {
  const type = valueTypeOf(definition);
  switch (type) {
    case "number":
      return typeof double === "number" ||
        (typeof text === "string" && numberOf(text) !== undefined)
        ? undefined
        : { what: "should be a number", hint: 'Write it as {"double": 1.5}' };
    case "string":
    case "rich_text":
    case "date":
    case "urn":
      break;
    default:
      return {
        what: `is of the type "${definition.valueType}", which no value can be checked for`,
        hint: "Define the property with datahub.string, rich_text, number, date or urn",
      };
  }
  if (typeof text !== "string") {
    return { what: "should be a string", hint: 'Write it as {"string": "…"}' };
  }
  if (type === "date" && !isDate(text)) {
    return {
      what: "should be a date with format YYYY-MM-DD",
      hint: 'Write a day from 1000-01-01 on, as {"string": "2026-07-31"}',
    };
  }
  return type === "urn" ? validationErrorOfUrn(text, definition) : undefined;
}

function validationErrorOfUrn(
  text: string,
  { typeQualifier }: JsonObject,
): ValidationError | undefined {
  if (!isUrn(text)) {
    return { what: "should be an urn", hint: 'Write it as {"string": "urn:li:corpuser:jdoe"}' };
  }
  const allowed = objectOf(typeQualifier).allowedTypes;
  if (!Array.isArray(allowed)) return undefined;
  const type = entityTypeOf(text).toLowerCase();
  return allowed.some((one) => typeId(String(one)) === type)
    ? undefined
    : {
        what: `is not of any supported urn types: ${listed(allowed.map(String))}`,
        hint: "Name an entity of such a type, or add its type to the definition's allowedTypes",
      };
}

function unknownValueIn(value: JsonObject, definition: JsonObject): ValidationError | undefined {
  const allowed = allowedBy(definition);
  if (allowed === undefined || allowed.some((one) => sameJson(one, value))) return undefined;
  const texts = allowed.map((one) => (jsonObject(one) ? textOf(one) : String(one)));
  return {
    what: `should be one of ${listed(texts)}`,
    hint: "Send one of them, or add the value to the definition's allowedValues",
  };
}

const DATE = /^[1-9]\d{3}-\d{2}-\d{2}$/;

/** Days that exist: not 2026-02-30. */
function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** string, rich_text, number, date, urn, or what no value can be checked for. */
export const valueTypeOf = ({ valueType }: JsonObject): string => typeId(String(valueType));

/** The name of the type in its urn: `urn:li:dataType:datahub.number` → number. */
function typeId(urn: string): string {
  const id = urn.split(":").slice(3).join(":");
  return (id.startsWith("datahub.") ? (id.split(".")[1] ?? "") : id).toLowerCase();
}

const urnOf = ({ propertyUrn }: JsonObject): string => String(propertyUrn);

/** The source in the entry's attribution; empty: none. */
const sourceOf = ({ attribution }: JsonObject): string =>
  String(objectOf(attribution).source ?? "");

const textOf = ({ string, double }: JsonObject): string => String(string ?? double);

const severalEntries = (urn: string, count: number): CatalogError =>
  invalid(
    `property "${urn}" has multiple entries: ${count}`,
    "Send all of its values in one entry",
  );
