/**
 * A record of the model → JSON Schema, in the dialect that create-validator.ts gives to ajv. Beside
 * the standard keywords it holds
 *
 *   absentWhenNull  names of optional fields: a null counts as absent
 *   oneMember       keys of a union: exactly one member, its key renamed to one of these
 *   urn             the rule of a urn (urn-rules.ts); the urn gets the configured namespace
 *   validationErrorsMax  of array items and map values: the check stops after that many errors
 *   expects         the expected value, for messages; not a rule
 */
import type { Entity, Field, FieldType, NamedType, PrimitiveName } from "./model.ts";
import { type PendingRule, ruleOfUrn, rulesOfField, stepInto } from "./urn-rules.ts";

/** `type` finishes the sentence "… cannot be coerced to"; `text` the sentence "expected …". */
export interface Expectation {
  readonly type: string;
  readonly text: string;
}

export type JsonSchema = { readonly [keyword: string]: unknown; readonly expects?: Expectation };

/** Maximum number of reported errors. */
export const validationErrorsMax = 10;

/** Farther from 0, a JSON number is not a certain integer in JavaScript. */
const longMax = Number.MAX_SAFE_INTEGER;
const intMax = 2 ** 31 - 1;
const floatMax = 2 ** 128 - 2 ** 104;

/** A byte is a character up to U+00FF. */
const BYTES = "^[\\u0000-\\u00ff]*$";

interface SchemaSource {
  readonly types: ReadonlyMap<string, NamedType>;
  readonly entities: ReadonlyMap<string, Entity>;
  /** Called once for each schema, before a validator refers to its `$id`. */
  readonly add: (schema: JsonSchema) => void;
}

/**
 * Creates the schemas of records, each at its first use. The result returns the `$id` of a record's
 * schema. A record has a separate schema for each set of rules from annotations of enclosing fields.
 */
export function createRecordSchemas({ types, entities, add }: SchemaSource) {
  const ids = new Map<string, string>();

  function idOf(record: string, rules: readonly PendingRule[] = []): string {
    const inside = rules.filter(({ path }) => path.length > 0);
    const key = inside.length === 0 ? record : `${record} ${JSON.stringify(inside)}`;
    const known = ids.get(key);
    if (known !== undefined) return known;
    const id = inside.length === 0 ? record : `${record}.ruled${ids.size}`;
    ids.set(key, id);
    const type = types.get(record);
    if (type?.kind === "record") add(recordSchema(id, type, inside));
    return id;
  }

  function recordSchema(
    $id: string,
    { name, fields }: { readonly name: string; readonly fields: readonly Field[] },
    rules: readonly PendingRule[],
  ): JsonSchema {
    const properties = fields.map((field) => {
      const inner = [...stepInto(rules, field.name), ...rulesOfField(field)];
      const schema = typeSchema(field.type, inner);
      return [
        field.name,
        field.default === undefined ? schema : { ...schema, default: field.default },
      ] as const;
    });
    return {
      $id,
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

  function typeSchema(type: FieldType, rules: readonly PendingRule[]): JsonSchema {
    switch (type.kind) {
      case "primitive":
        // Every primitive type has one.
        return primitives[type.name];
      case "urn":
        return urnSchema(type.urnType, rules);
      case "array": {
        // An annotation of a list applies to its items.
        const own = rules.filter(({ path }) => path.length === 0);
        const items = typeSchema(type.items, [...own, ...stepInto(rules, "*")]);
        return {
          type: "array",
          items: { ...items, validationErrorsMax },
          expects: { type: "Array", text: `an array of ${nameOf(items)}` },
        };
      }
      case "map": {
        const values = typeSchema(type.values, stepInto(rules, "*"));
        return {
          type: "object",
          additionalProperties: { ...values, validationErrorsMax },
          expects: { type: "Map", text: `an object with any keys, each value ${nameOf(values)}` },
        };
      }
      case "union": {
        const members = type.members.map(
          ({ key, type }) => [key, typeSchema(type, stepInto(rules, key))] as const,
        );
        const keys = type.members.map(({ key }) => key);
        return {
          type: "object",
          oneMember: keys,
          properties: Object.fromEntries(members),
          expects: { type: "Union", text: `an object with one member: ${keys.join(" or ")}` },
        };
      }
      case "named":
        return namedSchema(type.name, rules);
    }
  }

  function urnSchema(urnType: string, rules: readonly PendingRule[]): JsonSchema {
    const urn = ruleOfUrn(urnType, rules, entities);
    const of = urn.types === undefined ? "" : ` of entity type ${urn.types.join(" or ")}`;
    const example = urn.types === undefined ? ", such as urn:li:corpuser:jdoe" : "";
    return { type: "string", urn, expects: { type: urnType, text: `a urn${of}${example}` } };
  }

  function namedSchema(name: string, rules: readonly PendingRule[]): JsonSchema {
    const type = types.get(name);
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
        return { $ref: idOf(name, rules), expects: { type: name, text: `an object: ${name}` } };
    }
  }

  return idOf;
}

const nameOf = (schema: JsonSchema): string => schema.expects?.text ?? "";

const integer = (type: string, max: number, min: number): JsonSchema => ({
  type: "integer",
  minimum: min,
  maximum: max,
  expects: { type, text: `an integer from ${min} to ${max}` },
});

const primitives: Readonly<Record<PrimitiveName, JsonSchema>> = {
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
