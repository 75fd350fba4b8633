/** Filters: every condition on every type of value, and the forms of a filter. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CatalogError } from "../../src/core/errors.ts";
import {
  type Criterion,
  compileFilter,
  compileFilterOver,
  type Filter,
  fieldValues,
  intersectFilters,
} from "../../src/core/query/filter.ts";
import { cpuMilliseconds } from "../support/cpu-milliseconds.ts";

const event = {
  urn: "urn:li:dataset:(urn:li:dataPlatform:hive,a.B,PROD)",
  timestampMillis: 1000,
  rowCount: 42,
  ratio: 0.5,
  partial: true,
  name: "Harvests of May",
  empty: [],
  nothing: null,
  tags: ["urn:li:tag:PII", "urn:li:tag:fresh"],
  eventGranularity: { unit: "DAY", multiple: 1 },
  userCounts: [
    { user: "urn:li:corpuser:mira", count: 3 },
    { user: "urn:li:corpuser:ole", count: 5 },
  ],
  customProperties: { "team.lead": "mira" },
  value: { string: "plain" },
};

const one = (criterion: Criterion): Filter => ({ or: [{ and: [criterion] }] });
const fits = (criterion: Criterion): boolean => compileFilter(one(criterion))(event);

describe("conditions", () => {
  test.each<[string, string, string | string[], boolean]>([
    ["EQUAL", "name", "Harvests of May", true],
    ["EQUAL", "name", "harvests of may", false],
    ["EQUAL", "name", "Harvests", false],
    ["EQUAL", "name", ["x", "Harvests of May"], true],
    ["EQUAL", "rowCount", "42", true],
    ["EQUAL", "rowCount", "42.0", true],
    ["EQUAL", "rowCount", "4.2e1", true],
    ["EQUAL", "rowCount", "0x2a", false],
    ["EQUAL", "rowCount", "43", false],
    ["EQUAL", "rowCount", "many", false],
    ["EQUAL", "rowCount", "", false],
    ["EQUAL", "partial", "true", true],
    ["EQUAL", "partial", "false", false],
    ["EQUAL", "nothing", "null", false],
    ["EQUAL", "absent", "x", false],
    ["EQUAL", "eventGranularity", '{"unit":"DAY","multiple":1}', true],
    ["EQUAL", "eventGranularity", '{"multiple": 1, "unit": "DAY"}', true],
    ["EQUAL", "eventGranularity", '{"unit":"DAY"}', true],
    ["EQUAL", "eventGranularity", '{"unit":"HOUR"}', false],
    ["EQUAL", "eventGranularity", "{unit", false],
    ["EQUAL", "value", "plain", true],
    ["IN", "tags", ["urn:li:tag:x", "urn:li:tag:fresh"], true],
    ["IN", "tags", ["urn:li:tag:FRESH"], false],
    ["IEQUAL", "name", "HARVESTS OF MAY", true],
    ["IEQUAL", "tags", ["urn:li:tag:pii"], true],
    ["IEQUAL", "name", "harvests", false],
    ["CONTAIN", "name", " OF ", true],
    ["CONTAIN", "name", "june", false],
    ["CONTAIN", "urn", "a.b", true],
    ["CONTAIN", "eventGranularity", "day", false],
    ["START_WITH", "name", "harv", true],
    ["START_WITH", "name", "may", false],
    ["END_WITH", "name", ["june", "MAY"], true],
    ["END_WITH", "name", "harvests", false],
    ["GREATER_THAN", "rowCount", "41", true],
    ["GREATER_THAN", "rowCount", "42", false],
    ["GREATER_THAN", "rowCount", "9", true],
    ["GREATER_THAN", "rowCount", "few", false],
    ["GREATER_THAN_OR_EQUAL_TO", "rowCount", "42", true],
    ["GREATER_THAN_OR_EQUAL_TO", "ratio", "0.25", true],
    ["LESS_THAN", "rowCount", ["43", "1"], true],
    ["LESS_THAN", "rowCount", "42", false],
    ["LESS_THAN", "rowCount", "Infinity", false],
    ["LESS_THAN_OR_EQUAL_TO", "rowCount", "42", true],
    ["LESS_THAN", "name", "Iris", true],
    ["LESS_THAN", "absent", "1", false],
    ["EXISTS", "name", [], true],
    ["EXISTS", "eventGranularity", [], true],
    ["EXISTS", "empty", [], false],
    ["EXISTS", "nothing", [], false],
    ["EXISTS", "absent", [], false],
    ["IS_NULL", "absent", [], true],
    ["IS_NULL", "empty", [], true],
    ["IS_NULL", "name", [], false],
  ])("%s of %s and %j: %s", (condition, field, value, expected) => {
    const values = typeof value === "string" ? [value] : value;
    expect(fits({ field, condition, values })).toBe(expected);
    expect(fits({ field, condition, values, negated: true })).toBe(!expected);
  });

  test("the condition is EQUAL unless another is named", () => {
    expect(fits({ field: "rowCount", values: ["42"] })).toBe(true);
    expect(fits({ field: "rowCount", values: ["4"] })).toBe(false);
  });

  test("value and values both count, a blank value only alone", () => {
    expect(fits({ field: "rowCount", value: "42" })).toBe(true);
    expect(fits({ field: "rowCount", value: "42", values: ["1"] })).toBe(true);
    expect(fits({ field: "rowCount", value: "1", values: ["42"] })).toBe(true);
    expect(fits({ field: "name", value: "", values: ["x"], condition: "CONTAIN" })).toBe(false);
    expect(fits({ field: "name", value: "" })).toBe(false);
  });

  test("IN without values holds for nothing, and a negated one for everything", () => {
    expect(fits({ field: "rowCount", condition: "IN", values: [] })).toBe(false);
    expect(fits({ field: "rowCount", condition: "IN" })).toBe(false);
    expect(fits({ field: "absent", condition: "IN", values: [] })).toBe(false);
    expect(fits({ field: "rowCount", condition: "IN", values: [], negated: true })).toBe(true);
  });

  test("a criterion of another condition without values is ignored", () => {
    expect(fits({ field: "rowCount", values: [] })).toBe(true);
    expect(fits({ field: "rowCount", condition: "GREATER_THAN", negated: true })).toBe(true);
  });
});

describe("fields", () => {
  test.each([
    ["userCounts.user", ["urn:li:corpuser:mira", "urn:li:corpuser:ole"]],
    ["userCounts/count", [3, 5]],
    ["name.keyword", ["Harvests of May"]],
    ["@timestamp", [1000]],
    ["customProperties.team.lead", ["mira"]],
    ["eventGranularity.unit", ["DAY"]],
    ["name.length.x", []],
    ["constructor", []],
    ["__proto__.toString", []],
  ])("the field %s", (field, expected) => {
    expect(fieldValues(event, field)).toEqual(expected);
  });

  test("any item of a list can match, and a negated criterion excludes each item", () => {
    expect(fits({ field: "userCounts.count", values: ["5"] })).toBe(true);
    expect(fits({ field: "userCounts.count", values: ["5"], negated: true })).toBe(false);
    expect(fits({ field: "userCounts.count", values: ["4"], negated: true })).toBe(true);
  });
});

describe("the filter form", () => {
  const yes: Criterion = { field: "rowCount", values: ["42"] };
  const no: Criterion = { field: "rowCount", values: ["1"] };
  test.each<[string, Filter | undefined, boolean]>([
    ["none", undefined, true],
    ["empty", {}, true],
    ["no group", { or: [] }, true],
    ["a group without criteria", { or: [{ and: [] }] }, true],
    ["a group without and", { or: [{}] }, true],
    ["and", { or: [{ and: [yes, no] }] }, false],
    ["or", { or: [{ and: [no] }, { and: [yes, yes] }] }, true],
    ["old criteria", { criteria: [yes, no] }, false],
    ["old criteria beside an empty or", { or: [], criteria: [no] }, false],
  ])("the form: %s", (_, filter, expected) => {
    expect(compileFilter(filter)(event)).toBe(expected);
  });

  test("a filter can read values through a function", () => {
    const accepts = compileFilterOver(one({ field: "tags", values: ["a"] }));
    expect(accepts((field) => (field === "tags" ? ["b", "a"] : []))).toBe(true);
    expect(accepts(() => [])).toBe(false);
  });

  test.each<[unknown, string, string]>([
    [one({ field: "a", condition: "LIKE", values: ["x"] }), "malformed", '"LIKE"'],
    [one({ field: "a", condition: "equal", values: ["x"] }), "malformed", "EQUAL, IN, IEQUAL"],
    [one({ field: "a", condition: "toString", values: ["x"] }), "malformed", '"toString"'],
    [
      one({ field: "a", condition: "DESCENDANTS_INCL", values: ["x"] }),
      "invalid",
      "DESCENDANTS_INCL",
    ],
    [one({ values: ["x"] } as never), "malformed", '{"values":["x"]}'],
    [{ or: {} }, "malformed", "A filter looks like"],
    [{ or: [7] }, "malformed", "7 is no part of a filter"],
    [{ or: [{ and: [null] }] }, "malformed", "null is no part of a filter"],
    ["origin:PROD", "malformed", "origin:PROD"],
    // Ignoring such a filter would select everything.
    [{ and: [{ field: "a", values: ["x"] }] }, "malformed", "is no part of a filter"],
    [{ or: [{ or: [{ field: "a", values: ["x"] }] }] }, "malformed", "A filter looks like"],
    [{ field: "a", values: ["x"] }, "malformed", '"field":"a"'],
  ])("%j is rejected as %s", (filter, code, found) => {
    const run = () => compileFilter(filter as Filter);
    expect(run).toThrow(expect.objectContaining({ code }));
    try {
      run();
    } catch (error) {
      expect((error as CatalogError).text).toContain(found);
    }
  });
});

test("range conditions are complementary", () => {
  const number = fc.integer({ min: -50, max: 50 });
  fc.assert(
    fc.property(number, number, (found, limit) => {
      const holds = (condition: string) =>
        compileFilter(one({ field: "n", condition, values: [`${limit}`] }))({ n: found });
      expect(holds("LESS_THAN")).toBe(found < limit);
      expect(holds("GREATER_THAN_OR_EQUAL_TO")).toBe(!holds("LESS_THAN"));
      expect(holds("LESS_THAN_OR_EQUAL_TO")).toBe(!holds("GREATER_THAN"));
    }),
  );
});

describe("the limits of a filter", () => {
  const rejection = (filter: Filter): Partial<CatalogError> => {
    try {
      compileFilter(filter);
    } catch (error) {
      const { code, message } = error as CatalogError;
      return { code, message };
    }
    return {};
  };
  const criteria = (count: number): Criterion[] =>
    Array.from({ length: count }, (_, i) => ({ field: "name", values: [`v${i}`] }));

  test("a filter has at most a thousand criteria, however they are grouped", () => {
    const message = "the filter has 1001 criteria; at most 1000 are allowed";
    expect(rejection({ or: [{ and: criteria(1000) }] })).toEqual({});
    expect(rejection({ or: [{ and: criteria(1001) }] })).toEqual({ code: "malformed", message });
    expect(rejection({ criteria: criteria(1001) })).toEqual({ code: "malformed", message });
    const groups = criteria(1001).map((criterion) => ({ and: [criterion] }));
    expect(rejection({ or: groups })).toEqual({ code: "malformed", message });
    expect(rejection({ or: groups.map(() => ({})) })).toMatchObject({ code: "malformed" });
  });

  test("a filter has at most ten thousand values", () => {
    const values = (count: number): string[] => Array.from({ length: count }, (_, i) => `v${i}`);
    expect(rejection(one({ field: "name", values: values(10_000) }))).toEqual({});
    expect(
      rejection({ criteria: [1, 2].map(() => ({ field: "name", values: values(6000) })) }),
    ).toEqual({
      code: "malformed",
      message: "the filter has 12000 values; at most 10000 are allowed",
    });
  });

  test("two filters are joined only if the result is small enough", () => {
    const groups = (count: number, and: readonly Criterion[]) => ({
      or: Array.from({ length: count }, () => ({ and })),
    });
    const criterion = { field: "name", value: "x" };
    const joined = intersectFilters(groups(50, [criterion]), groups(10, [criterion]));
    expect(joined?.or).toHaveLength(500);
    for (const and of [[], [criterion]]) {
      const [left, right] = [groups(2_000, and), groups(2_000, and)];
      expect(() => intersectFilters(left, right)).toThrow(/at most 1000 are allowed/);
    }
  });

  test("a field name has at most five hundred characters", () => {
    expect(rejection(one({ field: "a".repeat(500), values: ["x"] }))).toEqual({});
    expect(rejection(one({ field: "a.".repeat(100_000), values: ["x"] }))).toEqual({
      code: "malformed",
      message: `the field "${"a.".repeat(30)}…" of the filter has 200000 characters; at most 500 are allowed`,
    });
  });

  test("a criterion with many values uses a set", () => {
    const values = Array.from({ length: 10_000 }, (_, i) => `v${i}`);
    const accepts = ["EQUAL", "IEQUAL"].map((condition) =>
      compileFilter(one({ field: "name", condition, values })),
    );
    const began = cpuMilliseconds();
    for (let i = 0; i < 20_000; i++) for (const accept of accepts) accept({ name: "other" });
    // Comparing one by one takes 400 million comparisons, some seconds.
    expect(cpuMilliseconds() - began).toBeLessThan(1000);
  });
});
