/** Searching with GraphQL, as DataHub's command line and libraries do. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask, faultOf } from "./graphql-client.ts";

const dataset = (i: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,seeds.t${i},PROD)`;
const stamp = { time: 1, actor: "urn:li:corpuser:ada" };
let service: RunningService;

/** The query of DataHub's library for the urns that match a filter. */
const SCROLL = `query scrollUrnsWithFilters($types: [EntityType!], $query: String!, $orFilters: [AndFilterInput!],
  $batchSize: Int!, $scrollId: String, $skipCache: Boolean!, $sortInput: SearchSortInput, $includeSoftDeleted: Boolean) {
  scrollAcrossEntities(input: {query: $query, count: $batchSize, scrollId: $scrollId, types: $types,
    orFilters: $orFilters, sortInput: $sortInput,
    searchFlags: {skipHighlighting: true, skipAggregates: true, skipCache: $skipCache, includeSoftDeleted: $includeSoftDeleted}}) {
    nextScrollId
    searchResults { entity { urn type } extraProperties { name value } }
  }
}`;
const notRemoved = { field: "removed", values: ["true"], condition: "EQUAL", negated: true };
const onHive = {
  field: "platform.keyword",
  values: ["urn:li:dataPlatform:hive"],
  condition: "EQUAL",
};

async function scrolled(variables: object): Promise<readonly { urn: string; type: string }[]> {
  const found = [];
  let scrollId: string | null = null;
  do {
    const asked = { query: "*", batchSize: 2, skipCache: false, ...variables, scrollId };
    const { body } = await ask(service.client, SCROLL, asked, {});
    expect(body.errors).toBeUndefined();
    const page = body.data.scrollAcrossEntities;
    found.push(...page.searchResults.map((one: { entity: object }) => one.entity));
    scrollId = page.nextScrollId;
  } while (scrollId !== null);
  return found;
}

