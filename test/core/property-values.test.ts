/** Values of structured properties against their definitions: which are rejected, and with which message. */
import { describe, expect, test } from "vitest";
import { rejectionOfValues } from "../../src/core/rules/property-values.ts";
import type { JsonObject } from "../../src/lib/json.ts";

const URN = "urn:li:structuredProperty:io.tier";
const OTHER = "urn:li:structuredProperty:io.other";
const type = (name: string) => ({ valueType: `urn:li:dataType:datahub.${name}` });
const string = (text: string) => ({ string: text });
const double = (number: number) => ({ double: number });
const entry = (...values: readonly JsonObject[]) => ({ propertyUrn: URN, values });
const from = (source: string, value: JsonObject) => ({
  ...entry(value),
  attribution: { time: 1, actor: "urn:li:corpuser:mira", source: `urn:li:dataHubAction:${source}` },
});

const errorOf = (
  properties: readonly JsonObject[],
  definition: JsonObject | undefined,
  more: { before?: readonly JsonObject[]; removed?: boolean; patched?: boolean } = {},
) =>
  rejectionOfValues(properties, {
    before: more.before ?? [],
    definitionOf: (urn) =>
      urn === URN ? { value: definition, removed: more.removed ?? false } : undefined,
    patched: more.patched ?? false,
  });

describe("a property value", () => {
  test.each<[string, JsonObject, string | undefined]>([
    ["number", double(1.5), undefined],
    ["number", string("1.5e3"), undefined],
    ["number", string("many"), "should be a number"],
    ["number", string(""), "should be a number"],
    ["number", string("0x10"), "should be a number"],
    ["string", string(""), undefined],
    ["string", double(1), "should be a string"],
    ["rich_text", string("# Title"), undefined],
    ["rich_text", double(1), "should be a string"],
    ["date", string("2026-02-28"), undefined],
    ["date", string("1000-01-01"), undefined],
    ["date", string("9999-12-31"), undefined],
    ["date", string("0999-12-31"), "should be a date with format YYYY-MM-DD"],
    ["date", string("2026-02-30"), "should be a date"],
    ["date", string("2026-13-01"), "should be a date"],
    ["date", string("2026-2-1"), "should be a date"],
    ["date", string("2026-02-01T00:00:00Z"), "should be a date"],
    ["date", double(20260201), "should be a string"],
    ["urn", string("urn:li:corpuser:mira"), undefined],
    ["urn", string("mira"), "should be an urn"],
    ["urn", double(1), "should be a string"],
    ["colour", string("red"), 'of the type "urn:li:dataType:datahub.colour"'],
  ])("a value of the type %s: %j", (name, value, expected) => {
    const rejection = errorOf([entry(value)], type(name));
    if (expected === undefined) expect(rejection).toBeUndefined();
    else {
      expect(rejection).toMatchObject({ code: "invalid", hint: expect.any(String) });
      expect(rejection?.message).toContain(`property "${URN}", value ${JSON.stringify(value)}`);
      expect(rejection?.message).toContain(expected);
    }
  });

  test("a urn value may be restricted to entity types", () => {
    const allowedTypes = ["urn:li:entityType:datahub.corpGroup", "urn:li:entityType:datahub.tag"];
    const definition = { ...type("urn"), typeQualifier: { allowedTypes } };
    expect(errorOf([entry(string("urn:li:corpGroup:checkout"))], definition)).toBeUndefined();
    const rejection = errorOf([entry(string("urn:li:corpuser:mira"))], definition);
    expect(rejection?.message).toContain(`supported urn types: "${allowedTypes.join('", "')}"`);
    expect(errorOf([entry(string("urn:li:x:y"))], { ...type("urn"), typeQualifier: {} })).toBe(
      undefined,
    );
  });

  test("a value must be one of the allowed values", () => {
    const allowedValues = [{ value: string("gold"), description: "best" }, { value: double(2) }];
    const definition = { ...type("string"), allowedValues };
    expect(errorOf([entry(string("gold"))], definition)).toBeUndefined();
    expect(errorOf([entry(double(2))], { ...definition, ...type("number") })).toBeUndefined();
    expect(errorOf([entry(string("iron"))], definition)?.message).toBe(
      `property "${URN}", value {"string":"iron"} should be one of "gold", "2"`,
    );
    expect(errorOf([entry(string("2"))], definition)?.message).toContain("should be one of");
    expect(errorOf([entry(string("x"))], { ...definition, allowedValues: [] })?.message).toContain(
      "should be one of none",
    );
  });

  test("a value is accepted without a known type, definition or property", () => {
    expect(errorOf([entry(double(1))], { valueType: "urn:li:dataType:NUMBER" })).toBeUndefined();
    expect(errorOf([entry(double(1), string("x"))], undefined)).toBeUndefined();
    expect(errorOf([{ ...entry(double(1)), propertyUrn: OTHER }], type("string"))).toBeUndefined();
  });
});

describe("a property", () => {
  test("a property has a single value unless its cardinality is MULTIPLE", () => {
    const both = [entry(string("a"), string("b"))];
    for (const single of [{}, { cardinality: "SINGLE" }]) {
      expect(errorOf(both, { ...type("string"), ...single })?.message).toBe(
        `property "${URN}" has cardinality 1, but multiple values were assigned: "a", "b"`,
      );
    }
    expect(errorOf(both, { ...type("string"), cardinality: "MULTIPLE" })).toBeUndefined();
    expect(errorOf([entry()], type("string"))).toBeUndefined();
  });

  test("a property has a single entry, whatever its source", () => {
    const several = [from("a", string("x")), from("b", string("x"))];
    for (const entries of [several, [entry(string("x")), entry(string("x"))]]) {
      expect(errorOf(entries, type("string"))).toMatchObject({
        code: "invalid",
        message: `property "${URN}" has multiple entries: 2`,
      });
    }
  });

  test("a patch may add an entry for each source", () => {
    const [a, b] = [from("a", string("x")), from("b", string("y"))];
    const patched = { before: [a], patched: true };
    expect(errorOf([a, b], type("string"), patched)).toBeUndefined();
    expect(errorOf([a, a], type("string"), patched)?.message).toContain("multiple entries");
    expect(errorOf([a, from("b", double(1))], type("string"), patched)?.message).toContain(
      "should be a string",
    );
  });

  test("a removed property accepts no value", () => {
    const rejection = errorOf([entry(string("x"))], type("string"), { removed: true });
    expect(rejection?.code).toBe("invalid");
    expect(rejection?.message).toBe(
      `Cannot apply a soft deleted Structured Property value: "${URN}" is removed`,
    );
  });

  test("a value that the entity already has may be written again unchanged", () => {
    const wrong = [entry(double(1)), entry(string("b"), string("c"))];
    const before = { before: wrong, removed: true };
    expect(errorOf(wrong, type("string"), before)).toBeUndefined();
    const more = { ...entry(string("x")), propertyUrn: OTHER };
    expect(errorOf([...wrong, more], type("string"), before)).toBeUndefined();
    expect(errorOf([entry(double(2))], type("string"), before)?.message).toContain("soft deleted");
  });
});
