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

test("a value whose one part is of another kind is refused, or the part was never needed", () => {
  const junk = fc.constantFrom<unknown>(Number.NaN, [[]], () => 1, { "": { "": 1 } });
  fc.assert(
    fc.property(fc.constantFrom(...aspects), junk, fc.nat(), (aspect, part, at) => {
      const type = model.types.get(aspect.record);
      const fields = type?.kind === "record" ? type.fields : [];
      const field = fields[at % Math.max(fields.length, 1)];
      if (field === undefined) return;
      const checked = model.check(aspect, { [field.name]: part });
      expect(checked.ok, `${aspect.name}.${field.name}`).toBe(false);
    }),
  );
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
