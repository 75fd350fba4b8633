/** The schema of a dataset, with nested fields. */
import { createHash } from "node:crypto";
import { type JsonObject, jsonObject } from "../../lib/json.ts";
import { type FacetOwner, type FacetSchema, facet, listOf, object, text } from "./facet-table.ts";

interface Field {
  readonly name: string;
  readonly type?: string;
  readonly description?: string;
  readonly fields?: readonly Field[];
}

const field = object({
  ...{ name: text, "type?": text, "description?": text, "fields?": listOf({}) },
}) as FacetSchema<Field>;

/** Types by the beginning of the native type; the first match counts. */
const types: readonly (readonly [begins: RegExp, type: string])[] = [
  [/^(array|list|set|multiset)\b/i, "ArrayType"],
  [/^map\b/i, "MapType"],
  [/^(struct|record|row|object|tuple)\b/i, "RecordType"],
  [/^(union|variant)/i, "UnionType"],
  [/^bool/i, "BooleanType"],
  [/^(timestamp|datetime|time|interval)/i, "TimeType"],
  [/^date/i, "DateType"],
  [/^(string|text|n?(var)?char|character|clob|uuid|json|varchar)/i, "StringType"],
  [/^(binary|varbinary|bytes?|blob|bytea)\b/i, "BytesType"],
  [/^fixed/i, "FixedType"],
  [/^enum/i, "EnumType"],
  [
    /^(u?int|integer|bigint|smallint|tinyint|mediumint|long|short|byte|double|float|real|decimal|dec\b|numeric|number|money|serial|bigserial)/i,
    "NumberType",
  ],
];

const typeOf = ({ type = "", fields }: Field): string => {
  const known = types.find(([begins]) => begins.test(type))?.[1];
  return known ?? (fields === undefined ? "NullType" : "RecordType");
};

/** Maximum depth of nested fields; deeper ones are left out. */
const depthMax = 40;

function* fieldsOf(fields: readonly Field[], parent = "", depth = 1): Iterable<JsonObject> {
  if (depth > depthMax) return;
  for (const one of fields) {
    if (!jsonObject(one) || typeof one.name !== "string") continue;
    const fieldPath = parent === "" ? one.name : `${parent}.${one.name}`;
    yield {
      fieldPath,
      nativeDataType: String(one.type ?? ""),
      type: { type: { [`com.linkedin.schema.${typeOf(one)}`]: {} } },
      ...(typeof one.description === "string" && { description: one.description }),
    };
    if (Array.isArray(one.fields)) yield* fieldsOf(one.fields, fieldPath, depth + 1);
  }
}

/** Identifies a schema that an event wrote: its hash, and the text of its facet. */
const markOf = (value: JsonObject): unknown => {
  const { hash, platformSchema } = value as { hash?: unknown; platformSchema?: JsonObject };
  const [content] = Object.values(platformSchema ?? {});
  return [hash, jsonObject(content) ? content.tableSchema : undefined];
};

const PLATFORM = /\((urn:[^,]+),/;

const schemaOf = (fields: readonly Field[], { urn }: FacetOwner): JsonObject => {
  const tableSchema = JSON.stringify({ fields });
  const byPath = new Map([...fieldsOf(fields)].map((one) => [String(one.fieldPath), one]));
  return {
    schemaName: "",
    platform: PLATFORM.exec(urn)?.[1],
    version: 1,
    hash: createHash("md5").update(tableSchema).digest("hex"),
    platformSchema: { "com.linkedin.schema.MySqlDDL": { tableSchema } },
    fields: [...byPath.values()],
  };
};

export const schema = facet(
  "schema",
  object({ "fields?": listOf(field) }),
  ({ fields = [] }, owner) =>
    fields.length === 0
      ? []
      : [
          {
            kind: "whole",
            urn: owner.urn,
            aspect: "schemaMetadata",
            value: schemaOf(fields, owner),
            mark: markOf,
          },
        ],
);
