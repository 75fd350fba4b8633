/** Random values of an aspect's record as Model.check returns them: complete and normalized. */
import fc from "fast-check";
import type { Field, FieldType, Model } from "../../src/model/model.ts";

type Types = Pick<Model, "types">;

/** Well-formed: half a surrogate pair is not a character of UTF-8 text. */
const text = fc.string({ unit: "binary", maxLength: 6 });
const bytes = (constraints: { minLength: number; maxLength: number }) =>
  fc
    .array(fc.integer({ min: 0, max: 255 }), constraints)
    .map((codes) => String.fromCharCode(...codes));
const withoutNegativeZero = (n: number) => (n === 0 ? 0 : n);

const primitives = {
  string: text,
  boolean: fc.boolean(),
  int: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  long: fc.maxSafeInteger(),
  float: fc.float({ noNaN: true, noDefaultInfinity: true }).map(withoutNegativeZero),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }).map(withoutNegativeZero),
  bytes: bytes({ minLength: 0, maxLength: 5 }),
} as const;

const urn = fc
  .tuple(
    fc.constantFrom("corpuser", "dataset", "tag"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }),
  )
  .filter(([, id]) => !id.includes("urn"))
  .map(([type, id]) => `urn:li:${type}:${id}`);

/** Any key of a map; check.test.ts covers "__proto__". */
const key = text.filter((name) => name !== "__proto__");

export function arbitraryRecord(model: Types, name: string): fc.Arbitrary<Record<string, unknown>> {
  const type = model.types.get(name);
  if (type?.kind !== "record") throw new Error(`${name} is no record`);
  const required = type.fields.filter(isThere).map((field) => field.name);
  const fields = type.fields.map((field) => [field.name, arbitrary(model, field.type)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: required, noNullPrototype: true });
}

/** After the check, only an optional field without default may be absent. */
const isThere = (field: Field) => !field.optional || field.default !== undefined;

function arbitrary(model: Types, type: FieldType): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case "primitive":
      return primitives[type.name];
    case "urn":
      return urn;
    case "array":
      return fc.array(arbitrary(model, type.items), { maxLength: 2 });
    case "map":
      return fc.dictionary(key, arbitrary(model, type.values), {
        maxKeys: 2,
        noNullPrototype: true,
      });
    case "union":
      return fc.oneof(
        ...type.members.map(({ key, type }) =>
          arbitrary(model, type).map((value) => ({ [key]: value })),
        ),
      );
    case "named": {
      const named = model.types.get(type.name);
      if (named?.kind === "enum") return fc.constantFrom(...named.symbols);
      if (named?.kind === "fixed") return bytes({ minLength: named.size, maxLength: named.size });
      return arbitraryRecord(model, type.name);
    }
  }
}
