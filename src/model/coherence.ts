/** Checks that the types of a model are consistent. Throws CatalogError `invalid`. */
import { jsonObject } from "../lib/json.ts";
import { broken, type DefinedType } from "./avro-schema.ts";
import type { Entity, EntityKeyPart, FieldType, NamedType } from "./model.ts";

type Types = ReadonlyMap<string, DefinedType>;

/** Every type that a field refers to is defined, and its default is of that type. */
export function checkFields(types: Types): void {
  for (const { type, file } of types.values()) {
    for (const field of type.kind === "record" ? type.fields : []) {
      const where = `field "${field.name}" of record "${type.name}"`;
      const missing = namesIn(field.type).find((name) => !types.has(name));
      if (missing !== undefined) {
        throw broken(
          file,
          `${where} has the type "${missing}", which no schema defines`,
          "Write the type's full name, namespace included, and add its schema if it is new",
        );
      }
      if (field.default === undefined || isOf(field.default, field.type, types)) continue;
      throw broken(
        file,
        `${where} has the default ${JSON.stringify(field.default)}, which is not of its type`,
        "Write a value of the type, or, where a field may be absent, leave the default out",
      );
    }
  }
}

/** Looks at the outermost level: the validator sees the rest when it fills the default in. */
function isOf(value: unknown, type: FieldType, types: Types): boolean {
  switch (type.kind) {
    case "primitive":
      if (type.name === "boolean") return typeof value === "boolean";
      return typeof value === (["string", "bytes"].includes(type.name) ? "string" : "number");
    case "urn":
      return typeof value === "string";
    case "array":
      return Array.isArray(value);
    case "named": {
      const named = types.get(type.name)?.type;
      if (named?.kind === "enum") return named.symbols.includes(String(value));
      return named?.kind === "fixed" ? typeof value === "string" : jsonObject(value);
    }
    default:
      return jsonObject(value);
  }
}

/** Full names of the named types in a field's type. */
export function namesIn(type: FieldType): readonly string[] {
  switch (type.kind) {
    case "named":
      return [type.name];
    case "array":
      return namesIn(type.items);
    case "map":
      return namesIn(type.values);
    case "union":
      return type.members.flatMap((member) => namesIn(member.type));
    default:
      return [];
  }
}

/** An event has a time: its record has a long timestampMillis. */
export function checkTimeseries(type: NamedType, file: string): void {
  const fields = type.kind === "record" ? type.fields : [];
  const time = fields.find((field) => field.name === "timestampMillis");
  if (time?.type.kind === "primitive" && time.type.name === "long" && !time.optional) return;
  throw broken(
    file,
    `the timeseries aspect of "${type.name}" has no timestampMillis of type long`,
    'Add { "name": "timestampMillis", "type": "long" }, or leave "type": "timeseries" out',
  );
}

/** The fields of a key record, and how each stands in a urn. */
export function keyOfEntity(
  entity: string,
  key: DefinedType | undefined,
  types: Types,
): Pick<Entity, "keyFields" | "keyParts"> {
  const keyFields = key?.type.kind === "record" ? key.type.fields : [];
  const file = key?.file ?? "";
  if (keyFields.length === 0) throw broken(file, `the key of entity "${entity}" has no fields`);
  const keyParts = keyFields.map(({ name, type, optional }) => {
    const part = partOf(type, types);
    if (part !== undefined) return { name, optional, ...part };
    throw broken(
      file,
      `field "${name}" of the key of entity "${entity}" is neither a string nor a urn nor an enum`,
      "Only such fields can stand in a urn: change its type, or move it to another aspect",
    );
  });
  return { keyFields, keyParts };
}

function partOf(
  type: FieldType,
  types: Types,
): Pick<EntityKeyPart, "kind" | "symbols"> | undefined {
  if (type.kind === "urn") return { kind: "urn", symbols: [] };
  if (type.kind === "primitive" && type.name === "string") return { kind: "text", symbols: [] };
  const named = type.kind === "named" ? types.get(type.name)?.type : undefined;
  return named?.kind === "enum" ? { kind: "enum", symbols: named.symbols } : undefined;
}
