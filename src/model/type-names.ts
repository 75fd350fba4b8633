/**
 * Converts values whose records have type names: `{"__type": "MySqlDDL", "tableSchema": ""}`, as
 * clients of the OpenAPI v1 API send them. In the log, such a record has no type name; within a union it
 * has the member's key.
 */
import { jsonObject } from "../lib/json.ts";
import type { FieldType, Model } from "./model.ts";

const NAME = "__type";

/** Values that do not fit their type stay unchanged; the validator reports them. */
export function withoutTypeNames(value: unknown, type: FieldType, types: Model["types"]): unknown {
  const inner = (member: unknown, own: FieldType) => withoutTypeNames(member, own, types);
  if (Array.isArray(value)) {
    return type.kind === "array" ? value.map((member) => inner(member, type.items)) : value;
  }
  if (!jsonObject(value)) return value;
  if (type.kind === "map") return mapped(value, (member) => inner(member, type.values));
  const { [NAME]: name, ...rest } = value;
  if (type.kind === "union") {
    const ofKey = (key: string) => type.members.find((member) => member.key === key);
    const named = type.members.find(({ key }) => key === name || key.endsWith(`.${name}`));
    if (named !== undefined) return { [named.key]: inner(rest, named.type) };
    return mapped(value, (member, key) => inner(member, ofKey(key)?.type ?? type));
  }
  const record = type.kind === "named" ? types.get(type.name) : undefined;
  if (record?.kind !== "record") return value;
  const fields = new Map(record.fields.map((field) => [field.name, field.type]));
  return mapped(rest, (member, field) => {
    const own = fields.get(field);
    return own === undefined ? member : inner(member, own);
  });
}

const mapped = (
  value: Readonly<Record<string, unknown>>,
  to: (member: unknown, name: string) => unknown,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, to(member, name)]));
