/**
 * Searching as the catalog does it: which entities a query and a filter find, their order, and the
 * form of results.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SearchFlags, SearchRequest } from "../../../src/catalog/search/requests.ts";
import { writeScrollId } from "../../../src/catalog/search/scroll-id.ts";
import type { Criterion, Filter } from "../../../src/core/query/filter.ts";
import type { Cursor } from "../../../src/views/search/search.ts";
import {
  CROPS,
  DRAFT,
  dataset,
  documentsOf,
  entities,
  FARM,
  FIELDS,
  GROWERS,
  HARVESTS,
  MIRA,
  NODE,
  OLD,
  OPS,
  PII,
  SITE,
  searchesOver,
  TERM,
  YIELDS,
} from "./search-corpus.ts";

const documents = documentsOf(entities);
const searches = searchesOver(documents);

const page = { start: 0, count: 10 };
const search = (input: string, more: SearchRequest = {}) =>
  searches.search({ entities: ["dataset"], input, ...more }, page);

async function found(input: string, more: SearchRequest = {}): Promise<readonly string[]> {
  const { hits, total } = await search(input, more);
  expect(total).toBe(hits.length);
  return hits.map(({ urn }) => urn);
}

const filtered = (...and: readonly Criterion[]): Filter => ({ or: [{ and }] });
const matching = async (...and: readonly Criterion[]) =>
  new Set(await found("*", { filter: filtered(...and) }));

describe("a query finds entities:", () => {
  test.each<[string, readonly string[]]>([
    ["harvests", [HARVESTS, GROWERS, YIELDS]],
    ["harvest", [HARVESTS, GROWERS, YIELDS]],
    ["harv*", [HARVESTS, GROWERS, YIELDS]],
    ["HARVÈSTS", [HARVESTS, GROWERS, YIELDS]],
    ["farmly.public.harvests", [HARVESTS, GROWERS]],
    ["farmly.public.yields", []],
    [HARVESTS, [HARVESTS, GROWERS]],
    ["farmly harvests", [HARVESTS, GROWERS]],
    ['"one row"', [HARVESTS]],
    ['"row one"', []],
    ["growers OR yields", [GROWERS, YIELDS]],
    ["growers | yields", [GROWERS, YIELDS]],
    ["harvests + (-farmly | yields)", [YIELDS]],
    ["daily\\harvests", [YIELDS]],
    ["harvests -yields", [HARVESTS, GROWERS]],
    ["(growers OR yields) AND daily", [YIELDS]],
    ["tags:urn:li:tag:pii", [HARVESTS]],
    ["tags:urn\\:li\\:tag\\:pii", [HARVESTS]],
    ["tags:urn:other:tag:pii", [HARVESTS]],
    ["tags:pii", [HARVESTS]],
    ["tags:PI*", [HARVESTS]],
    ["tags:urn:li:tag:PII", []],
    ["platform:urn:li:dataPlatform:snowflake", [YIELDS]],
    ["platform:snowflake", [YIELDS]],
    [`urn:${HARVESTS}`, [HARVESTS]],
    ["name:Harvests", [HARVESTS]],
    ["name:harv", []],
    ["name:harv*", [HARVESTS]],
    ["name:*ROW*", [GROWERS]],
    ["name:(growers OR yields)", [GROWERS, YIELDS]],
    ['description:"who grows the harvests"', [GROWERS]],
    ["origin:prod", [GROWERS, HARVESTS, YIELDS]],
    ["env:PROD name:yields", [YIELDS]],
    ["hasTags:true", [HARVESTS]],
    ["createdAt:>2026-04-01", [YIELDS]],
    ["createdAt:2026-05-01", [YIELDS]],
    ["createdAt:2026-05", [YIELDS]],
    ["createdAt:[2026-04-01 TO 2026-05-01]", [YIELDS]],
    ["createdAt:[2026-05-01 TO 2026-05-01}", []],
    ["createdAt:>2026-05-01", []],
    ['createdAt:"2026-05-01T12:30:00+02:00"', [YIELDS]],
    ["createdAt:2026-04-31", []],
    ["createdAt:[2026-01-01 TO 2026-04-01]", [HARVESTS]],
    [`createdAt:<=${Date.parse("2026-03-01")}`, [HARVESTS]],
    ["_exists_:domains", [GROWERS, YIELDS]],
    ["-domains:*", [HARVESTS]],
    ["customProperties:tier=gold", [HARVESTS]],
    // As in DataHub, only a filter shows soft-deleted entities.
    ["removed:true", []],
    ["growers OR removed:true", [GROWERS]],
    ["isLatest:false", [DRAFT]],
    ["_entityType:DATASET name:yields", [YIELDS]],
    ["createdAt:yesterday", []],
    ["nothing:here", []],
    ["???", []],
    ["*", [GROWERS, HARVESTS, YIELDS]],
  ])("%s", async (input, expected) => {
    expect(await found(input)).toEqual(expected);
  });

  test.each([
    ...["MILL\\mara", "mill\\MARA", '"MILL\\mara"', "MILL\\\\mara", "mara", "name:MILL\\mara"],
    ...[
      "name:*\\mara",
      "name:MILL\\\\*",
      'name:"MILL\\mara"',
      'name:"MILL\\\\mara"',
      "x | MILL\\mara",
    ],
  ])("the query %s finds the name MILL\\mara", async (input) => {
    const named = (name: string) => ({
      datasetProperties: { name, description: "", customProperties: {}, tags: [] },
    });
    const corpus = documentsOf({
      [dataset("m")]: named("MILL\\mara"),
      [dataset("n")]: named("MILLmara"),
    });
    const { hits } = await searchesOver(corpus).search({ input }, page);
    expect(hits.map(({ urn }) => urn)).toEqual([dataset("m")]);
    const filter = filtered({ field: "name", value: "MILL\\mara" });
    const { total } = await searchesOver(corpus).search({ input: "*", filter }, page);
    expect(total).toBe(1);
  });

  test("exact matches come before prefixes before partial matches, and names before descriptions", async () => {
    const named = (id: string, name: string, description = "") =>
      [
        dataset(id),
        { datasetProperties: { name, description, customProperties: {}, tags: [] } },
      ] as const;
    const corpus = documentsOf(
      Object.fromEntries([
        named("f", "x", "about tides"),
        named("e", "high tides"),
        named("d", "tidescope"),
        named("c", "tides of the north"),
        named("b", "tides"),
        named("a", "x", "tides"),
      ]),
    );
    const { hits } = await searchesOver(corpus).search({ input: "tides" }, page);
    expect(hits.map(({ urn }) => urn)).toEqual(
      ["b", "c", "d", "e", "a", "f"].map((id) => dataset(id)),
    );
  });
});

describe("matches of names", () => {
  const properties = (name: string, description = "") => ({
    datasetProperties: { name, description, customProperties: {}, tags: [] },
  });
  const order = async (input: string, entities: Readonly<Record<string, object>>) => {
    const listed = Object.entries(entities).map(([id, aspects]) => [dataset(id), aspects] as const);
    const corpus = documentsOf(Object.fromEntries(listed) as Parameters<typeof documentsOf>[0]);
    const { hits } = await searchesOver(corpus).search({ input }, page);
    return hits.map(({ urn }) => /,(\w+),/.exec(urn)?.[1]);
  };

  test("a name match ranks above an exact column name", async () => {
    const platform = "urn:li:dataPlatform:postgres";
    const column = (fieldPath: string) => ({
      schemaMetadata: {
        schemaName: "x",
        platform,
        version: 0,
        hash: "",
        platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
        fields: [
          {
            fieldPath,
            nativeDataType: "text",
            type: { type: { "com.linkedin.schema.StringType": {} } },
          },
        ],
      },
    });
    const entities = {
      a: { ...properties("x"), ...column("tides") },
      b: properties("y", "tides"),
      c: properties("spring and neap tidesheets"),
      d: properties("of the north: tides"),
      e: properties("tides"),
    };
    expect(await order("tides", entities)).toEqual(["e", "d", "c", "a", "b"]);
    expect(await order("neap tides", entities)).toEqual(["c"]);
  });

  test("a quoted phrase ranks by exact, prefix and partial match, above a word", async () => {
    const entities = {
      a: properties("rates of germination"),
      b: properties("x", "cold store"),
      c: properties("rooms of a cold store"),
      d: properties("cold store rooms"),
      e: properties("cold store"),
      f: properties("y", "a cold store"),
      g: properties("store, cold"),
    };
    expect(await order('"cold store"', entities)).toEqual(["e", "d", "c", "b", "f"]);
    expect(await order('"cold store" OR germination', entities)).toEqual([
      "e",
      "d",
      "c",
      "a",
      "b",
      "f",
    ]);
    const rooms = {
      h: properties("rooms", "with a cold store"),
      i: properties("cold store", "rooms"),
    };
    expect(await order('rooms "cold store"', rooms)).toEqual(["i", "h"]);
    const within = { h: properties("a room", "cold store"), i: properties("a cold store", "room") };
    expect(await order('room "cold store"', within)).toEqual(["i", "h"]);
  });

  test("a deprecated entity ranks last", async () => {
    const deprecation = { deprecated: true, note: "", actor: "urn:li:corpuser:ada" };
    const entities = {
      a: { ...properties("tides"), deprecation },
      b: properties("tides"),
      c: { ...properties("tides"), deprecation: { ...deprecation, deprecated: false } },
    };
    expect(await order("tides", entities)).toEqual(["b", "c", "a"]);
  });

  test("an entity whose whole urn is the query ranks first", async () => {
    const entities = {
      a: properties("postgres,tides,PROD"),
      tides: properties("something else"),
    };
    expect(await order(dataset("tides"), entities)).toEqual(["tides", "a"]);
  });
});

describe("a filter finds entities by", () => {
  test.each<[string, Criterion, readonly string[]]>([
    ["a value", { field: "platform", value: "urn:li:dataPlatform:snowflake" }, [YIELDS]],
    ["any of several", { field: "name", value: "yields", values: ["growers"] }, [YIELDS, GROWERS]],
    ["with .keyword", { field: "name.keyword", value: "yields" }, [YIELDS]],
    ["letter for letter", { field: "name", value: "Yields" }, []],
    ["IEQUAL", { field: "name", condition: "IEQUAL", value: "YIELDS" }, [YIELDS]],
    ["IN", { field: "name", condition: "IN", values: ["yields", "x"] }, [YIELDS]],
    ["CONTAIN", { field: "name", condition: "CONTAIN", value: "ROW" }, [GROWERS]],
    ["START_WITH", { field: "name", condition: "START_WITH", value: "har" }, [HARVESTS]],
    ["END_WITH", { field: "name", condition: "END_WITH", value: "LDS" }, [YIELDS]],
    ["EXISTS", { field: "domains", condition: "EXISTS" }, [GROWERS, YIELDS]],
    ["IS_NULL", { field: "domains", condition: "IS_NULL" }, [HARVESTS]],
    ["not IS_NULL", { field: "domains", condition: "IS_NULL", negated: true }, [GROWERS, YIELDS]],
    ["negated", { field: "name", value: "yields", negated: true }, [HARVESTS, GROWERS]],
    ["a flag", { field: "hasTags", value: "true" }, [HARVESTS]],
    [
      "a time in milliseconds",
      { field: "createdAt", condition: "GREATER_THAN", value: "1775000000000" },
      [YIELDS],
    ],
    [
      "a date",
      { field: "createdAt", condition: "LESS_THAN_OR_EQUAL_TO", value: "2026-03-01" },
      [HARVESTS],
    ],
    ["a whole day", { field: "createdAt", values: ["2026-05-01", "1000"] }, [YIELDS]],
    [
      "up to the end of a day",
      { field: "createdAt", condition: "LESS_THAN_OR_EQUAL_TO", value: "2026-05-01" },
      [HARVESTS, YIELDS],
    ],
    ["a time of UTC without a zone", { field: "createdAt", value: "2026-05-01 10:30" }, [YIELDS]],
    [
      "texts in order",
      { field: "name", condition: "GREATER_THAN_OR_EQUAL_TO", value: "harvests" },
      [HARVESTS, YIELDS],
    ],
    ["texts below", { field: "name", condition: "LESS_THAN", value: "harvests" }, [GROWERS]],
    ["a number", { field: "numActiveIncidents", value: "0" }, [YIELDS]],
    [
      "a number by its digits",
      { field: "numActiveIncidents", condition: "START_WITH", values: ["1", "0"] },
      [YIELDS],
    ],
    [
      "a time by its digits",
      { field: "createdAt", condition: "CONTAIN", value: "00000" },
      [HARVESTS, YIELDS],
    ],
    ["a flag by its letters", { field: "hasTags", condition: "END_WITH", value: "UE" }, [HARVESTS]],
    ["flags in order", { field: "hasTags", condition: "GREATER_THAN", value: "false" }, [HARVESTS]],
    ["flags up to one", { field: "hasTags", condition: "LESS_THAN", value: "TRUE" }, []],
    [
      "any description",
      { field: "description", condition: "CONTAIN", value: "harvests" },
      [HARVESTS, GROWERS, YIELDS],
    ],
    ["any tag", { field: "tags", value: PII }, [HARVESTS]],
    ["any namespace", { field: "tags", value: "urn:other:tag:pii" }, [HARVESTS]],
    ["env for origin", { field: "env", value: "PROD" }, [HARVESTS, GROWERS, YIELDS]],
    ["entity types", { field: "_entityType", value: "DATASET" }, [HARVESTS, GROWERS, YIELDS]],
    [
      "a prefix of entity types",
      { field: "_entityType.keyword", condition: "START_WITH", value: "DATA" },
      [HARVESTS, GROWERS, YIELDS],
    ],
    ["entity types in order", { field: "_entityType", condition: "GREATER_THAN", value: "e" }, []],
    [
      "both of a facet's fields",
      { field: "_entityType␞typeNames", value: "dataset␞Table" },
      [HARVESTS],
    ],
    [
      "the first of a facet's fields",
      { field: "_entityType␞typeNames", value: "DATASET" },
      [HARVESTS, GROWERS, YIELDS],
    ],
    ["a folder and below", { field: "browsePathV2", value: `␟${SITE}` }, [HARVESTS]],
    ["a folder of its own", { field: "browsePathV2", value: `␟${SITE}␟${FARM}` }, [HARVESTS]],
    ["no prefix of a folder", { field: "browsePaths", value: "/prod/post" }, []],
    ["a key of a map", { field: `ownerTypes.urn:li:ownershipType:x`, value: MIRA }, []],
    ["a field of other types", { field: "dashboardUrl", value: "x" }, []],
    ["a lone empty value", { field: "name", value: "" }, []],
    ["no value", { field: "name" }, [HARVESTS, GROWERS, YIELDS]],
    ["removed", { field: "removed", value: "true" }, [OLD]],
    ["removed.keyword", { field: "removed.keyword", values: ["true"] }, [OLD]],
    ["urns", { field: "urn", values: [YIELDS, OLD, "urn:li:tag:x"] }, [YIELDS]],
    [
      "hierarchies below",
      { field: "container", condition: "DESCENDANTS_INCL", value: SITE },
      [HARVESTS, GROWERS],
    ],
    [
      "hierarchies above",
      { field: "container", condition: "ANCESTORS_INCL", value: FIELDS },
      [HARVESTS, GROWERS],
    ],
    [
      "hierarchies around",
      { field: "container", condition: "RELATED_INCL", value: FARM },
      [HARVESTS, GROWERS],
    ],
    [
      "parts of domains",
      { field: "domains", condition: "DESCENDANTS_INCL", value: OPS },
      [GROWERS, YIELDS],
    ],
    [
      "whole domains",
      { field: "domains", condition: "ANCESTORS_INCL", value: CROPS },
      [GROWERS, YIELDS],
    ],
    [
      "terms of a node",
      { field: "glossaryTerms", condition: "DESCENDANTS_INCL", value: NODE },
      [HARVESTS],
    ],
  ])("%s", async (_, criterion, expected) => {
    expect(await matching(criterion)).toEqual(new Set(expected));
  });

  test.each([
    ...["name", "platform", "createdAt", "numActiveIncidents", "hasTags", "browsePathV2"],
    ...["_entityType", "_entityType␞typeNames", "tags", "urn", "dashboardUrl"],
  ])("IN without values of %s matches nothing, and everything when negated", async (field) => {
    const none = { field, condition: "IN", values: [] };
    expect(await matching(none)).toEqual(new Set());
    expect(await matching({ ...none, negated: true })).toEqual(
      new Set([GROWERS, HARVESTS, YIELDS]),
    );
    const or = [{ and: [none] }, { and: [{ field: "name", value: "yields" }] }];
    expect(await found("*", { filter: { or } })).toEqual([YIELDS]);
  });

  test("groups are alternatives, an empty group matches everything, and criteria form one group", async () => {
    const by = (field: string, value: string) => ({ field, value });
    const filter = {
      or: [
        { and: [by("name", "yields"), by("origin", "PROD")] },
        { and: [by("name", "growers"), by("origin", "DEV")] },
        { and: [by("tags", PII)] },
      ],
    };
    expect(new Set(await found("*", { filter }))).toEqual(new Set([YIELDS, HARVESTS]));
    expect(await found("*", { filter: { or: [{ and: [] }] } })).toHaveLength(3);
    expect(await found("*", { filter: { or: [...filter.or, { and: [] }] } })).toHaveLength(3);
    expect(await found("*", { filter: {} })).toHaveLength(3);
    const criteria = [by("name", "yields"), by("origin", "PROD")];
    expect(await found("*", { filter: { criteria } })).toEqual([YIELDS]);
  });

  test.each<[Criterion, string]>([
    [
      { field: "platfrom", value: "x" },
      'no entity type has a searchable field "platfrom". Did you mean "platform"',
    ],
    [{ field: "__proto__", value: "x" }, 'no entity type has a searchable field "__proto__"'],
    [{ field: "constructor", value: "x" }, "no entity type has"],
    [
      { field: "hasTags", value: "maybe" },
      '"maybe" is not a value of the field "hasTags". Send true or false',
    ],
    [{ field: "numActiveIncidents", value: "many" }, '"many" is not a value'],
    [
      { field: "createdAt", condition: "GREATER_THAN", value: "soon" },
      "Send a time, in epoch milliseconds or as 2026-03-01",
    ],
    [{ field: "hasTags", condition: "GREATER_THAN", value: "1" }, '"1" is not a value'],
    [{ field: "name", condition: "NEARLY", value: "x" }, '"NEARLY" is not a condition'],
  ])("an invalid criterion is rejected: %j", async (criterion, text) => {
    const rejected = search("*", { filter: filtered(criterion) });
    await expect(rejected).rejects.toMatchObject({
      code: "malformed",
      text: expect.stringContaining(text),
    });
  });

  test.each<[unknown]>([
    [{ and: [{ field: "name", value: "yields" }] }],
    [{ or: [{ or: [{ field: "name", value: "yields" }] }] }],
    [{ field: "name", value: "yields" }],
  ])("a malformed filter is rejected: %j", async (filter) => {
    await expect(search("*", { filter: filter as Filter })).rejects.toMatchObject({
      code: "malformed",
      text: expect.stringContaining("is no part of a filter"),
    });
  });

  test("a filter has at most a thousand criteria", async () => {
    const or = (length: number) => ({
      or: Array.from({ length }, (_, i) => ({
        and: [{ field: "name", value: i === 7 ? "yields" : `n${i}` }],
      })),
    });
    expect(await found("*", { filter: or(1_000) })).toEqual([YIELDS]);
    await expect(search("*", { filter: or(1_001) })).rejects.toThrow(
      "1001 criteria; at most 1000 are allowed",
    );
  });

  test("many CONTAIN criteria match, negated and as alternatives", async () => {
    const no = (value: string) => ({ field: "name", condition: "CONTAIN", value, negated: true });
    const many = Array.from({ length: 40 }, (_, i) => no(`n${i}`));
    expect(await matching(...many)).toEqual(new Set([GROWERS, HARVESTS, YIELDS]));
    expect(await matching(...many, no("YIEL"))).toEqual(new Set([GROWERS, HARVESTS]));
    const like = many.map(({ negated, ...one }) => one);
    const or = [...like, { ...no("iel"), negated: false }].map((one) => ({ and: [one] }));
    expect(await found("*", { filter: { or } })).toEqual([YIELDS]);
  });
});

describe("hidden entities", () => {
  const among = (flags: SearchFlags) => found("*", { flags });

  test("a search omits soft-deleted entities and old versions unless a flag includes them", async () => {
    expect(await found("*")).not.toContain(OLD);
    expect(await among({ includeSoftDeleted: true })).toEqual(
      [GROWERS, HARVESTS, OLD, YIELDS].sort(),
    );
    expect(await among({ filterNonLatestVersions: false })).toEqual(
      [DRAFT, GROWERS, HARVESTS, YIELDS].sort(),
    );
  });

  test("suggestions, folders and lists omit hidden entities", async () => {
    const { entities: urns } = await searches.autocomplete({
      entity: "dataset",
      query: "harv",
      limit: 5,
    });
    expect(urns).toEqual([HARVESTS]);
    const { groups } = await searches.browse({
      entity: "dataset",
      path: "/prod",
      ...{ start: 0, limit: 10 },
    });
    expect(groups.map(({ name }) => name)).toEqual(["postgres", "snowflake"]);
    const { hits } = await searches.filter({ entities: ["dataset"] }, page);
    expect(hits.map(({ urn }) => urn)).toEqual([GROWERS, HARVESTS, YIELDS].sort());
  });
});

describe("a result", () => {
  test("a hit has the matched fields, and none for a query of everything", async () => {
    const { hits } = await search("harvests tags:pii");
    expect(hits[0]?.matchedFields).toEqual([
      { name: "urn", value: HARVESTS },
      { name: "id", value: "farmly.public.harvests" },
      { name: "name", value: "harvests" },
      { name: "description", value: "Harvests, one row each" },
      { name: "tags", value: PII },
    ]);
    expect((await search("*")).hits[0]?.matchedFields).toEqual([]);
    const skipped = await search("harvests", { flags: { skipHighlighting: true } });
    expect(skipped.hits[0]?.matchedFields).toEqual([]);
    const only = await search("harvests", { flags: { customHighlightingFields: ["name"] } });
    expect(only.hits[0]?.matchedFields).toEqual([{ name: "name", value: "harvests" }]);
  });

  test("a matched field has an excerpt of a long value", async () => {
    const description = `${"dull ".repeat(200)}needle ${"grey ".repeat(200)}`;
    const corpus = documentsOf({
      [HARVESTS]: { datasetProperties: { name: "x", description, customProperties: {}, tags: [] } },
    });
    const { hits } = await searchesOver(corpus).search({ input: "needle" }, page);
    const value = hits[0]?.matchedFields[0]?.value ?? "";
    expect(value).toMatch(/^….*needle.*…$/);
    expect(value.length).toBeLessThan(310);
  });

  test.each([
    ["zürich", "Zürich"],
    ["zurich", "Zürich"],
    ['"cafe zurich"', "Café Zürich"],
    ["snowfalls", "SnowFall"],
    ['"snow fall"', "SnowFall"],
    ["grande*", "ＧＲＡＮＤＥ"],
    ["description:*flakes*", "Snow_Flakes"],
    ["(nothing OR zurich) AND NOT never", "Zürich"],
  ])("a matched field has an excerpt in the spelling of the value: %s", async (input, written) => {
    const place = "Café Zürich SnowFall Snow_Flakes ＧＲＡＮＤＥ";
    const description = `café snow ${"dull ".repeat(200)}${place} ${"grey ".repeat(200)}`;
    const corpus = documentsOf({
      [HARVESTS]: { datasetProperties: { name: "x", description, customProperties: {}, tags: [] } },
    });
    const { hits } = await searchesOver(corpus).search({ input }, page);
    const values = hits.flatMap(({ matchedFields }) => matchedFields.map(({ value }) => value));
    expect(values).toEqual([expect.stringMatching(new RegExp(`^….*${written}.*…$`))]);
  });

  test("a hit has the explanation of its score on request", async () => {
    const { hits } = await search("yields", { flags: { explain: true } });
    const { score, explanation } = hits[0] ?? {};
    expect(explanation?.score).toBe(score);
    expect(explanation?.matches).toContainEqual({
      field: "name",
      value: "yields",
      how: "whole",
      score: 640,
    });
    expect((await search("yields")).hits[0]).not.toHaveProperty("explanation");
  });

  test("a result has facets of all hits, in a fixed order, with the values that the filter names", async () => {
    const filter = filtered({
      field: "platform",
      values: ["urn:li:dataPlatform:postgres", "urn:li:dataPlatform:none"],
    });
    const { facets } = await searches.search(
      { entities: ["dataset"], filter },
      { start: 0, count: 1 },
    );
    expect(facets.map(({ name }) => name)).toEqual([
      ...[
        "_entityType␞typeNames",
        "_entityType",
        "origin",
        "domains",
        "owners",
        "platform",
        "tags",
      ],
      ...["glossaryTerms", "typeNames", "container"],
    ]);
    expect(facets[0]).toEqual({
      name: "_entityType␞typeNames",
      displayName: "Type␞Sub Type",
      values: [
        { value: "dataset", count: 2, filtered: false },
        { value: "dataset␞Table", count: 1, filtered: false },
      ],
    });
    expect(facets.find(({ name }) => name === "platform")).toEqual({
      name: "platform",
      displayName: "Platform",
      values: [
        { value: "urn:li:dataPlatform:postgres", count: 2, filtered: false },
        { value: "urn:li:dataPlatform:none", count: 0, filtered: true },
      ],
    });
  });

  test("flags select and limit facets", async () => {
    const names = async (flags: SearchFlags, filter?: Filter) =>
      (await search("*", { flags, filter })).facets.map(({ name, values }) => [
        name,
        values.length,
      ]);
    const filter = filtered({ field: "name", condition: "CONTAIN", value: "s" });
    expect(await names({ skipAggregates: true }, filter)).toEqual([]);
    expect(await names({ includeDefaultFacets: false }, filter)).toEqual([["name", 0]]);
    const byName = filtered({ field: "name", values: ["yields", "x"] });
    const { facets } = await searches.filter({ entities: ["dataset"], filter: byName }, page);
    expect(facets).toEqual([
      {
        name: "name",
        displayName: "name",
        values: [
          { value: "yields", count: 1, filtered: false },
          { value: "x", count: 0, filtered: true },
        ],
      },
    ]);
    expect((await names({ maxAggValues: 1 })).every(([, length]) => Number(length) <= 2)).toBe(
      true,
    );
    const none = await searches.search({ entities: ["dataset", "TAG"], input: "zzz" }, page);
    expect(none.facets).toEqual([
      {
        name: "_entityType",
        displayName: "Type",
        values: ["dataset", "tag"].map((value) => ({ value, count: 0, filtered: false })),
      },
    ]);
  });

  test("a result has the position of the view", async () => {
    expect((await search("*")).position).toBe(documents.length);
  });
});

describe("pages", () => {
  test("pages are consecutive, and return the applied start and size", async () => {
    const at = async (start: number, count?: number) => {
      const { from, pageSize, total, hits } = await searches.search(
        { entities: ["dataset"] },
        { start, count },
      );
      return [from, pageSize, total, hits.length];
    };
    expect(await at(0, 2)).toEqual([0, 2, 3, 2]);
    expect(await at(2, 2)).toEqual([2, 2, 3, 1]);
    expect(await at(9, 2)).toEqual([9, 2, 3, 0]);
    expect(await at(0, 0)).toEqual([0, 0, 3, 0]);
    expect(await at(0, 10_000)).toEqual([0, 10_000, 3, 3]);
    for (const count of [undefined, 10_001]) expect(await at(0, count)).toEqual([0, 5_000, 3, 3]);
    await expect(at(0, -1)).rejects.toThrow("[size] parameter cannot be negative, found [-1]");
  });

  test("a page cannot start before the first hit or too far behind it", async () => {
    const at = (start: number) => searches.search({}, { start, count: 1 });
    await expect(at(-1)).rejects.toThrow("[from] parameter cannot be negative, found [-1]");
    await expect(at(10_001)).rejects.toMatchObject({ hint: expect.stringContaining("scroll") });
  });

  test("pages can be sorted by several fields, then by score and urn", async () => {
    const by = async (...sort: [string, "ASCENDING" | "DESCENDING"][]) =>
      found("*", { sort: sort.map(([field, order]) => ({ field, order })) });
    expect(await by(["name", "DESCENDING"])).toEqual([YIELDS, HARVESTS, GROWERS]);
    expect(await by(["origin", "ASCENDING"], ["name.keyword", "ASCENDING"])).toEqual([
      GROWERS,
      HARVESTS,
      YIELDS,
    ]);
    expect(await by(["createdAt", "DESCENDING"])).toEqual([YIELDS, HARVESTS, GROWERS]);
    expect(await by(["_score", "DESCENDING"])).toEqual([GROWERS, HARVESTS, YIELDS]);
    await expect(by(["nmae", "ASCENDING"])).rejects.toThrow(
      'no entity type has a searchable field "nmae"',
    );
    await expect(by(...Array(11).fill(["name", "ASCENDING"]))).rejects.toThrow(
      "11 fields; at most 10 are allowed",
    );
  });
});

test("a filter sorts results by urn, capitals first, in every kind of request", async () => {
  const browsePaths = { paths: ["/p"] };
  const corpus = documentsOf({
    [dataset("b")]: { browsePaths },
    [dataset("a")]: { browsePaths },
    [dataset("C")]: { browsePaths },
  });
  const browsed = { entity: "dataset", path: "/p", start: 0, limit: 10 };
  const { hits } = await searchesOver(corpus).filter({ entities: ["dataset"] }, page);
  const all = await searchesOver(corpus).search({ entities: ["dataset"] }, page);
  expect(hits.map(({ urn }) => urn)).toEqual([dataset("C"), dataset("a"), dataset("b")]);
  expect(all.hits.map(({ urn }) => urn)).toEqual(hits.map(({ urn }) => urn));
  const { entities: inside } = await searchesOver(corpus).browse(browsed);
  expect(inside).toEqual(hits.map(({ urn }) => urn));
});

describe("a scroll", () => {
  const request = { input: "*", sort: [{ field: "name", order: "ASCENDING" as const }] };

  test("a scroll returns every hit once, and ends", async () => {
    const seen: string[] = [];
    let scrollId: string | undefined;
    do {
      const answer = await searches.scroll(request, { scrollId, count: 2 });
      expect(answer.total).toBe(documents.length - 2);
      seen.push(...answer.hits.map(({ urn }) => urn));
      scrollId = answer.scrollId;
    } while (scrollId !== undefined);
    const { hits } = await searches.search(request, { start: 0, count: 100 });
    expect(seen).toEqual(hits.map(({ urn }) => urn));
  });

  test.each<unknown>(["null", 5, "[[]]", {}, [{}], [["x"]]])(
    "a scroll id with a malformed cursor is rejected: %j",
    async (raw) => {
      const asked = { ...request, entities: undefined };
      const cursor = (typeof raw === "string" ? JSON.parse(raw) : raw) as Cursor;
      const scrollId = writeScrollId(cursor, asked);
      await expect(searches.scroll(asked, { scrollId, count: 2 })).rejects.toMatchObject({
        code: "malformed",
      });
    },
  );

  test("a scroll id of another request, or a changed one, is rejected", async () => {
    const { scrollId = "" } = await searches.scroll(request, { count: 2 });
    const other = { ...request, input: "farm*" };
    await expect(searches.scroll(other, { scrollId, count: 2 })).rejects.toMatchObject({
      code: "malformed",
    });
    for (const changed of [
      `${scrollId.slice(0, -3)}AAA`,
      scrollId.slice(4),
      "x",
      "*",
      "null",
      "W10",
    ]) {
      await expect(searches.scroll(request, { scrollId: changed, count: 2 })).rejects.toThrow(
        "does not belong to this request",
      );
    }
  });
});

describe("entity types", () => {
  test("a search without entity types covers all, and their names ignore letter case", async () => {
    expect((await searches.search({ input: "mira" }, page)).hits.map(({ urn }) => urn)).toEqual([
      MIRA,
    ]);
    const terms = await searches.search({ entities: ["GLOSSARY_TERM"], input: "order" }, page);
    expect(terms.hits.map(({ urn }) => urn)).toEqual([TERM]);
  });

  test("an entity type that the model lacks is rejected", async () => {
    await expect(searches.search({ entities: ["datast"] }, page)).rejects.toMatchObject({
      code: "invalid",
      text: 'unknown entity type "datast". Did you mean "dataset"?',
    });
  });
});

describe("any query text", () => {
  const piece = fc.constantFrom(
    ...[
      "(",
      ")",
      '"',
      "\\",
      ":",
      "*",
      " ",
      "-",
      "!",
      "AND",
      "OR",
      "NOT",
      "tags:",
      "name:",
      "rows:>",
    ],
    ...[
      "createdAt:",
      "urn:li:tag:a",
      "[",
      "]",
      "TO",
      "a",
      "b.c",
      "\0",
      "é",
      "\ud800",
      "東京",
      "_exists_:",
    ],
  );

  test("any query is answered or rejected, and hits have explanations", async () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(piece, { maxLength: 60 }).map((parts) => parts.join("")),
      fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(" ")),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (input) => {
        const { hits, total } = await searches.search({ input, flags: { explain: true } }, page);
        expect(total).toBeGreaterThanOrEqual(hits.length);
        for (const { score, explanation } of hits) expect(explanation?.score).toBe(score);
        await searches.autocomplete({ entity: "dataset", query: input, limit: 3 });
        await searches.autocomplete({ entity: "dataset", query: input, field: "name", limit: 3 });
        await searches.browse({ entity: "dataset", path: input, start: 0, limit: 3 });
      }),
      { numRuns: 300 },
    );
  });

  test("a query with too many characters or words is rejected", async () => {
    const rejection = { code: "malformed" };
    await expect(search("a".repeat(10_001))).rejects.toMatchObject(rejection);
    const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}x`).join(".");
    await expect(search(words(101))).rejects.toMatchObject(rejection);
    await expect(search("name:a ".repeat(101))).rejects.toMatchObject(rejection);
    await expect(search("東".repeat(1_001))).rejects.toMatchObject(rejection);
    expect((await search("東".repeat(1_000))).total).toBe(0);
    expect((await search(words(100))).total).toBe(0);
    expect((await search("a ".repeat(5_000))).total).toBe(0);
  });
});

describe("autocomplete", () => {
  const complete = async (query: string, more: object = {}) => {
    const { suggestions, entities: urns } = await searches.autocomplete({
      entity: "dataset",
      query,
      limit: 5,
      ...more,
    });
    return [suggestions, urns];
  };

  test.each<[string, object, readonly string[], readonly string[]]>([
    ["harv", {}, ["harvests"], [HARVESTS]],
    ["farmly.public.h", {}, ["farmly.public.harvests"], [HARVESTS]],
    ["public farm", {}, ["farmly.public.growers", "farmly.public.harvests"], [GROWERS, HARVESTS]],
    // If no name has all words, the name with the most of them is suggested.
    ["postgres harv", {}, ["farmly.public.harvests"], [HARVESTS]],
    ["postgres farmly harv", {}, ["farmly.public.harvests"], [HARVESTS]],
    ["grow", { field: "name" }, ["growers"], [GROWERS]],
    ["row", { field: "name" }, [], []],
    ["pro", { field: "origin", limit: 1 }, ["PROD"], [GROWERS]],
    ["who", {}, [], []],
    ["mi", { entity: "corpuser" }, ["Mira Voss"], [MIRA]],
    ["voss mi", { entity: "CORP_USER" }, ["Mira Voss"], [MIRA]],
    ["", {}, [], []],
    ["…", {}, [], []],
    ["zzz", {}, [], []],
    ["harv", { filter: filtered({ field: "platform", value: "urn:li:dataPlatform:x" }) }, [], []],
    ["farm", { start: 1 }, ["farmly.public.harvests"], [HARVESTS]],
    ["farm", { limit: 0 }, [], []],
  ])("autocomplete %s %j", async (query, more, suggestions, urns) => {
    expect(await complete(query, more)).toEqual([suggestions, urns]);
  });

  test("a field with accents is completed with or without accents", async () => {
    const named = (id: string, description: string) =>
      [
        dataset(id),
        { datasetProperties: { name: id, description, customProperties: {}, tags: [] } },
      ] as const;
    const others = Array.from({ length: 30 }, (_, i) => named(`creme${i}`, "nothing"));
    const corpus = documentsOf(Object.fromEntries([...others, named("z", "Crème Brûlée")]));
    for (const query of ["creme bru", "Crème", "BRÛ", "brul"]) {
      const asked = { entity: "dataset", query, field: "description", limit: 2 };
      const answer = await searchesOver(corpus).autocomplete(asked);
      expect(answer.suggestions).toEqual(["Crème Brûlée"]);
      expect(answer.entities).toEqual([dataset("z")]);
    }
  });

  test("each text is suggested once", async () => {
    const same = (id: string) =>
      [
        dataset(id),
        { datasetProperties: { name: "tides", customProperties: {}, tags: [] } },
      ] as const;
    const corpus = documentsOf(Object.fromEntries(["a", "b", "c"].map(same)));
    const answer = await searchesOver(corpus).autocomplete({
      entity: "dataset",
      query: "tid",
      limit: 2,
    });
    expect(answer.suggestions).toEqual(["tides"]);
    expect(answer.entities).toEqual([dataset("a"), dataset("b")]);
  });

  test("an unknown field and a negative limit are rejected", async () => {
    await expect(complete("x", { field: "nmae" })).rejects.toMatchObject({ code: "malformed" });
    await expect(complete("x", { limit: -1 })).rejects.toMatchObject({ code: "malformed" });
  });
});

describe("browse", () => {
  const browse = async (path: string, more: object = {}) => {
    const answer = await searches.browse({ entity: "dataset", path, start: 0, limit: 10, ...more });
    const { groups, entities: urns, numGroups, numEntities, totalNumEntities } = answer;
    return [
      groups.map(({ name, count }) => `${name} ${count}`),
      urns,
      numGroups,
      numEntities,
      totalNumEntities,
    ];
  };

  test.each<[string, object, unknown]>([
    ["", {}, [["prod 3"], [], 1, 0, 3]],
    ["/", {}, [["prod 3"], [], 1, 0, 3]],
    ["/prod", {}, [["postgres 2", "snowflake 1"], [], 2, 0, 3]],
    ["prod/", {}, [["postgres 2", "snowflake 1"], [], 2, 0, 3]],
    ["/prod/postgres", {}, [["farmly 2"], [], 1, 0, 2]],
    ["/prod/postgres/farmly", {}, [[], [GROWERS, HARVESTS], 0, 2, 0]],
    ["/prod/postgres/farmly", { start: 1, limit: 1 }, [[], [HARVESTS], 0, 2, 0]],
    ["/nowhere", {}, [[], [], 0, 0, 0]],
    [
      "/prod",
      { flags: { filterNonLatestVersions: false }, limit: 1, start: 1 },
      [["snowflake 1"], [], 2, 1, 3],
    ],
    [
      "/prod",
      { flags: { filterNonLatestVersions: false }, limit: 2, start: 1 },
      [["snowflake 1"], [DRAFT], 2, 1, 3],
    ],
    ["", { filter: filtered({ field: "tags", value: PII }) }, [["prod 1"], [], 1, 0, 1]],
  ])("browse %j %j", async (path, more, expected) => {
    expect(await browse(path, more)).toEqual(expected);
  });

  test.each([
    ["/prod/barn/", "/prod/barn"],
    ["prod/barn", "//prod//barn"],
  ])(
    "a folder contains entities whatever the slashes of their paths: %s, %s",
    async (one, other) => {
      const corpus = documentsOf({
        [HARVESTS]: { browsePaths: { paths: [one, "/"] } },
        [GROWERS]: { browsePaths: { paths: [other] } },
      });
      const filter = filtered({ field: "browsePaths", value: "prod/barn" });
      const { hits } = await searchesOver(corpus).search({ input: "*", filter }, page);
      expect(hits.map(({ urn }) => urn)).toEqual([GROWERS, HARVESTS]);
      const at = async (path: string) => {
        const answer = await searchesOver(corpus).browse({
          ...{ entity: "dataset", path, start: 0, limit: 10 },
        });
        return [answer.groups.map(({ name, count }) => `${name} ${count}`), answer.entities];
      };
      expect(await at("")).toEqual([["prod 2"], [HARVESTS]]);
      expect(await at("/prod")).toEqual([["barn 2"], []]);
      for (const path of ["/prod/barn", "prod/barn/", "//prod//barn"]) {
        expect(await at(path)).toEqual([[], [GROWERS, HARVESTS]]);
      }
    },
  );

  test("folders of the newer tree can be entities", async () => {
    const at = (path: string) =>
      searches.browseV2({ entities: ["dataset"], path, start: 0, count: 10 });
    expect(await at("")).toMatchObject({
      total: 1,
      groups: [{ name: SITE, count: 1, hasSubGroups: true, entity: SITE }],
    });
    expect(await at(`␟${SITE}`)).toMatchObject({
      groups: [{ name: FARM, count: 1, hasSubGroups: false, entity: FARM }],
    });
    expect(await at(`␟${SITE}␟${FARM}`)).toMatchObject({ total: 0, groups: [] });
  });
});