beforeAll(async () => {
  service = await runningService();
  for (let i = 0; i < 5; i++) {
    await service.client.upsert(dataset(i), "datasetProperties", { name: `t${i}` });
  }
  await service.client.upsert(dataset(4), "status", { removed: true });
  const last = await service.client.upsert("urn:li:tag:seeds", "tagProperties", { name: "seeds" });
  await service.client.call(
    "POST",
    "/entities?action=search",
    { entity: "dataset", input: "*", start: 0, count: 1 },
    { "X-Annals-Min-Position": String(last.position) },
  );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test("a response has its position, and waits for the requested one", async () => {
  const { position } = await service.client.upsert(dataset(9), "status", { removed: false });
  const query =
    '{ searchAcrossEntities(input: {query: "urn:*t9*", types: [], count: 1}) { total } }';
  const seeing = (least: number | string) =>
    ask(service.client, query, {}, { "X-Annals-Min-Position": String(least) });
  const found = await seeing(position ?? 0);
  expect(found.body.data.searchAcrossEntities.total).toBe(1);
  expect(found.position).toBeGreaterThanOrEqual(position ?? Number.NaN);
  expect(await seeing("soon")).toMatchObject({ status: 400 });
  const gone = await service.client.call("POST", "/entities?action=delete", { urn: dataset(9) });
  expect((await seeing(gone.position ?? 0)).body.data.searchAcrossEntities.total).toBe(0);
});

describe("scrollAcrossEntities", () => {
  test("returns every urn once over its pages", async () => {
    const found = await scrolled({
      types: ["DATASET"],
      orFilters: [{ and: [onHive, notRemoved] }],
    });
    expect(found.map(({ urn }) => urn).sort()).toEqual([0, 1, 2, 3].map(dataset));
    expect(new Set(found.map(({ type }) => type))).toEqual(new Set(["DATASET"]));
  });

  test("finds soft-deleted entities on request, and all types where none is named", async () => {
    const removed = { field: "removed", values: ["true"], condition: "EQUAL" };
    const some = await scrolled({ orFilters: [{ and: [removed] }], includeSoftDeleted: true });
    expect(some.map(({ urn }) => urn)).toEqual([dataset(4)]);
    const all = await scrolled({ orFilters: [{ and: [] }] });
    expect(all.map(({ type }) => type)).toContain("TAG");
  });

  test("keeps the requested order", async () => {
    const sortInput = { sortCriteria: [{ field: "urn", sortOrder: "DESCENDING" }] };
    const found = await scrolled({ types: ["DATASET"], sortInput });
    expect(found.map(({ urn }) => urn)).toEqual([3, 2, 1, 0].map(dataset));
  });

  test("names the fault of a filter", async () => {
    const variables = {
      query: "*",
      batchSize: 2,
      skipCache: false,
      orFilters: [{ and: [{ field: "nonsense", values: ["x"] }] }],
    };
    const fault = faultOf(await ask(service.client, SCROLL, variables, {}));
    expect(fault.extensions.code).toBe(400);
    expect(fault.message).toContain("nonsense");
  });
});

test("searchAcrossEntities and search return hits, their matches, and facets", async () => {
  const result =
    "start count total searchResults { entity { urn type } matchedFields { name value } } facets { field aggregations { value count entity { urn } } }";
  const { body } = await ask(
    service.client,
    `{ searchAcrossEntities(input: {types: [DATASET], query: "t1"}) { ${result} }
       search(input: {type: DATASET, query: "t1", start: 0, count: 1}) { ${result} } }`,
    {},
    {},
  );
  expect(body.errors).toBeUndefined();
  const { searchAcrossEntities: across, search } = body.data;
  expect(across).toMatchObject({ start: 0, count: 1, total: 1 });
  expect(across.searchResults[0].entity).toEqual({ urn: dataset(1), type: "DATASET" });
  expect(across.searchResults[0].matchedFields).toContainEqual({ name: "name", value: "t1" });
  const platforms = across.facets.find(({ field }: { field: string }) => field === "platform");
  expect(platforms.aggregations).toEqual([
    {
      value: "urn:li:dataPlatform:hive",
      count: 1,
      entity: { urn: "urn:li:dataPlatform:hive" },
    },
  ]);
  expect(search.searchResults).toEqual(across.searchResults);
});

describe("where no type is named", () => {
  const query = "urn:li:query:q";
  const run = "urn:li:dataProcessInstance:seeds";
  const internal: readonly (readonly [urn: string, aspect: string, value: object])[] = [
    [
      "urn:li:dataHubExecutionRequest:seeds",
      "dataHubExecutionRequestInput",
      {
        ...{ task: "seeds", args: {}, executorId: "x", requestedAt: 1 },
        source: { type: "SCHEDULED_INGESTION_SOURCE" },
      },
    ],
    [
      "urn:li:dataPlatform:seeds",
      "dataPlatformInfo",
      { name: "seeds", type: "OTHERS", datasetNameDelimiter: "." },
    ],
    [
      query,
      "queryProperties",
      {
        ...{ statement: { value: "select seeds", language: "SQL" }, source: "MANUAL" },
        ...{ name: "seeds", created: stamp, lastModified: stamp },
      },
    ],
    [
      "urn:li:assertion:seeds",
      "assertionInfo",
      { type: "CUSTOM", customAssertion: { type: "seeds", entity: dataset(0) } },
    ],
  ];
  const stored = ["DATA_PLATFORM", "QUERY", "EXECUTION_REQUEST", "ASSERTION"];
  const typesOf = (found: readonly { readonly type: string }[]) =>
    new Set(found.map(({ type }) => type));

  beforeAll(async () => {
    for (const one of internal) await service.client.upsert(...one);
    const upstreams = [{ dataset: dataset(0), type: "TRANSFORMED", query }];
    await service.client.upsert(run, "dataProcessInstanceInput", {
      inputs: [],
      inputEdges: [{ destinationUrn: dataset(0) }],
    });
    const { position } = await service.client.upsert(dataset(1), "upstreamLineage", { upstreams });
    await ask(
      service.client,
      '{ searchAcrossEntities(input: {query: "*", count: 0}) { total } }',
      {},
      { "X-Annals-Min-Position": String(position) },
    );
  });

  test("internal entities are not found", async () => {
    expect(typesOf(await scrolled({ types: stored }))).toEqual(new Set(stored));
    expect(typesOf(await scrolled({}))).toEqual(new Set(["DATASET", "TAG"]));
    expect(typesOf(await scrolled({ types: [] }))).toEqual(new Set(["DATASET", "TAG"]));
    const { body } = await ask(
      service.client,
      `{ searchAcrossEntities(input: {query: "*", count: 100}) {
          total searchResults { entity { type } } facets { field aggregations { value count } } }
        autoCompleteForMultiple(input: {query: "seeds"}) { suggestions { type } } }`,
      {},
      {},
    );
    const { searchAcrossEntities: across, autoCompleteForMultiple: completed } = body.data;
    expect(across.total).toBe(5);
    const types = across.facets.find(({ field }: { field: string }) => field === "_entityType");
    expect(types.aggregations).toEqual([
      { value: "DATASET", count: 4 },
      { value: "TAG", count: 1 },
    ]);
    expect(typesOf(completed.suggestions)).not.toContain("DATA_PLATFORM");
    expect(typesOf(completed.suggestions)).toContain("TAG");
  });

  test("a search over REST finds all types", async () => {
    const asked = { input: "*", start: 0, count: 100 };
    const path = "/entities?action=searchAcrossEntities";
    const { body } = await service.client.call("POST", path, { ...asked, entities: [] });
    expect(body.value.entities).toEqual(expect.arrayContaining(internal.map(([urn]) => urn)));
  });

  test("lineage leads to all types but queries", async () => {
    const lineage = (types: string, field: string) =>
      ask(
        service.client,
        `{ ${field}(input: {urn: "${dataset(0)}", direction: DOWNSTREAM, query: "*" ${types}}) {
          searchResults { entity { urn type } } } }`,
        {},
        {},
      ).then(({ body }) => {
        expect(body.errors).toBeUndefined();
        return body.data[field].searchResults.map(({ entity }: { entity: object }) => entity);
      });
    for (const field of ["searchAcrossLineage", "scrollAcrossLineage"]) {
      const all = await lineage("", field);
      expect(all.map(({ urn }: { urn: string }) => urn)).toContain(dataset(1));
      expect(all.map(({ urn }: { urn: string }) => urn)).toContain(run);
      expect(typesOf(all)).not.toContain("QUERY");
      expect(typesOf(await lineage("types: [QUERY]", field))).toEqual(new Set(["QUERY"]));
    }
  });
});

describe("suggestions", () => {
  const suggested = async (field: string, input: string) => {
    const query = `{ ${field}(input: {${input}}) { total suggestions { text score frequency } } }`;
    const { body } = await ask(service.client, query, {}, {});
    expect(body.errors).toBeUndefined();
    return body.data[field];
  };
  const seeds = [{ text: "seeds", score: 0.8, frequency: 1 }];

  test("a search without hits suggests queries with near words", async () => {
    const flags = "searchFlags: {getSuggestions: true}";
    const one = `type: TAG, query: "seads", ${flags}`;
    expect(await suggested("search", one)).toEqual({ total: 0, suggestions: seeds });
    const across = `types: [TAG], query: "seads", ${flags}`;
    expect(await suggested("searchAcrossEntities", across)).toEqual({
      total: 0,
      suggestions: seeds,
    });
  });

  test("a search with hits, or without the flag, has none", async () => {
    const found = 'types: [TAG], query: "seeds", searchFlags: {getSuggestions: true}';
    expect(await suggested("searchAcrossEntities", found)).toEqual({ total: 1, suggestions: [] });
    const plain = 'types: [TAG], query: "seads"';
    expect(await suggested("searchAcrossEntities", plain)).toEqual({ total: 0, suggestions: [] });
  });
});

test("members that are null count as absent", async () => {
  const flags = "searchFlags: {groupingSpec: {}}";
  const grouping = `{ search(input: {type: TAG, query: "*", ${flags}}) { total } }`;
  expect((await ask(service.client, grouping, {}, {})).body.errors).toBeUndefined();
  const lineage = "{ scrollAcrossLineage(input: {direction: UPSTREAM}) { total } }";
  const fault = faultOf(await ask(service.client, lineage, {}, {}));
  expect(fault?.extensions.code).toBe(400);
});

test("hits have the values of the requested search fields", async () => {
  const extraOf = async (root: string, position = 0) => {
    const fields = '["name", "platform", "customProperties", "tags", "nothing"]';
    const flags = `searchFlags: {fetchExtraFields: ${fields}}`;
    const query = `{ ${root}(input: {types: [DATASET], query: "t1", ${flags}}) {
      searchResults { extraProperties { name value } } } }`;
    const written = { "X-Annals-Min-Position": String(position) };
    const { body } = await ask(service.client, query, {}, written);
    expect(body.errors).toBeUndefined();
    return body.data[root].searchResults[0].extraProperties;
  };
  const value = { name: "t1", customProperties: { a: "1", b: "2" } };
  const { position } = await service.client.upsert(dataset(1), "datasetProperties", value);
  for (const root of ["searchAcrossEntities", "scrollAcrossEntities"]) {
    expect(await extraOf(root, position)).toEqual([
      { name: "name", value: '"t1"' },
      { name: "platform", value: '"urn:li:dataPlatform:hive"' },
      { name: "customProperties", value: '["a=1","b=2"]' },
    ]);
  }
});

test("drafts are found on request", async () => {
  const draft = "urn:li:lifecycleStageType:DRAFT";
  const other = "urn:li:lifecycleStageType:PROPOSED";
  for (const stage of [draft, other]) {
    await service.client.upsert(stage, "lifecycleStageTypeInfo", {
      ...{ name: stage, settings: { hideInSearch: true }, created: stamp, lastModified: stamp },
    });
  }
  await service.client.upsert(dataset(2), "status", { removed: false, lifecycleStage: draft });
  const hidden = { removed: false, lifecycleStage: other };
  const { position } = await service.client.upsert(dataset(3), "status", hidden);
  const found = async (flags: string) => {
    const query = `{ scrollAcrossEntities(input: {types: [DATASET], query: "*", ${flags}}) {
      searchResults { entity { urn } } } }`;
    const written = { "X-Annals-Min-Position": String(position) };
    const { body } = await ask(service.client, query, {}, written);
    const { searchResults } = body.data.scrollAcrossEntities;
    return searchResults.map(({ entity }: { entity: { urn: string } }) => entity.urn).sort();
  };
  expect(await found("")).toEqual([0, 1].map(dataset));
  expect(await found("searchFlags: {includeDraft: true}")).toEqual([0, 1, 2].map(dataset));
});
