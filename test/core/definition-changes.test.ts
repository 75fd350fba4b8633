/** Which changes of the definition of a structured property are rejected. */
import { describe, expect, test } from "vitest";
import { rejectionOfDefinition } from "../../src/core/rules/definition-changes.ts";
import type { JsonObject } from "../../src/lib/json.ts";

const values = (...texts: readonly string[]) => ({
  allowedValues: texts.map((text) => ({ value: { string: text } })),
});
const definition: JsonObject = {
  qualifiedName: "io.tier",
  valueType: "urn:li:dataType:datahub.string",
  entityTypes: ["urn:li:entityType:datahub.dataset"],
};
const MULTIPLE = { cardinality: "MULTIPLE" };
const NUMBER = { valueType: "urn:li:dataType:datahub.number" };
const VERSION = "20260731120000";

const errorOf = (before: JsonObject | undefined, change: JsonObject, removed = false) =>
  rejectionOfDefinition(
    { ...definition, ...before, ...change },
    { previous: before && { ...definition, ...before }, removed },
  );

test.each<[string, JsonObject | undefined, JsonObject]>([
  ["the first definition", undefined, { ...values("a"), version: VERSION }],
  ["the same again", { ...values("a"), version: "2.0" }, {}],
  ["another title", {}, { displayName: "Tier", description: "how good" }],
  ["several values", { cardinality: "SINGLE" }, MULTIPLE],
  ["one value, as before", {}, { cardinality: "SINGLE" }],
  ["one more value", values("a"), values("b", "a")],
  [
    "a value in other words",
    values("a"),
    { allowedValues: [{ value: { string: "a" }, description: "x" }] },
  ],
  ["all values", values("a"), { allowedValues: undefined }],
])("a definition change is accepted: %s", (_, before, change) => {
  expect(errorOf(before, change)).toBeUndefined();
});

describe("a definition change that invalidates values", () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    ["another type", {}, NUMBER, "Value type cannot be changed"],
    ["one value", MULTIPLE, { cardinality: "SINGLE" }, "cannot be changed from MULTI to SINGLE"],
    ["one value by default", MULTIPLE, { cardinality: undefined }, "from MULTI to SINGLE"],
    ["fewer values", values("a", "b"), values("a"), '{"string":"b"}'],
    ["certain values", {}, values("a"), "Cannot restrict values that were previously allowed"],
  ])(
    "a definition change is rejected without a later version: %s",
    (_, before, change, message) => {
      const rejection = errorOf(before, change);
      expect(rejection).toMatchObject({
        code: "invalid",
        hint: expect.stringContaining("version"),
      });
      expect(rejection?.message).toContain(message);
      expect(errorOf(before, { ...change, version: VERSION })).toBeUndefined();
      const versioned = { ...before, version: VERSION };
      expect(errorOf(versioned, change)?.message).toContain(message);
      expect(errorOf(versioned, { ...change, version: "20260731115959" })?.message).toContain(
        message,
      );
      expect(errorOf(versioned, { ...change, version: "20260731120001" })).toBeUndefined();
    },
  );
});

test("the qualified name cannot change, with any version", () => {
  for (const version of [undefined, VERSION]) {
    const rejection = errorOf({}, { qualifiedName: "io.class", version });
    expect(rejection?.code).toBe("invalid");
    expect(rejection?.message).toContain('Structured Property: "io.tier" to "io.class"');
  }
});

test("a version has 14 digits", () => {
  for (const before of [undefined, {}]) {
    expect(errorOf(before, { version: "2" })?.message).toBe(
      'version "2" of the definition is not 14 digits',
    );
  }
  expect(errorOf({ version: "2" }, { displayName: "Tier" })).toBeUndefined();
});

test("a removed property keeps its definition", () => {
  const title = { displayName: "Tier" };
  expect(errorOf({}, title, true)?.message).toContain("Cannot mutate a soft deleted");
  expect(errorOf(undefined, {}, true)?.code).toBe("invalid");
  expect(errorOf({}, {}, true)).toBeUndefined();
});
