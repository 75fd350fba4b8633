/** Completion of the query language: the part at the caret, and what may replace it. */
import { describe, expect, test } from "vitest";
import { completionsOf, partAt } from "../../src/web/app/search/query-completion.ts";

const now = Date.parse("2026-03-08T12:00:00Z");
const partOf = (query: string) => partAt(query, query.length);
const labelsOf = (query: string, onDemand = false) =>
  completionsOf(partOf(query), [], now, onDemand).map(({ label }) => label);

describe("the part of a query at the caret", () => {
  test.each([
    ["ta", { from: 0, field: undefined, text: "ta" }],
    ["seed ta", { from: 5, field: undefined, text: "ta" }],
    ["seed -ta", { from: 6, field: undefined, text: "ta" }],
    ["(a OR tags:Pers", { from: 11, field: "tags", text: "Pers" }],
    ['name:"two wo', { from: 5, field: "name", text: "two wo" }],
    ['"cold store" ow', { from: 13, field: undefined, text: "ow" }],
    ["-tags:", { from: 6, field: "tags", text: "" }],
  ])("%s", (query, expected) => {
    expect(partOf(query)).toEqual({ ...expected, to: query.length });
  });

  test("text after the caret does not belong to the part", () => {
    expect(partAt("ow seed", 2)).toEqual({ from: 0, to: 2, field: undefined, text: "ow" });
  });
});

describe("completions", () => {
  test("a word begins the name of a field, or its label", () => {
    expect(labelsOf("own")).toEqual(["owners:"]);
    expect(labelsOf("colu")).toEqual(["fieldPaths:", "columnCount:"]);
  });

  test("one letter or none completes on demand only", () => {
    expect(labelsOf("o")).toEqual([]);
    expect(labelsOf("o", true)).toContain("owners:");
    expect(labelsOf("seed ", true)).toEqual(expect.arrayContaining(["tags:", "AND", "OR", "NOT"]));
  });

  test("operators are offered in capital letters only", () => {
    expect(labelsOf("AN")).toEqual(["AND"]);
    expect(labelsOf("an")).toEqual([]);
  });

  test("dates, numbers and flags have values without the service", () => {
    expect(labelsOf("createdAt:>")).toEqual([">2026-03-07", ">2026-03-01", ">2026-02-06"]);
    expect(labelsOf("deprecated:t")).toEqual(["true"]);
    expect(labelsOf("rowCount:")).toContain("*");
  });

  test("values of the service are inserted in their shortest form", () => {
    const values = [
      { value: "urn:li:corpuser:imke.sorland", detail: "2" },
      { value: "urn:li:container:(a b)", detail: "1" },
      { value: 'two "words"', detail: "1" },
    ];
    const inserts = completionsOf(partOf("owners:"), values, now, false).map((one) => one.insert);
    expect(inserts).toEqual([
      "imke.sorland ",
      '"urn:li:container:(a b)" ',
      '"two \\"words\\"" ',
      "* ",
    ]);
  });

  test("an unknown field has no completions", () => {
    expect(labelsOf("constructor:")).toEqual([]);
  });
});
