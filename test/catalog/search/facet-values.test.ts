/**
 * Facet values that a filter names: in their stored spelling, with the count of the entities that
 * naming them finds, in the order of all values.
 */
import { describe, expect, test } from "vitest";
import type { SearchRequest } from "../../../src/catalog/search/requests.ts";
import type { Criterion } from "../../../src/core/query/filter.ts";
import { dataset, documentsOf, searchesOver } from "./search-corpus.ts";

const MARCH = Date.parse("2021-03-01T10:00:00Z");
const actor = "urn:li:corpuser:ann";
const tag = (name: string): string => `urn:li:tag:${name}`;
const tagged = (...names: readonly string[]) => ({ tags: names.map((one) => ({ tag: tag(one) })) });

const aspectsOf = (
  name: string,
  {
    folders,
    tags,
    columns,
    type,
    more,
  }: {
    readonly folders: readonly string[];
    readonly tags: readonly string[];
    readonly columns: readonly string[];
    readonly type: string;
    readonly more?: object;
  },
) => ({
  datasetProperties: {
    name,
    customProperties: {},
    tags: [],
    created: { time: MARCH, actor },
  },
  browsePaths: { paths: [["", "prod", "pa", ...folders].join("/")] },
  browsePathsV2: { path: folders.map((id) => ({ id })) },
  globalTags: tagged(...tags),
  editableSchemaMetadata: {
    editableSchemaFieldInfo: [{ fieldPath: "f", globalTags: tagged(...columns) }],
  },
  subTypes: { typeNames: [type] },
  ...more,
});

const searches = searchesOver(
  documentsOf({
    [dataset("db1.sales.t1")]: aspectsOf("T1", {
      ...{ folders: ["db1", "sales"], tags: ["fa"], columns: [], type: "Table" },
      more: { deprecation: { deprecated: true, note: "", actor } },
    }),
    [dataset("db1.hr.t2")]: aspectsOf("t1", {
      ...{ folders: ["db1", "hr"], tags: ["fa"], columns: ["fb"], type: "Table" },
    }),
    [dataset("db2.x.t3")]: aspectsOf("t3", {
      ...{ folders: ["db2", "x"], tags: [], columns: ["fb"], type: "View" },
    }),
    [dataset("db10.t4")]: aspectsOf("t4", {
      ...{ folders: ["db10"], tags: [], columns: ["FB", "fb"], type: "View" },
    }),
  }),
);

async function valuesOf(criterion: Criterion, more: SearchRequest = {}) {
  const filter = { or: [{ and: [criterion] }, { and: [{ field: "name", condition: "EXISTS" }] }] };
  const { facets } = await searches.search(
    { entities: ["dataset"], input: "*", filter, ...more },
    { start: 0, count: 0 },
  );
  const { values = [] } = facets.find(({ name }) => name === criterion.field) ?? {};
  for (const { count, filtered } of values) if (count > 0) expect(filtered).toBe(false);
  return values.map(({ value, count }) => [value, count]);
}
const named = (field: string, condition: string, ...values: readonly string[]) =>
  valuesOf({ field, condition, values });

describe("a facet counts values that match by more than equality", () => {
  test.each<[string, string, readonly (readonly [string, number])[]]>([
    ["browsePathV2", "␟db1", [["␟db1", 2]]],
    ["browsePathV2", "␟db1␟hr", [["␟db1␟hr", 1]]],
    ["browsePathV2", "␟db3", [["␟db3", 0]]],
    ["browsePaths", "/prod/pa/db1", [["/prod/pa/db1", 2]]],
    ["browsePaths", "prod/pa//db1/", [["/prod/pa/db1", 2]]],
    ["browsePaths", "/prod/pa/db10", [["/prod/pa/db10", 1]]],
    ["createdAt", "2021-03-01", [["2021-03-01", 4]]],
    ["createdAt", " 2021-03", [["2021-03", 4]]],
    ["createdAt", "2021-04", [["2021-04", 0]]],
  ])("%s: %s", async (field, value, expected) => {
    expect(await named(field, "EQUAL", value)).toEqual(expected);
  });

  test("a facet counts the entities of the result alone", async () => {
    const and = [
      { field: "browsePaths", values: ["/prod/pa/db1", "/prod/pa"] },
      { field: "tags", values: [tag("fb")] },
    ];
    const filter = { or: [{ and }] };
    for (const page of [
      await searches.search({ filter }, { start: 0, count: 0 }),
      await searches.scroll({ filter }, { count: 1 }),
    ]) {
      expect(page.total).toBe(3);
      expect(page.facets).toContainEqual({
        name: "browsePaths",
        displayName: expect.any(String),
        values: [
          { value: "/prod/pa", count: 3, filtered: false },
          { value: "/prod/pa/db1", count: 1, filtered: false },
        ],
      });
    }
  });

  test("a facet has at most fifty of many named dates", async () => {
    const days = Array.from({ length: 400 }, (_, n) =>
      new Date(MARCH - n * 86_400_000).toISOString().slice(0, 10),
    );
    const values = await valuesOf(
      { field: "createdAt", values: days },
      { flags: { maxAggValues: 1_000 } },
    );
    expect(values).toHaveLength(50);
    expect(values[0]).toEqual(["2021-03-01", 4]);
  });
});

describe("a facet has the stored spelling of a value once, for", () => {
  test.each<[string, string, readonly (readonly [string, number])[]]>([
    ["createdAt", "2021-03-01T11:00:00+01:00", [[String(MARCH), 4]]],
    ["createdAt", "1.6145928e12", [[String(MARCH), 4]]],
    ["createdAt", "1.6e12", [["1600000000000", 0]]],
    ["deprecated", "TRUE", [["true", 1]]],
    ["_entityType", "DATASET", [["dataset", 4]]],
  ])("%s: %s", async (field, value, expected) => {
    for (const condition of ["EQUAL", "IEQUAL"]) {
      const values = await named(field, condition, value);
      expect(values.filter(([name]) => name !== "false")).toEqual(expected);
    }
  });

  test("a facet of pairs has the stored spelling once", async () => {
    const pairs = [
      ["dataset", 4],
      ["dataset␞Table", 2],
      ["dataset␞View", 2],
    ];
    const field = "_entityType␞typeNames";
    expect(await named(field, "EQUAL", "DATASET␞View")).toEqual(pairs);
    expect(await named(field, "IEQUAL", "dataset␞VIEW")).toEqual(pairs);
    expect(await named(field, "IEQUAL", "dataset␞Topic", "dataset")).toEqual([
      ...pairs,
      ["dataset␞Topic", 0],
    ]);
  });

  test("a facet ignores letter case if the condition does", async () => {
    expect(await named("name", "IEQUAL", "t1")).toEqual([
      ["T1", 1],
      ["t1", 1],
    ]);
    expect(await named("name", "IEQUAL", "T3", "T9")).toEqual([
      ["t3", 1],
      ["T9", 0],
    ]);
    expect(await named("browsePaths", "IEQUAL", "/PROD/pa/DB10")).toEqual([["/prod/pa/db10", 1]]);
  });
});

test("facet values have the same order and counts, whichever a filter names", async () => {
  const both = [
    [tag("fb"), 3],
    [tag("fa"), 2],
  ];
  expect(await named("tags", "EQUAL", tag("fa"), tag("fb"))).toEqual(both);
  expect(await named("tags", "IEQUAL", tag("fa").toUpperCase(), tag("fb"))).toEqual([
    ...both,
    [tag("FB"), 1],
  ]);
  expect(await named("tags", "IEQUAL", tag("fb"))).toEqual([...both, [tag("FB"), 1]]);
});
