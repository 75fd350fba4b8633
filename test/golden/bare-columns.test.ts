/**
 * Column lineage of columns without documents: a search returns their datasets, or on request the
 * columns, which are found, sorted and counted like entities. A scroll always returns the datasets.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const dataset = (name: string): string => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const column = (name: string, path: string): string =>
  `urn:li:schemaField:(${dataset(name)},${path})`;
const [A, B] = [dataset("a"), dataset("b")];
const [X, Y, Z] = [column("a", "x"), column("a", "y"), column("b", "z")];
/** A column that has a document. */
const W = column("a", "w");
const stamp = { time: 1_772_409_600_000, actor: "urn:li:corpuser:ann" };

let service: RunningService;
let written = 0;

beforeAll(async () => {
  service = await runningService();
  await write([
    [A, "datasetProperties", { name: "a", customProperties: {}, tags: [] }],
    [B, "upstreamLineage", lineageFrom([X, Y])],
  ]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const lineageFrom = (upstreams: readonly (string | undefined)[]) => ({
  upstreams: [{ auditStamp: stamp, type: "TRANSFORMED", dataset: A }],
  fineGrainedLineages: [
    {
      ...{ upstreamType: "FIELD_SET", downstreamType: "FIELD", confidenceScore: 1 },
      ...{ upstreams, downstreams: [Z] },
    },
  ],
});

async function write(aspects: readonly (readonly [string | undefined, string, unknown])[]) {
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals: aspects.map(([urn = "", aspect, value]) => proposal(urn, aspect, value)),
  });
  expect(reply).toMatchObject({ status: 200 });
  written = reply.position ?? 0;
}

async function lineage(more: object = {}, action = "searchAcrossLineage") {
  const searchFlags = { groupingSpec: asColumns };
  const asked = {
    ...{ urn: Z, direction: "UPSTREAM", input: "*", start: 0, count: 10, searchFlags },
    ...more,
  };
  const reply = await service.client.call("POST", `/entities?action=${action}`, asked, {
    "X-Annals-Min-Position": String(written),
    "X-RestLi-Protocol-Version": "2.0.0",
  });
  expect(reply).toMatchObject({ status: 200 });
  const { numEntities, entities, scrollId, metadata } = reply.body.value;
  return {
    numEntities,
    urns: entities.map(({ entity }: { readonly entity: string }) => entity),
    paths: entities.map(({ paths }: { readonly paths: readonly string[][] }) => paths),
    scrollId,
    facets: Object.fromEntries(
      metadata.aggregations.map(
        ({ name, aggregations }: { readonly name: string; readonly aggregations: object }) => [
          name,
          aggregations,
        ],
      ),
    ),
  };
}

const asColumns = {
  groupingCriteria: [{ baseEntityType: "schemaField", groupingEntityType: "schemaField" }],
};
const by = (field: string, order: string) => ({ sort: { field, order } });
const ofType = (...values: readonly string[]) => ({
  filter: { or: [{ and: [{ field: "_entityType", condition: "EQUAL", values }] }] },
});

test("a search returns the datasets of columns, with the columns in their paths", async () => {
  const found = {
    numEntities: 1,
    urns: [A],
    paths: [
      [
        [Z, X],
        [Z, Y],
      ],
    ],
  };
  expect(await lineage({ searchFlags: {} })).toMatchObject(found);
  const named = { searchFlags: {}, entities: ["dataset"], ...ofType("dataset") };
  expect(await lineage(named)).toMatchObject(found);
});

test("a scroll returns the datasets of columns, whatever its grouping", async () => {
  const found = {
    numEntities: 1,
    urns: [A],
    paths: [
      [
        [Z, X],
        [Z, Y],
      ],
    ],
  };
  for (const searchFlags of [{}, { groupingSpec: asColumns }]) {
    const more = { start: undefined, searchFlags };
    expect(await lineage(more, "scrollAcrossLineage")).toMatchObject(found);
  }
});

test("columns are sorted in the requested order", async () => {
  expect(await lineage()).toMatchObject({ numEntities: 2, urns: [X, Y] });
  expect(await lineage(by("urn", "ASCENDING"))).toMatchObject({ numEntities: 2, urns: [X, Y] });
  expect(await lineage(by("urn", "DESCENDING"))).toMatchObject({ numEntities: 2, urns: [Y, X] });
  expect(await lineage(by("name", "DESCENDING"))).toMatchObject({ numEntities: 2, urns: [X, Y] });
  const last = { ...by("urn", "ASCENDING"), start: 1, count: 1 };
  expect(await lineage(last)).toMatchObject({ numEntities: 2, urns: [Y] });
});

test("columns are counted among the entity types", async () => {
  const counted = { schemaField: 2 };
  for (const more of [{}, { entities: ["schemaField"] }, ofType("schemaField")]) {
    for (const sorted of [{}, by("urn", "ASCENDING")]) {
      const { facets } = await lineage({ ...more, ...sorted });
      expect(facets, JSON.stringify(more)).toMatchObject({
        degree: { 1: 2, 2: 0, "3+": 0 },
        _entityType: counted,
        entity: counted,
        "_entityType␞typeNames": counted,
      });
    }
  }
  const { facets } = await lineage(ofType("SCHEMA_FIELD", "chart"));
  expect(facets._entityType).toEqual({ schemaField: 2, chart: 0 });
  const none = await lineage({ input: "nothing", ...ofType("schemaField") });
  expect(none).toMatchObject({ numEntities: 0, facets: { _entityType: { schemaField: 0 } } });
  const urn = { filter: { or: [{ and: [{ field: "urn", values: [X, Z] }] }] } };
  expect(await lineage(urn)).toMatchObject({ numEntities: 1, facets: { urn: { [X]: 1, [Z]: 0 } } });
});

test("columns are counted among the values that a filter names", async () => {
  const [columns] = ofType("schemaField").filter.or;
  const day = { field: "createdAt", condition: "EQUAL", values: ["2021-03-01"] };
  const urn = { field: "urn", condition: "IEQUAL", values: [X.toUpperCase()] };
  for (const sorted of [{}, by("urn", "ASCENDING")]) {
    const filter = { or: [columns, { and: [day] }, { and: [urn] }] };
    const { facets } = await lineage({ filter, ...sorted });
    expect(facets.createdAt).toEqual({ "2021-03-01": 0 });
    expect(facets.urn).toEqual({ [X]: 1 });
  }
});

describe("together with columns that have documents", () => {
  beforeAll(async () => {
    await write([
      [W, "schemafieldInfo", { name: "w" }],
      [B, "upstreamLineage", lineageFrom([X, Y, W])],
    ]);
  });

  test("columns with and without documents are sorted in one order", async () => {
    const sorts = [
      [by("urn", "ASCENDING"), [W, X, Y]],
      [by("urn", "DESCENDING"), [Y, X, W]],
      [by("_entityType", "ASCENDING"), [W, X, Y]],
      [by("name", "ASCENDING"), [W, X, Y]],
    ] as const;
    for (const [sort, expected] of sorts) {
      const all = await lineage(sort);
      expect(all).toMatchObject({ numEntities: 3, urns: expected });
      expect(all.facets._entityType).toEqual({ schemaField: 3 });
      for (const start of [0, 1, 2, 3]) {
        const { urns } = await lineage({ ...sort, start, count: 1 });
        expect(urns).toEqual(expected.slice(start, start + 1));
      }
    }
  });
});
