/**
 * A record of the model → JSON Schema, in the dialect that create-validator.ts gives to ajv. Beside
 * the standard keywords it holds
 *
 *   absentWhenNull  names of optional fields: a null counts as absent
 *   oneMember       keys of a union: exactly one member, its key renamed to one of these
 *   urn             the string is a urn, to be given the configured namespace
 *   misfitsMax      of array items and map values: look no further after that many misfits
 *   expects         what is said to people when a value does not fit; no rule
 */
import type { Field, FieldType, NamedType, PrimitiveName } from "./model.ts";

/** `type` finishes the sentence "… cannot be coerced to"; `text` the sentence "expected …". */
export interface Expectation {
  readonly type: string;
  readonly text: string;
}

export type Schema = { readonly [keyword: string]: unknown; readonly expects?: Expectation };

/** More are not looked for: whoever sends that much is not helped by the rest. */
export const misfitsMax = 10;

/** Farther from 0, a JSON number is not a certain integer in JavaScript. */
const longMax = Number.MAX_SAFE_INTEGER;
const intMax = 2 ** 31 - 1;
const floatMax = 2 ** 128 - 2 ** 104;

/** A byte is a character up to U+00FF. */
const BYTES = "^[\\u0000-\\u00ff]*$";

export function recordSchema(
  name: string,
  fields: readonly Field[],
  types: ReadonlyMap<string, NamedType>,
): Schema {
  const properties = fields.map(({ name, type, default: value }) => {
    const schema = typeSchema(type, types);
    return [name, value === undefined ? schema : { ...schema, default: value }] as const;
  });
  return {
    $id: name,
    type: "object",
    absentWhenNull: fields.filter((field) => field.optional).map((field) => field.name),
    required: fields
      .filter((field) => !field.optional && field.default === undefined)
      .map((field) => field.name),
    properties: Object.fromEntries(properties),
    additionalProperties: false,
    expects: { type: name, text: "an object" },
  };
}

function typeSchema(type: FieldType, types: ReadonlyMap<string, NamedType>): Schema {
  switch (type.kind) {
    case "primitive":
      // Every primitive type has one.
      return primitives[type.name];
    case "urn":
      return {
        type: "string",
        urn: true,
        expects: { type: type.urnType, text: "a urn, such as urn:li:corpuser:jdoe" },
      };
    case "array": {
      const items = typeSchema(type.items, types);
      return {
        type: "array",
        items: { ...items, misfitsMax },
        expects: { type: "Array", text: `an array of ${nameOf(items)}` },
      };
    }
    case "map": {
      const values = typeSchema(type.values, types);
      return {
        type: "object",
        additionalProperties: { ...values, misfitsMax },
        expects: { type: "Map", text: `an object with any keys, each value ${nameOf(values)}` },
      };
    }
    case "union": {
      const members = type.members.map(({ key, type }) => [key, typeSchema(type, types)] as const);
      const keys = type.members.map(({ key }) => key);
      return {
        type: "object",
        oneMember: keys,
        properties: Object.fromEntries(members),
        expects: { type: "Union", text: `an object with one member: ${keys.join(" or ")}` },
      };
    }
    case "named":
      return namedSchema(types.get(type.name), type.name);
  }
}

function namedSchema(type: NamedType | undefined, name: string): Schema {
  switch (type?.kind) {
    case "enum":
      return {
        enum: type.symbols,
        expects: { type: name, text: `one of ${type.symbols.join(", ")}` },
      };
    case "fixed": {
      const { size } = type;
      const text = `${size} bytes, each a character up to U+00FF`;
      return {
        type: "string",
        pattern: BYTES,
        minLength: size,
        maxLength: size,
        expects: { type: name, text },
      };
    }
    default:
      return { $ref: name, expects: { type: name, text: `an object: ${name}` } };
  }
}

const nameOf = (schema: Schema): string => schema.expects?.text ?? "";

const integer = (type: string, max: number, min: number): Schema => ({
  type: "integer",
  minimum: min,
  maximum: max,
  expects: { type, text: `an integer from ${min} to ${max}` },
});

const primitives: Readonly<Record<PrimitiveName, Schema>> = {
  string: { type: "string", expects: { type: "String", text: "a string" } },
  boolean: { type: "boolean", expects: { type: "Boolean", text: "true or false" } },
  int: integer("Integer", intMax, -intMax - 1),
  long: integer("Long", longMax, -longMax),
  float: {
    type: "number",
    minimum: -floatMax,
    maximum: floatMax,
    expects: { type: "Float", text: `a number from ${-floatMax} to ${floatMax}` },
  },
  double: { type: "number", expects: { type: "Double", text: "a finite number" } },
  bytes: {
    type: "string",
    pattern: BYTES,
    expects: { type: "Bytes", text: "a string of bytes, each a character up to U+00FF" },
  },
};
