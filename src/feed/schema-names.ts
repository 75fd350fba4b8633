/**
 * Removes namespaces from Avro schemas: `com.linkedin.mxe.GenericAspect` becomes `GenericAspect`. Avro
 * compares records by the last part of their names when it resolves one schema to another.
 */
import { jsonObject } from "../lib/json.ts";

/** Also omits docs, logical types and other properties. */
export function withoutNamespaces(schema: unknown): unknown {
  if (typeof schema === "string") return lastPart(schema);
  if (Array.isArray(schema)) return schema.map(withoutNamespaces);
  if (!jsonObject(schema)) return schema;
  const { type } = schema;
  const name = typeof schema.name === "string" ? lastPart(schema.name) : schema.name;
  const aliases = Array.isArray(schema.aliases)
    ? { aliases: schema.aliases.map((alias) => lastPart(String(alias))) }
    : {};
  switch (type) {
    case "record":
    case "error":
      return { type: "record", name, ...aliases, fields: fieldsOf(schema.fields) };
    case "enum":
      return {
        type,
        name,
        ...aliases,
        symbols: schema.symbols,
        ...("default" in schema && { default: schema.default }),
      };
    case "fixed":
      return { type, name, ...aliases, size: schema.size };
    case "array":
      return { type, items: withoutNamespaces(schema.items) };
    case "map":
      return { type, values: withoutNamespaces(schema.values) };
    default:
      return withoutNamespaces(type);
  }
}

function fieldsOf(fields: unknown): unknown {
  if (!Array.isArray(fields)) return fields;
  return fields.map((field: unknown) => {
    if (!jsonObject(field)) return field;
    const { name, type, aliases } = field;
    return {
      name,
      type: withoutNamespaces(type),
      ...(aliases !== undefined && { aliases }),
      ...("default" in field && { default: field.default }),
    };
  });
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf(".") + 1);
