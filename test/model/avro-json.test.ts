/** Every aspect's values keep what they say through the validator and through Avro. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createAvroCodec } from "../../src/model/avro-json.ts";
import type { Field } from "../../src/model/model.ts";
import { arbitraryRecord } from "./arbitrary-value.ts";
import { aspectNamed, defaultModel as model } from "./default-model.ts";

const aspects = [...model.aspects.values()];
const runsOfEach = 12;

test("a valid value of any aspect passes the check unchanged and comes back from Avro equal", () => {
  for (const aspect of aspects) {
    const codec = createAvroCodec(model, aspect.record);
    fc.assert(
      fc.property(arbitraryRecord(model, aspect.record), (value) => {
        const before = JSON.stringify(value);
        const checked = model.check(aspect, value);
        expect(checked, aspect.name).toEqual({ ok: true, value });
        expect(JSON.stringify(value)).toBe(before);
        expect(codec.decode(codec.encode(value)), aspect.name).toEqual(value);
      }),
      { numRuns: runsOfEach },
    );
  }
});

test("what is left out and has a default is filled in with it", () => {
  const given = (field: Field) => field.default !== undefined;
  for (const aspect of aspects) {
    const type = model.types.get(aspect.record);
    const fields = type?.kind === "record" ? type.fields.filter(given) : [];
    if (fields.length === 0) continue;
    fc.assert(
      fc.property(arbitraryRecord(model, aspect.record), (value) => {
        for (const field of fields) delete value[field.name];
        const checked = model.check(aspect, value);
        for (const field of fields) {
          expect(checked, aspect.name).toMatchObject({
            ok: true,
            value: { [field.name]: field.default },
          });
        }
        const again = JSON.parse(JSON.stringify(value));
        expect(model.check(aspect, again)).toEqual(checked);
      }),
      { numRuns: 3 },
    );
  }
});

test("a value of any aspect with one bad part is refused, and the part is named", () => {
  // No type takes one of these: numbers are finite, no array holds arrays.
  const bad = fc.constantFrom<() => unknown>(
    () => Number.NaN,
    () => Number.POSITIVE_INFINITY,
    () => [[]],
  );
  for (const aspect of aspects) {
    const type = model.types.get(aspect.record);
    const names = type?.kind === "record" ? type.fields.map((field) => field.name) : [];
    if (names.length === 0) continue;
    const value = arbitraryRecord(model, aspect.record);
    fc.assert(
      fc.property(value, fc.constantFrom(...names), bad, (value, name, part) => {
        value[name] = part();
        const checked = model.check(aspect, value);
        if (checked.ok) throw new Error(`${aspect.name} was accepted`);
        for (const { path } of checked.misfits) expect(`${path}/`).toContain(`/${name}/`);
      }),
      { numRuns: 3 },
    );
  }
});

test("Avro's name of a record is the model's, its unions are keyed by type", () => {
  const codec = createAvroCodec(model, aspectNamed("cost").record);
  expect(codec.type.name).toBe("com.linkedin.common.Cost");
  const value = { costType: "ORG_COST_TYPE", cost: { costCode: "c1" } };
  const bytes = codec.encode(value);
  expect(codec.type.fromBuffer(bytes)).toMatchObject({ cost: { string: "c1" } });
  expect(codec.decode(bytes)).toEqual(value);
});

test("bytes and fixed are the same bytes on both sides", () => {
  const fixed = createAvroCodec(model, "com.linkedin.avro2pegasus.events.KafkaAuditHeader");
  const header = {
    time: 1,
    server: "s",
    appName: "a",
    messageId: String.fromCharCode(...Array.from({ length: 16 }, (_, i) => i * 17)),
  };
  const bytes = fixed.encode(header);
  expect(bytes.includes(Buffer.from(header.messageId, "latin1"))).toBe(true);
  expect(fixed.decode(bytes)).toEqual(header);
});
