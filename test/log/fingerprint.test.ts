import avro, { type Schema } from "avsc";
import { expect, test } from "vitest";
import { fingerprint } from "../../src/log/codecs/fingerprint.ts";

/** Schemas and signed fingerprints from the test data of the Avro specification. */
const known: readonly (readonly [Schema, bigint])[] = [
  ["null", 7195948357588979594n],
  ["boolean", -6970731678124411036n],
  ["int", 8247732601305521295n],
  [{ type: "int" }, 8247732601305521295n],
  ["long", -3434872931120570953n],
  ["float", 5583340709985441680n],
  ["double", -8181574048448539266n],
  ["bytes", 5746618253357095269n],
  ["string", -8142146995180207161n],
  [["int", { type: "boolean" }], 5392556393470105090n],
  [{ fields: [], type: "record", name: "foo", namespace: "x.y" }, 5916914534497305771n],
  [{ fields: [], type: "record", name: "a.b.foo", namespace: "x.y" }, -4616218487480524110n],
  [{ fields: [], type: "record", name: "foo", doc: "Useful info" }, -4824392279771201922n],
  [
    {
      fields: [
        { type: "boolean", name: "f1", default: true },
        { order: "descending", name: "f2", doc: "Hello", type: "int" },
      ],
      type: "record",
      name: "foo",
    },
    -4860222112080293046n,
  ],
  [
    {
      namespace: "x.y.z",
      type: "enum",
      name: "foo",
      doc: "foo bar",
      symbols: ["A1", "A2"],
    },
    -4448647247586288245n,
  ],
  [{ name: "foo", type: "fixed", size: 15 }, 1756455273707447556n],
  [{ items: { type: "null" }, type: "array" }, -589620603366471059n],
  [{ values: "string", type: "map" }, -8732877298790414990n],
  [
    {
      type: "record",
      name: "PigValue",
      fields: [{ name: "value", type: ["null", "int", "long", "PigValue"] }],
    },
    -1759257747318642341n,
  ],
];

test.each(known)("%j has the fingerprint of the Avro specification", (schema, expected) => {
  expect(BigInt.asIntN(64, fingerprint(avro.Type.forSchema(schema)))).toBe(expected);
});
