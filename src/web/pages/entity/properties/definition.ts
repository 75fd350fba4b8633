/** Definitions of structured properties, and values of entities, as the page reads them from aspects. */
import type { Aspects } from "../../../api/aspect.ts";
import { at, isObject, listAt, numberAt, textAt, textsAt } from "../../../api/json.ts";
import { nameOfUrn } from "../../../api/urn.ts";
import type { PropertyValue } from "../../../api/writes.ts";

type ValueType = "string" | "rich_text" | "number" | "date" | "urn";

interface AllowedValue {
  readonly value: PropertyValue;
  readonly description: string | undefined;
}

export interface Definition {
  readonly urn: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly type: ValueType;
  readonly multiple: boolean;
  readonly immutable: boolean;
  /** Undefined: every value of the type. */
  readonly allowed: readonly AllowedValue[] | undefined;
  /** Entity types of a urn; empty for all. */
  readonly urnTypes: readonly string[];
  /** Platforms of the entities that may have the property; empty for all. */
  readonly platforms: readonly string[];
  /** Not offered: the definition is hidden or removed. */
  readonly hidden: boolean;
}

const types: ReadonlySet<string> = new Set<ValueType>([
  ...(["string", "rich_text", "number", "date", "urn"] as const),
]);

export function definitionOf(urn: string, aspects: Aspects): Definition {
  const value = aspects.get("propertyDefinition")?.value;
  const settings = aspects.get("structuredPropertySettings")?.value;
  const type = lastPart(textAt(value, "valueType") ?? "");
  const allowed = at(value, "allowedValues");
  return {
    urn,
    name: textAt(value, "displayName") ?? textAt(value, "qualifiedName") ?? nameOfUrn(urn),
    description: textAt(value, "description"),
    type: types.has(type) ? (type as ValueType) : "string",
    multiple: textAt(value, "cardinality") === "MULTIPLE",
    immutable: at(value, "immutable") === true,
    allowed: Array.isArray(allowed)
      ? allowed.flatMap((one) => {
          const allowedValue = propertyValue(at(one, "value"));
          const description = textAt(one, "description");
          return allowedValue === undefined ? [] : [{ value: allowedValue, description }];
        })
      : undefined,
    urnTypes: textsAt(listAt(value, "typeQualifier", "allowedTypes")).map(lastPart),
    platforms: textsAt(listAt(value, "allowedPlatforms")),
    hidden:
      at(settings, "isHidden") === true || at(aspects.get("status")?.value, "removed") === true,
  };
}

/** `urn:li:dataType:datahub.number` → `number` */
const lastPart = (urn: string): string => urn.replace(/^.*[:.]/, "");

function propertyValue(value: unknown): PropertyValue | undefined {
  const text = at(value, "string");
  if (typeof text === "string") return { string: text };
  const number = numberAt(value, "double");
  return number === undefined ? undefined : { double: number };
}

export interface Assignment {
  readonly propertyUrn: string;
  readonly values: readonly PropertyValue[];
}

/** The structured properties of an entity. */
export const assignmentsOf = (aspects: Aspects): readonly Assignment[] =>
  listAt(aspects.get("structuredProperties")?.value, "properties")
    .filter(isObject)
    .map((one) => ({
      propertyUrn: textAt(one, "propertyUrn") ?? "",
      values: listAt(one, "values").flatMap((value) => propertyValue(value) ?? []),
    }));

export const textOf = (value: PropertyValue): string =>
  "string" in value ? value.string : String(value.double);

/** The value that a text means for a definition; undefined for a text that its type does not allow. */
export function parseValue({ type, allowed }: Definition, text: string): PropertyValue | undefined {
  const found = allowed?.find(({ value }) => textOf(value) === text);
  if (allowed !== undefined) return found?.value;
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (type === "number") {
    const number = Number(trimmed);
    return Number.isFinite(number) ? { double: number } : undefined;
  }
  if (type === "date") return /^\d{4}-\d{2}-\d{2}$/.test(trimmed) ? { string: trimmed } : undefined;
  if (type === "urn") return trimmed.startsWith("urn:") ? { string: trimmed } : undefined;
  return { string: type === "rich_text" ? text : trimmed };
}
