/**
 * Avro schema text → the model's types. Understands both ways of writing: one named type per file
 * that refers to others by full name, and files that define every type inline at its first use.
 *
 * A urn is a string with the custom property "Urn" on the type, or, as the reference publishes it,
 * on the field ("Urn" or "java.class"). A union member's custom property "alias" is its JSON key.
 */
import { CatalogError } from "../core/errors.ts";
import { type JsonObject, jsonObject } from "../lib/json.ts";
import type {
  Annotation,
  Field,
  FieldType,
  NamedType,
  PrimitiveName,
  UnionMember,
} from "./model.ts";

/** An entity in one directory: complete, or (in an extension) its additions. */
export interface EntityEntry {
  readonly name: string;
  readonly keyAspect: string | undefined;
  readonly aspects: readonly string[];
  readonly category: string | undefined;
  readonly searchGroup: string | undefined;
  readonly file: string;
}

export interface SnapshotEntry {
  readonly record: string;
  readonly entity: string;
  readonly aspects: readonly string[];
  readonly file: string;
}

export interface ModelPart {
  /** By full name as the model gives it out. */
  readonly types: ReadonlyMap<string, DefinedType>;
  readonly entities: readonly EntityEntry[];
  readonly snapshots: readonly SnapshotEntry[];
}

/** A named type as one file defines it. */
export interface DefinedType {
  readonly type: NamedType;
  /** Custom properties of a record: "Aspect", "Entity". */
  readonly aspect: Annotation | undefined;
  readonly entity: Annotation | undefined;
  readonly file: string;
}

interface SchemaReading {
  readonly file: string;
  /** From a full name as written to the full name that the model gives out. */
  readonly rename: (name: string) => string;
  readonly define: (defined: DefinedType) => void;
}

const PRIMITIVES: ReadonlyMap<string, FieldType> = new Map(
  (["string", "int", "long", "float", "double", "boolean", "bytes"] satisfies PrimitiveName[]).map(
    (name) => [name, { kind: "primitive", name }],
  ),
);

/** Properties of Avro, and those with a member of Field; all others go to Field.properties. */
const KNOWN_OF_FIELD = new Set([
  ...["name", "type", "default", "doc", "order", "aliases"],
  ...["Searchable", "Relationship", "TimeseriesField", "TimeseriesFieldCollection"],
  ...["Urn", "urn_is_array", "java"],
]);

/** Throws CatalogError `invalid` with the file, what is wrong and what to do. */
export function broken(file: string, what: string, hint?: string): CatalogError {
  return new CatalogError("invalid", `model file "${file}": ${what}`, { hint });
}

/** Reads the named type that a file holds, and those defined inside it. */
export function readSchema(schema: unknown, reading: SchemaReading): void {
  if (!jsonObject(schema) || !["record", "enum", "fixed"].includes(String(schema.type))) {
    throw broken(
      reading.file,
      `the schema is not a record, an enum or a fixed`,
      'Begin the file with { "type": "record", "name": …, "namespace": …, "fields": […] }',
    );
  }
  readNamed(schema, "", reading);
}

function readNamed(schema: JsonObject, enclosing: string, reading: SchemaReading): FieldType {
  const { name: written, namespace } = splitName(schema, enclosing, reading);
  const name = reading.rename(written);
  reading.define({
    type: namedType(schema, name, namespace, reading),
    aspect: annotation(schema.Aspect),
    entity: annotation(schema.Entity),
    file: reading.file,
  });
  return { kind: "named", name };
}

function namedType(
  schema: JsonObject,
  name: string,
  namespace: string,
  reading: SchemaReading,
): NamedType {
  switch (schema.type) {
    case "enum": {
      const symbols = schema.symbols;
      if (!Array.isArray(symbols) || symbols.length === 0 || !symbols.every(isText)) {
        throw broken(reading.file, `enum "${name}" has no list of symbols`);
      }
      return { kind: "enum", name, symbols };
    }
    case "fixed": {
      if (typeof schema.size !== "number") {
        throw broken(reading.file, `fixed "${name}" has no size in bytes`);
      }
      return { kind: "fixed", name, size: schema.size };
    }
    default: {
      if (!Array.isArray(schema.fields)) {
        throw broken(reading.file, `record "${name}" has no list of fields`);
      }
      const fields = schema.fields.flatMap((field) => readField(field, name, namespace, reading));
      const twice = fields.find((field, i) => fields.findIndex((f) => f.name === field.name) < i);
      if (twice) throw broken(reading.file, `record "${name}" has two fields "${twice.name}"`);
      return { kind: "record", name, fields };
    }
  }
}

function splitName(schema: JsonObject, enclosing: string, { file }: SchemaReading) {
  const { name, namespace } = schema;
  if (!isText(name)) throw broken(file, `a ${String(schema.type)} has no name`);
  const dot = name.lastIndexOf(".");
  if (dot >= 0) return { name, namespace: name.slice(0, dot) };
  const space = isText(namespace) ? namespace : enclosing;
  return { name: space === "" ? name : `${space}.${name}`, namespace: space };
}

