/**
 * The JSON Schema of an aspect for clients, in draft 2020-12: the schemas that validate its values
 * (json-schema.ts), with standard keywords in place of ajv's.
 */
import { createRecordSchemas, type JsonSchema } from "./json-schema.ts";
import type { Aspect, Model } from "./model.ts";

/** A standard pattern has no flags: `.` would not match a line break. */
const URN = "^urn:[A-Za-z0-9][A-Za-z0-9-]{0,31}:[A-Za-z][A-Za-z0-9_]*:[\\s\\S]";

/** The schema of the values of an aspect, with the schemas of all records in it. */
export function aspectSchemaOf(
  { types, entities }: Pick<Model, "types" | "entities">,
  { name, record }: Pick<Aspect, "name" | "record">,
): JsonSchema {
  const records = new Map<string, JsonSchema>();
  const add = (schema: JsonSchema): void => void records.set(String(schema.$id), schema);
  const root = createRecordSchemas({ types, entities, add })(record);
  const pointerTo = (id: string): string => (id === root ? "#" : `#/$defs/${id}`);
  const { [root]: own, ...others } = mapped(Object.fromEntries(records), (schema) =>
    publicSchema(schema, pointerTo),
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: name,
    ...own,
    ...(Object.keys(others).length > 0 && { $defs: others }),
  };
}

function publicSchema(schema: JsonSchema, pointerTo: (id: string) => string): JsonSchema {
  const { $ref, properties, items, additionalProperties, oneMember, urn } = schema;
  const optional = new Set((schema.absentWhenNull ?? []) as readonly string[]);
  const inner = (one: JsonSchema): JsonSchema => publicSchema(one, pointerTo);
  return {
    ...Object.fromEntries(Object.entries(schema).filter(([keyword]) => STANDARD.has(keyword))),
    ...describedBy(schema),
    ...(typeof $ref === "string" && { $ref: pointerTo($ref) }),
    ...(properties !== undefined && {
      properties: mapped(properties as Schemas, (property, name) =>
        optional.has(name) ? { anyOf: [inner(property), { type: "null" }] } : inner(property),
      ),
    }),
    ...(items !== undefined && { items: inner(items as JsonSchema) }),
    ...(typeof additionalProperties === "object" && {
      additionalProperties: inner(additionalProperties as JsonSchema),
    }),
    ...(oneMember !== undefined && {
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    }),
    ...(urn !== undefined && { pattern: URN }),
  };
}

const describedBy = ({ $id, expects }: JsonSchema): JsonSchema =>
  $id === undefined && expects !== undefined ? { description: expects.text } : {};

/** Keywords with the same meaning in both dialects, and values without schemas in them. */
const STANDARD: ReadonlySet<string> = new Set([
  ...["type", "enum", "default", "required", "additionalProperties"],
  ...["minimum", "maximum", "pattern", "minLength", "maxLength"],
]);

type Schemas = Readonly<Record<string, JsonSchema>>;

const mapped = (schemas: Schemas, map: (schema: JsonSchema, name: string) => JsonSchema): Schemas =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, map(schema, name)]));
