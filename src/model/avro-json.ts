/**
 * Between an aspect's value in the JSON encoding that the API speaks and the value that avsc reads
 * and writes: absent ↔ null, union keys ↔ branch names, strings of bytes ↔ buffers. Values have
 * been through Model.check.
 */
import avsc from "avsc";
import { assert } from "../core/errors.ts";
import type { Field, FieldType, Model } from "./model.ts";

type Types = Pick<Model, "types">;
type Members = Readonly<Record<string, unknown>>;

export interface AvroCodec {
  /** Avro's name of the record is the model's. */
  readonly type: avsc.Type;
  readonly encode: (value: Members) => Buffer;
  readonly decode: (bytes: Buffer) => Record<string, unknown>;
}

/** `record` is the full name of a record of the model. */
export function createAvroCodec(model: Types, record: string): AvroCodec {
  const type = avsc.Type.forSchema(schemaOf(model, record), {
    wrapUnions: true,
    registry: { long },
  });
  const named: FieldType = { kind: "named", name: record };
  return {
    type,
    encode: (value) => type.toBuffer(toAvro(model, named, value)),
    decode: (bytes) => members(fromAvro(model, named, type.fromBuffer(bytes))),
  };
}

/**
 * avsc's own long reads some numbers below -2^52 back with the other sign (zigzagged, they are no
 * exact doubles); this one is exact for every safe integer, which is what the validator lets through.
 */
const long = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => Number(bytes.readBigInt64LE()),
  toBuffer: (n: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(n));
    return bytes;
  },
  fromJSON: Number,
  toJSON: Number,
  isValid: Number.isSafeInteger,
  compare: (a: number, b: number) => Math.sign(a - b),
});

/** The record's schema with every type that it needs defined at its first use. */
function schemaOf(model: Types, record: string): avsc.Schema {
  const defined = new Set<string>();
  const named = (name: string): unknown => {
    const type = model.types.get(name);
    if (type === undefined || defined.has(name)) return name;
    defined.add(name);
    switch (type.kind) {
      case "enum":
        return { type: "enum", name, symbols: type.symbols };
      case "fixed":
        return { type: "fixed", name, size: type.size };
      case "record":
        return { type: "record", name, fields: type.fields.map(field) };
    }
  };
  const field = ({ name, type, optional }: Field) => {
    const schema = of(type);
    return { name, type: optional ? ["null", ...[schema].flat()] : schema };
  };
  const of = (type: FieldType): unknown => {
    switch (type.kind) {
      case "primitive":
        return type.name;
      case "urn":
        return "string";
      case "array":
        return { type: "array", items: of(type.items) };
      case "map":
        return { type: "map", values: of(type.values) };
      case "union":
        return type.members.map((member) => of(member.type));
      case "named":
        return named(type.name);
    }
  };
  return named(record) as avsc.Schema;
}

/** What avsc calls a type as the branch of a union. */
function branchOf(type: FieldType): string {
  switch (type.kind) {
    case "primitive":
    case "named":
      return type.name;
    case "urn":
      return "string";
    default:
      return type.kind;
  }
}

function toAvro(model: Types, type: FieldType, value: unknown): unknown {
  switch (type.kind) {
    case "array":
      return list(value).map((item) => toAvro(model, type.items, item));
    case "map":
      return mapValues(members(value), (item) => toAvro(model, type.values, item));
    case "union": {
      const [key = "", item] = Object.entries(members(value))[0] ?? [];
      const member = type.members.find((m) => m.key === key);
      assert(member, `"${key}" is a member of the union`);
      return { [branchOf(member.type)]: toAvro(model, member.type, item) };
    }
    case "named": {
      const found = model.types.get(type.name);
      if (found?.kind === "fixed") return Buffer.from(String(value), "latin1");
      if (found?.kind !== "record") return value;
      const from = members(value);
      return fieldsOf(found.fields, (field) => fieldToAvro(model, field, from[field.name]));
    }
    default:
      return branchOf(type) === "bytes" ? Buffer.from(String(value), "latin1") : value;
  }
}

function fieldToAvro(model: Types, { type, optional }: Field, value: unknown): unknown {
  if (value === undefined) return null;
  const avro = toAvro(model, type, value);
  // ["null", A, B] is one union for avsc; ["null", T] wraps T.
  return optional && type.kind !== "union" ? { [branchOf(type)]: avro } : avro;
}

function fromAvro(model: Types, type: FieldType, value: unknown): unknown {
  switch (type.kind) {
    case "array":
      return list(value).map((item) => fromAvro(model, type.items, item));
    case "map":
      return mapValues(members(value), (item) => fromAvro(model, type.values, item));
    case "union": {
      const [branch = "", item] = Object.entries(members(value))[0] ?? [];
      const member = type.members.find((m) => branchOf(m.type) === branch);
      assert(member, `"${branch}" is a branch of the union`);
      return { [member.key]: fromAvro(model, member.type, item) };
    }
    case "named": {
      const found = model.types.get(type.name);
      if (found?.kind === "fixed") return Buffer.from(value as Uint8Array).toString("latin1");
      if (found?.kind !== "record") return value;
      const from = members(value);
      return fieldsOf(found.fields, (field) => fieldFromAvro(model, field, from[field.name]));
    }
    default:
      return Buffer.isBuffer(value) ? value.toString("latin1") : value;
  }
}

function fieldFromAvro(model: Types, { type, optional }: Field, value: unknown): unknown {
  if (value === null) return undefined;
  const avro = optional && type.kind !== "union" ? members(value)[branchOf(type)] : value;
  return fromAvro(model, type, avro);
}

function fieldsOf(fields: readonly Field[], read: (field: Field) => unknown) {
  const entries = fields.map((field) => [field.name, read(field)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

const mapValues = (map: Members, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));

const members = (value: unknown) => value as Record<string, unknown>;
const list = (value: unknown) => value as readonly unknown[];