function readField(
  field: unknown,
  record: string,
  namespace: string,
  reading: SchemaReading,
): readonly Field[] {
  if (!jsonObject(field) || !isText(field.name)) {
    throw broken(reading.file, `a field of record "${record}" has no name`);
  }
  const where = `field "${field.name}" of record "${record}"`;
  const members = Array.isArray(field.type) ? field.type : [field.type];
  const others = members.filter((member) => member !== "null");
  const optional = others.length < members.length;
  // A field that can only be null holds nothing: a value is no better for it.
  if (optional && others.length === 0) return [];
  // ["null", T] is an optional T; a union of one stays a union where it is written as one.
  const union =
    Array.isArray(field.type) && (!optional || others.length > 1 || hasAlias(others[0]));
  const plain = readType(union ? others : others[0], namespace, where, reading);
  const type = withUrn(plain, urnHint(field));
  const properties = Object.entries(field).filter(([key]) => !KNOWN_OF_FIELD.has(key));
  return [
    {
      name: field.name,
      type,
      optional,
      ...defaultOf(field, type, optional),
      searchable: annotation(field.Searchable),
      relationship: annotation(field.Relationship),
      timeseriesField: annotation(field.TimeseriesField),
      timeseriesFieldCollection: annotation(field.TimeseriesFieldCollection),
      // The reference repeats the relationship's entityTypes beside "Urn"; they say nothing more.
      properties: Object.fromEntries(
        properties.filter(([key]) => key !== "entityTypes" || field.Urn === undefined),
      ),
    },
  ];
}

function readType(
  type: unknown,
  namespace: string,
  where: string,
  reading: SchemaReading,
): FieldType {
  if (Array.isArray(type)) {
    return { kind: "union", members: type.map((t) => readMember(t, namespace, where, reading)) };
  }
  if (isText(type)) {
    const primitive = PRIMITIVES.get(type);
    if (primitive) return primitive;
    if (type === "null") {
      throw broken(
        reading.file,
        `${where} has "null" inside its type`,
        'Only a field may be optional: write its type as ["null", T]',
      );
    }
    const name = type.includes(".") || namespace === "" ? type : `${namespace}.${type}`;
    return { kind: "named", name: reading.rename(name) };
  }
  if (!jsonObject(type)) throw broken(reading.file, `${where} has no type`);
  switch (type.type) {
    case "array":
      return { kind: "array", items: readType(type.items, namespace, where, reading) };
    case "map":
      return { kind: "map", values: readType(type.values, namespace, where, reading) };
    case "record":
    case "enum":
    case "fixed":
      return readNamed(type, namespace, reading);
    default: {
      const inner = readType(type.type, namespace, where, reading);
      return isText(type.Urn) ? withUrn(inner, type.Urn) : inner;
    }
  }
}

function readMember(
  member: unknown,
  namespace: string,
  where: string,
  reading: SchemaReading,
): UnionMember {
  const type = readType(member, namespace, where, reading);
  if (hasAlias(member)) return { key: member.alias, type };
  switch (type.kind) {
    case "primitive":
    case "named":
      return { key: type.name, type };
    case "urn":
      return { key: "string", type };
    case "array":
    case "map":
      return { key: type.kind, type };
    case "union":
      throw broken(reading.file, `${where} has a union inside a union`);
  }
}

/** The innermost string of the type is a urn. */
function withUrn(type: FieldType, urnType: string | undefined): FieldType {
  if (urnType === undefined) return type;
  switch (type.kind) {
    case "primitive":
      return type.name === "string" ? { kind: "urn", urnType } : type;
    case "array":
      return { kind: "array", items: withUrn(type.items, urnType) };
    case "map":
      return { kind: "map", values: withUrn(type.values, urnType) };
    case "union":
      return {
        kind: "union",
        members: type.members.map((m) => ({ key: m.key, type: withUrn(m.type, urnType) })),
      };
    default:
      return type;
  }
}

/** A field with a relationship is a urn, even without further annotations. */
function urnHint(field: JsonObject): string | undefined {
  if (isText(field.Urn)) return field.Urn;
  const javaClass = jsonObject(field.java) ? field.java.class : undefined;
  const urnClass = isText(javaClass) ? /\.urn\.(\w+)$/.exec(javaClass)?.[1] : undefined;
  return urnClass ?? (jsonObject(field.Relationship) ? "Urn" : undefined);
}

/** An optional field whose default is null has none. Members that are null are left out of it. */
function defaultOf(field: JsonObject, type: FieldType, optional: boolean): { default?: unknown } {
  if (field.default === undefined || (optional && field.default === null)) return {};
  const value = withoutNulls(field.default);
  // Avro writes the default of a union as a bare value of its first member.
  const first = type.kind === "union" ? type.members[0] : undefined;
  return { default: first === undefined ? value : { [first.key]: value } };
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!jsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
}

const hasAlias = (type: unknown): type is JsonObject & { readonly alias: string } =>
  jsonObject(type) && isText(type.alias);

const annotation = (value: unknown): Annotation | undefined =>
  jsonObject(value) ? value : undefined;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
