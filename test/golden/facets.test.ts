/** Facets in search responses: values that the request names are counted, however rare they are. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const numbers = Array.from({ length: 25 }, (_, n) => n);
const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const owner = (n: number): string => `urn:li:corpuser:u${String(n).padStart(2, "0")}`;
const named = (name: string) => ({ name, customProperties: {}, tags: [] });

let service: RunningService;
let written = 0;

/** Tags of a dataset and a column, of a column only, and of a dataset only. */
const [BOTH, INSIDE, OUTSIDE] = ["both", "inside", "outside"].map((one) => `urn:li:tag:${one}`);
const tagged = (...tags: readonly unknown[]) => ({ tags: tags.map((tag) => ({ tag })) });

beforeAll(async () => {
  service = await runningService();
  const owned = numbers.flatMap((n): readonly (readonly [string, string, unknown])[] => [
    [dataset(`d${n}`), "datasetProperties", named(`n${n}`)],
    [
      dataset(`d${n}`),
      "ownership",
      {
        owners: [{ owner: owner(n), type: "DATAOWNER" }],
        lastModified: { time: 0, actor: owner(n) },
      },
    ],
    [dataset(`d${n}`), "subTypes", { typeNames: [n < 24 ? "Table" : "View"] }],
  ]);
  const chart = [
    "urn:li:chart:(looker,c)",
    "chartInfo",
    {
      ...{ title: "c", description: "" },
      lastModified: {
        created: { time: 0, actor: owner(0) },
        lastModified: { time: 0, actor: owner(0) },
      },
    },
  ] as const;
  const tags = [
    [dataset("d3"), "globalTags", tagged(BOTH, OUTSIDE)],
    [
      dataset("d3"),
      "editableSchemaMetadata",
      {
        editableSchemaFieldInfo: [
          { fieldPath: "f", globalTags: tagged(BOTH, INSIDE) },
          { fieldPath: "g", globalTags: tagged(INSIDE) },
        ],
      },
    ],
    [
      dataset("d4"),
      "editableSchemaMetadata",
      { editableSchemaFieldInfo: [{ fieldPath: "f", globalTags: tagged(BOTH) }] },
    ],
  ] as const;
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals: [...owned, ...tags, chart].map(([urn, aspect, value]) =>
      proposal(urn, aspect, value),
    ),
  });
  expect(reply).toMatchObject({ status: 200 });
  written = reply.position ?? 0;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

interface Facet {
  readonly name: string;
  readonly filterValues: readonly {
    readonly value: string;
    readonly facetCount: number;
    readonly filtered: boolean;
  }[];
}

async function facets(action: string, body: object): Promise<readonly Facet[]> {
  const asked = { input: "*", start: 0, count: 0, ...body };
  const reply = await service.client.call("POST", `/entities?action=${action}`, asked, {
    "X-Annals-Min-Position": String(written),
  });
  expect(reply).toMatchObject({ status: 200 });
  return reply.body.value.metadata.aggregations;
}

/**
 * The values of a facet where one of the criteria holds: counts, and whether only the filter names
 * the value.
 */
async function valuesOf(name: string, criteria: readonly object[], more: object = {}) {
  const filter = { or: criteria.map((one) => ({ and: [one] })) };
  const all = await facets("search", { entity: "dataset", filter, ...more });
  const { filterValues = [] } = all.find((facet) => facet.name === name) ?? {};
  return new Map(
    filterValues.map(({ value, facetCount, filtered }) => [value, [facetCount, filtered]]),
  );
}

const ONE = [1, false];
const NONE = [0, true];

test("a facet has the display name that the requested types give it", async () => {
  const route = { method: "GET", path: "/orders" };
  const reply = await service.client.upsert("urn:li:api:orders", "restApiProperties", route);
  written = reply.position ?? 0;
  const searchFlags = { filterNonLatestVersions: false };
  const shown = await facets("search", { entity: "api", searchFlags });
  expect(shown).toContainEqual(expect.objectContaining({ name: "path", displayName: "Route" }));
});

describe("values that a filter names are counted", () => {
  test("when a facet has fewer values than the filter", async () => {
    const values = await valuesOf("owners", [
      { field: "owners", condition: "IN", values: numbers.map(owner) },
    ]);
    expect([...values]).toEqual(numbers.map((n) => [owner(n), ONE]));
  });

  test("when other values are as frequent or more frequent", async () => {
    const anyName = { field: "name", condition: "EXISTS" };
    const both = await valuesOf("owners", [
      { field: "owners", condition: "EQUAL", values: [owner(24), owner(99)] },
      anyName,
    ]);
    expect(both.size).toBe(22);
    expect([...both].slice(-2)).toEqual([
      [owner(24), ONE],
      [owner(99), NONE],
    ]);
    const pair = { field: "_entityType␞typeNames", values: ["dataset␞View", "dataset␞Topic"] };
    const pairs = await valuesOf(pair.field, [pair, anyName], {
      searchFlags: { maxAggValues: 2 },
    });
    expect(pairs.get("dataset␞View")).toEqual(ONE);
    const one = await valuesOf(pair.field, [pair, anyName], { searchFlags: { maxAggValues: 1 } });
    expect([...one]).toEqual([
      ["dataset", [25, false]],
      ["dataset␞Table", [24, false]],
      ["dataset␞View", ONE],
    ]);
  });

  test("also for fields that responses have no facets of", async () => {
    const values = await valuesOf("name", [
      { field: "name", condition: "EQUAL", values: ["n99", "n9"] },
      { field: "owners", condition: "EXISTS" },
    ]);
    expect([...values]).toEqual([
      ["n9", ONE],
      ["n99", NONE],
    ]);
    const all = await valuesOf("name", [
      { field: "name", condition: "IN", values: numbers.map((n) => `n${n}`) },
    ]);
    expect([...all.values()]).toEqual(numbers.map(() => ONE));
  });
});

test("values that a filter names are counted in every field that the filter searches", async () => {
  const named = { field: "tags", values: [BOTH, INSIDE, OUTSIDE, "urn:li:tag:none"] };
  const values = await valuesOf("tags", [named]);
  expect(Object.fromEntries(values)).toEqual({
    [String(BOTH)]: [2, false],
    [String(INSIDE)]: ONE,
    [String(OUTSIDE)]: ONE,
    "urn:li:tag:none": NONE,
  });
  const columns = await valuesOf("fieldTags", [{ field: "fieldTags", values: [INSIDE, OUTSIDE] }]);
  expect([...columns]).toEqual([
    [INSIDE, ONE],
    [OUTSIDE, NONE],
  ]);
  const plain = await valuesOf("tags", [{ field: "name", condition: "EXISTS" }]);
  expect([...plain]).toEqual([
    [BOTH, ONE],
    [OUTSIDE, ONE],
  ]);
});

test("requested entity types are counted, however few values a facet has", async () => {
  const asked = { entities: ["dataset", "chart", "tag"], searchFlags: { maxAggValues: 1 } };
  const all = await facets("searchAcrossEntities", asked);
  const types = all.find(({ name }) => name === "_entityType")?.filterValues;
  expect(types?.map(({ value, facetCount }) => [value, facetCount])).toEqual([
    ["dataset", 25],
    ["chart", 1],
    ["tag", 0],
  ]);
});
