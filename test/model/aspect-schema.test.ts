/** The JSON Schemas of aspects accept the values that the service accepts. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { aspectSchemaOf } from "../../src/model/aspect-schema.ts";
import { aspectNamed, defaultModel as model } from "./default-model.ts";

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });
const compiled = (aspect: string) => ajv.compile(aspectSchemaOf(model, aspectNamed(aspect)));

test("the schema of every aspect is a valid JSON Schema", () => {
  for (const aspect of model.aspects.keys()) expect(compiled(aspect), aspect).toBeDefined();
});

const owner = { owner: "urn:li:corpuser:mira", type: "DATAOWNER" };
const hive = "urn:li:dataPlatform:hive";

test.each([
  ["a complete value", "ownership", { owners: [owner] }, true],
  ["null for an optional field", "ownership", { owners: [{ ...owner, typeUrn: null }] }, true],
  ["null for a required field", "ownership", { owners: null }, false],
  ["a missing field", "ownership", { owners: [{ owner: owner.owner }] }, false],
  ["an unknown symbol", "ownership", { owners: [{ ...owner, type: "EMPEROR" }] }, false],
  ["a text that is not a urn", "ownership", { owners: [{ ...owner, owner: "mira" }] }, false],
  ["a wrong type", "status", { removed: "maybe" }, false],
  ["a map", "datasetProperties", { customProperties: { team: "shop" } }, true],
  ["a wrong value in a map", "datasetProperties", { customProperties: { team: 1 } }, false],
])("the schema and the service agree on %s", (_, aspect, value, fits) => {
  expect(compiled(aspect)(value)).toBe(fits);
  expect(model.check(aspectNamed(aspect), value).ok).toBe(fits);
});

test("a union has exactly one of its members", () => {
  const schemaWith = (platformSchema: object) => ({
    ...{ schemaName: "s", platform: hive, version: 0, hash: "", fields: [], platformSchema },
  });
  const fits = compiled("schemaMetadata");
  const other = { "com.linkedin.schema.OtherSchema": { rawSchema: "" } };
  expect(fits(schemaWith(other))).toBe(true);
  expect(fits(schemaWith({}))).toBe(false);
  expect(fits(schemaWith({ Unknown: {} }))).toBe(false);
});
