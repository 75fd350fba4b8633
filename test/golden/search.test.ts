/**
 * Searches through the API: every form of request and response of the interface, its rules, both
 * dialects, and invalid or hostile requests.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal, type Reply } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const dataset = (name: string, platform = "hive"): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${platform},${name},PROD)`;
const TIDES = dataset("harbour.tides");
const GAUGES = dataset("harbour.gauges");
const MOON = dataset("moon phases (old) v1", "kafka");
const ANN = "urn:li:corpuser:ann";
const SEA = "urn:li:tag:sea";
const V2 = { "X-RestLi-Protocol-Version": "2.0.0" };
const stamp = { time: 1_772_409_600_000, actor: ANN };

const properties = (name: string, description: string, more: object = {}) => ({
  ...{ name, description, customProperties: {}, tags: [] },
  ...more,
});

let service: RunningService;
/** Position of the last write. Searches wait for it. */
let written = 0;

beforeAll(async () => {
  service = await runningService();
  await write([
    [TIDES, "datasetProperties", properties("tides", "High and low water")],
    [TIDES, "globalTags", { tags: [{ tag: SEA }] }],
    [TIDES, "ownership", { owners: [{ owner: ANN, type: "DATAOWNER" }], lastModified: stamp }],
    [
      TIDES,
      "upstreamLineage",
      { upstreams: [{ auditStamp: stamp, type: "TRANSFORMED", dataset: GAUGES }] },
    ],
    [GAUGES, "datasetProperties", properties("gauges", "Where the tides are measured")],
    [
      GAUGES,
      "upstreamLineage",
      { upstreams: [{ auditStamp: stamp, type: "TRANSFORMED", dataset: MOON }] },
    ],
    [MOON, "datasetProperties", properties("moon", "", { created: { ...stamp } })],
    [ANN, "corpUserInfo", { active: true, displayName: "Ann Harbourmaster" }],
    [SEA, "tagProperties", { name: "sea" }],
  ]);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function write(aspects: readonly (readonly [string, string, unknown])[]): Promise<void> {
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals: aspects.map(([urn, aspect, value]) => proposal(urn, aspect, value)),
  });
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
  written = reply.position ?? 0;
}

const act = (action: string, body: unknown, headers: Record<string, string> = {}) =>
  service.client.call("POST", `/entities?action=${action}`, body, {
    "X-Annals-Min-Position": String(written),
    ...headers,
  });

const page = { start: 0, count: 10 };

async function found(input: string, more: object = {}): Promise<readonly string[]> {
  const reply = await act("search", { entity: "dataset", input, ...page, ...more });
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
  return reply.body.value.entities;
}

describe("the interface dialect", () => {
  test("search returns urns as entities, and metadata of the result", async () => {
    const { status, body } = await act("search", { entity: "dataset", input: "tides", ...page });
    expect(status).toBe(200);
    expect(body.value).toMatchObject({
      from: 0,
      pageSize: 10,
      numEntities: 2,
      entities: [TIDES, GAUGES],
      metadata: {
        urns: [TIDES, GAUGES],
        matches: [
          {
            matchedFields: [
              { name: "urn", value: TIDES },
              { name: "id", value: "harbour.tides" },
              { name: "name", value: "tides" },
            ],
          },
          { matchedFields: [{ name: "description", value: "Where the tides are measured" }] },
        ],
      },
    });
    expect(body.value.metadata.searchResultMetadatas).toContainEqual({
      name: "platform",
      aggregations: { "urn:li:dataPlatform:hive": 2 },
    });
  });

  test("browse returns folders and entities of a level", async () => {
    const { body } = await act("browse", {
      entity: "dataset",
      path: "/prod/hive",
      ...{ start: 0, limit: 10 },
    });
    expect(body.value).toEqual({
      ...{ from: 0, pageSize: 10, numEntities: 0, numGroups: 1, numElements: 1 },
      groups: [{ name: "harbour", count: 2 }],
      metadata: {
        path: "/prod/hive",
        totalNumEntities: 2,
        groups: [{ name: "harbour", count: 2 }],
      },
      entities: [],
    });
    const inside = await act("browse", {
      entity: "dataset",
      path: "/prod/hive/harbour",
      ...{ start: 0, limit: 10 },
    });
    expect(inside.body.value).toMatchObject({
      numEntities: 2,
      entities: [
        { name: GAUGES, urn: GAUGES },
        { name: TIDES, urn: TIDES },
      ],
    });
    const paths = await act("getBrowsePaths", { urn: TIDES });
    expect(paths.body).toEqual({ value: ["/prod/hive/harbour"] });
  });

  test("autocomplete returns suggestions for the typed text", async () => {
    const { body } = await act("autocomplete", { entity: "dataset", query: "ti", limit: 5 });
    expect(body.value).toEqual({ query: "ti", suggestions: ["tides"], entities: [{ urn: TIDES }] });
    const user = await act("autocomplete", {
      entity: "corpuser",
      query: "ann harb",
      ...{ limit: 5, start: 0, filter: { or: [] } },
    });
    expect(user.body.value).toMatchObject({ suggestions: ["Ann Harbourmaster"] });
  });

  test.each<[string, string, string, readonly string[]]>([
    ["CONTAIN", "name", "id", [TIDES]],
    ["END_WITH", "name", "GES", [GAUGES]],
    ["EQUAL", "platform", "urn:li:dataPlatform:kafka", [MOON]],
    ["GREATER_THAN", "createdAt", "1772409599999", [MOON]],
    ["GREATER_THAN_OR_EQUAL_TO", "createdAt", "1772409600000", [MOON]],
    ["LESS_THAN", "createdAt", "1772409600000", []],
    ["LESS_THAN_OR_EQUAL_TO", "createdAt", "1772409600000", [MOON]],
    ["START_WITH", "name", "tid", [TIDES]],
  ])("rule 1: a filter accepts the condition %s", async (condition, field, value, expected) => {
    const filter = { or: [{ and: [{ field, value, condition }] }] };
    expect(await found("*", { filter })).toEqual(expected);
  });

  test.each([
    ["name", "tides"],
    ["platform", "urn:li:dataPlatform:kafka"],
    ["createdAt", "1772409600000"],
    ["numActiveIncidents", "1"],
    ["hasTags", "true"],
    ["removed", "false"],
    ["typeNames", "Table"],
    ["browsePaths", "/prod"],
    ["urn", TIDES],
  ])("rule 1: %s accepts each condition", async (field, value) => {
    const conditions = ["CONTAIN", "END_WITH", "EQUAL", "START_WITH"];
    const ends = ["GREATER_THAN", "LESS_THAN"].flatMap((end) => [end, `${end}_OR_EQUAL_TO`]);
    for (const condition of [...conditions, ...ends]) {
      const filter = { or: [{ and: [{ field, value, condition }] }] };
      const asked = { entity: "dataset", input: "*", start: 0, count: 10, filter };
      expect(await act("search", asked), condition).toMatchObject({ status: 200 });
    }
  });

  test.each<[string, readonly string[]]>([
    ["tags:urn:li:tag:sea", [TIDES]],
    ["tags:urn\\:li\\:tag\\:sea", [TIDES]],
    ["name:moon", [MOON]],
    ["name:moo", []],
    [`urn:${MOON}`, [MOON]],
    ["owners:urn:li:corpuser:ann", [TIDES]],
  ])("rule 2: %s is an exact match", async (input, expected) => {
    expect(await found(input)).toEqual(expected);
  });

  test("rules 3 and 4: only latest values are found, and no soft-deleted entities", async () => {
    const urn = dataset("harbour.buoys");
    const later = dataset("harbour.later");
    await write([
      [urn, "datasetProperties", properties("anchors", "")],
      [later, "datasetProperties", properties("ropes", "")],
    ]);
    expect(await found("anchors")).toEqual([urn]);
    await write([[urn, "datasetProperties", properties("floats", "")]]);
    expect(await found("anchors")).toEqual([]);
    expect(await found("floats")).toEqual([urn]);

    const browse = async () =>
      (await act("browse", { entity: "dataset", path: "/prod/hive/harbour", start: 0, limit: 10 }))
        .body.value.numEntities;
    const suggestions = async () =>
      (await act("autocomplete", { entity: "dataset", query: "flo", limit: 5 })).body.value
        .suggestions;
    expect([await browse(), await suggestions()]).toEqual([4, ["floats"]]);
    await write([[urn, "status", { removed: true }]]);
    expect(await found("floats")).toEqual([]);
    expect([await browse(), await suggestions()]).toEqual([3, []]);
    const readable = await service.client.get(`/entitiesV2/${encodeURIComponent(urn)}`);
    expect(readable.body.aspects.datasetProperties.value.name).toBe("floats");
    await write([[urn, "status", { removed: false }]]);
    expect(await found("floats")).toEqual([urn]);

    for (const gone of [urn, later]) {
      const reply = await act("delete", { urn: gone });
      expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
      written = reply.position ?? 0;
    }
    expect(await found("floats OR ropes", { searchFlags: { includeSoftDeleted: true } })).toEqual(
      [],
    );
    expect(await browse()).toBe(2);
  });
});

describe("the DataHub dialect", () => {
  test("search returns objects as entities, and facets with their values", async () => {
    const { body } = await act("search", { entity: "dataset", input: "tides", ...page }, V2);
    expect(body.value.entities[0]).toEqual({
      entity: TIDES,
      matchedFields: [
        { name: "urn", value: TIDES },
        { name: "id", value: "harbour.tides" },
        { name: "name", value: "tides" },
      ],
      score: 680,
      features: { SEARCH_BACKEND_SCORE: 680 },
    });
    expect(body.value.metadata.aggregations).toContainEqual({
      name: "tags",
      displayName: "Tagged With",
      aggregations: { [SEA]: 1 },
      filterValues: [{ value: SEA, entity: SEA, facetCount: 1, filtered: false }],
    });
  });

  test("searches across types are scrolled page by page", async () => {
    const request = { input: "*", entities: ["dataset", "corpuser", "tag"], count: 2 };
    const urns: string[] = [];
    let scrollId: string | undefined;
    do {
      const { body } = await act("scrollAcrossEntities", { ...request, scrollId }, V2);
      expect(body.value.numEntities).toBe(5);
      urns.push(...body.value.entities.map(({ entity }: { entity: string }) => entity));
      scrollId = body.value.scrollId;
    } while (scrollId !== undefined);
    const across = { ...request, start: 0, count: 10 };
    const all = await act("searchAcrossEntities", across, V2);
    expect(urns).toEqual(all.body.value.entities.map(({ entity }: { entity: string }) => entity));
    expect(new Set(urns)).toEqual(new Set([TIDES, GAUGES, MOON, ANN, SEA]));
    expect(all.body.value.metadata.aggregations.at(-1)).toMatchObject({
      name: "entity",
      aggregations: { dataset: 3, corpuser: 1, tag: 1 },
    });
    const interfaceDialect = await act("searchAcrossEntities", across);
    expect(interfaceDialect.body.value.entities).toEqual(urns);
  });

  test("filter and list return the matching entities", async () => {
    const filter = {
      or: [{ and: [{ field: "platform.keyword", values: ["urn:li:dataPlatform:hive"] }] }],
    };
    const list = await act("list", { entity: "dataset", filter, ...page }, V2);
    expect(list.body).toEqual({
      value: { entities: [GAUGES, TIDES], start: 0, count: 10, total: 2 },
    });
    const filtered = await act("filter", { entity: "dataset", filter, ...page }, V2);
    expect(filtered.body.value).toMatchObject({
      numEntities: 2,
      entities: [{ entity: GAUGES, matchedFields: [] }, { entity: TIDES }],
      metadata: {
        aggregations: [{ name: "platform", aggregations: { "urn:li:dataPlatform:hive": 2 } }],
      },
    });
  });

  test("searchAcrossLineage searches upstream and downstream", async () => {
    const lineage = async (more: object) => {
      const request = { urn: TIDES, direction: "UPSTREAM", input: "*", ...page, ...more };
      return (await act("searchAcrossLineage", request, V2)).body.value;
    };
    expect(await lineage({})).toMatchObject({
      numEntities: 2,
      isPartial: false,
      entities: [
        { entity: GAUGES, degree: 1, degrees: [1], paths: [[TIDES, GAUGES]] },
        { entity: MOON, degree: 2, paths: [[TIDES, GAUGES, MOON]] },
      ],
      metadata: {
        aggregations: [
          { name: "degree", aggregations: { 1: 1, 2: 1, "3+": 0 } },
          {},
          {},
          {},
          {},
          {},
        ],
      },
    });
    const near = { or: [{ and: [{ field: "degree", values: ["1"] }] }] };
    expect((await lineage({ filter: near })).entities).toMatchObject([{ entity: GAUGES }]);
    expect((await lineage({ input: "moon" })).entities).toMatchObject([{ entity: MOON }]);
    expect((await lineage({ urn: MOON, direction: "DOWNSTREAM", maxHops: 1 })).numEntities).toBe(1);
    // An edge has two times: that of its audit stamp and that of its write.
    const then = { startTimeMillis: stamp.time, endTimeMillis: stamp.time };
    expect((await lineage(then)).numEntities).toBe(2);
    expect((await lineage({ startTimeMillis: stamp.time + 1 })).numEntities).toBe(2);
    expect((await lineage({ endTimeMillis: stamp.time - 1 })).entities).toEqual([]);
    const groupingSpec = {
      groupingCriteria: [{ baseEntityType: "DATASET", groupingEntityType: "DATA_PLATFORM" }],
    };
    const grouped = await lineage({ searchFlags: { groupingSpec } });
    expect(grouped.entities.map(({ entity }: { entity: string }) => entity)).toEqual([]);
    const named = await act("search", {
      entity: "dataset",
      input: "*",
      ...page,
      searchFlags: { groupingSpec },
    });
    expect(named).toMatchObject({ status: 200 });
    const scroll = await act(
      "scrollAcrossLineage",
      { urn: TIDES, direction: "UPSTREAM", count: 1 },
      V2,
    );
    const { scrollId, entities } = scroll.body.value;
    expect(entities).toMatchObject([{ entity: GAUGES }]);
    const next = { urn: TIDES, direction: "UPSTREAM", count: 1, scrollId };
    expect((await act("scrollAcrossLineage", next, V2)).body.value.entities).toMatchObject([
      { entity: MOON },
    ]);
  });
});

describe("the value of a field", () => {
  const title = "Rows of the harbour, by tide";
  const chart = "urn:li:chart:(looker,rows)";
  const other = "urn:li:chart:(looker,other)";
  const tag = "urn:li:tag:Two Words";
  beforeAll(async () => {
    const info = (text: string) => ({ title: text, description: "", lastModified: {} });
    const stamps = { created: stamp, lastModified: stamp };
    await write([
      [chart, "chartInfo", { ...info(title), lastModified: stamps }],
      [other, "chartInfo", { ...info("Rows by harbour"), lastModified: stamps }],
      [chart, "globalTags", { tags: [{ tag }] }],
    ]);
  });

  test.each([
    [`title:${title}`, [chart]],
    [`title: ${title} `, [chart]],
    [`title:"${title}"`, [chart]],
    [`tags:${tag}`, [chart]],
    ["title:Rows by harbour", [other]],
    // A quoted value may be followed by further words, as before.
    [`tags:"${tag}" harbour`, [chart]],
    ["title:Rows harbour", []],
    ["title:Rows AND by harbour", []],
  ])("may contain blanks: %s", async (input, urns) => {
    expect(await found(input, { entity: "chart" })).toEqual(urns);
  });
});

describe("positions", () => {
  const search = (headers: Record<string, string>) =>
    service.client.call(
      "POST",
      "/entities?action=search",
      { entity: "tag", input: "*", start: 0, count: 100 },
      headers,
    );

  test("a response has at least the requested position, and names its own", async () => {
    for (let i = 0; i < 20; i++) {
      const { position } = await service.client.upsert(`urn:li:tag:t${i}`, "tagProperties", {
        name: `t${i}`,
      });
      const reply = await search({ "X-Annals-Min-Position": String(position) });
      expect(reply.position).toBeGreaterThanOrEqual(Number(position));
      expect(reply.body.value.entities).toContain(`urn:li:tag:t${i}`);
    }
  });

  test.each([
    ["GET", `/entitiesV2/${encodeURIComponent(TIDES)}`, undefined],
    ["GET", `/aspects/${encodeURIComponent(TIDES)}?aspect=ownership&version=0`, undefined],
    [
      "GET",
      `/relationships?urn=${encodeURIComponent(TIDES)}&direction=OUTGOING&types=OwnedBy`,
      undefined,
    ],
    ["POST", "/entities?action=exists", { urn: TIDES }],
    ["POST", "/relationships?action=getLineage", { urn: TIDES, direction: "UPSTREAM" }],
    [
      "POST",
      "/aspects?action=getTimeseriesAspectValues",
      { urn: TIDES, entity: "dataset", aspect: "datasetProfile" },
    ],
  ])("every read has at least the requested position: %s %s", async (method, path, body) => {
    const { position } = await service.client.upsert("urn:li:tag:p", "tagProperties", {
      name: `at ${method} ${path}`,
    });
    const least = { "X-Annals-Min-Position": String(position) };
    const reply: Reply = await service.client.call(method, path, body, least);
    expect(reply.status).toBe(200);
    expect(reply.position).toBeGreaterThanOrEqual(Number(position));
  });

  test("without a requested position, most reads show the previous write", async () => {
    const urn = "urn:li:tag:moment";
    const finds = async (what: string) => {
      const body = { entity: "tag", input: `name:${what}`, start: 0, count: 0 };
      const reply = await service.client.call("POST", "/entities?action=search", body);
      return reply.body.value.numEntities;
    };
    // Waits without effect take longer on a busy machine.
    let late = 0;
    for (let i = 0; i < 20; i++) {
      await service.client.upsert(urn, "tagProperties", { name: `m${i}` });
      if ((await finds(`m${i}`)) !== 1) late++;
    }
    expect(late).toBeLessThan(10);
  });

  test("an invalid position is rejected", async () => {
    for (const value of ["-1", "x", "1.5", "1e3", "99999999999999999999"]) {
      expect(await search({ "X-Annals-Min-Position": value })).toMatchObject({
        status: 400,
        body: { code: "malformed", message: expect.stringContaining(`"${value}"`) },
      });
    }
  });
});

describe("hostile requests", () => {
  const search = (body: object) =>
    act("search", { entity: "dataset", input: "*", ...page, ...body });

  test.each([
    ...['"', '\\"', "'", "'; DROP TABLE documents; --", "%", "_", "\0", "a\0b", "\ud800", "\u2028"],
    ...[
      "*:*",
      "a AND",
      "AND OR NOT",
      "((((",
      "))))",
      'a:(( "x OR',
      "name:",
      "name:(",
      "tags:[",
      "tags:[a TO",
    ],
    ...[
      "NEAR(a b)",
      "{t}: a",
      "^a",
      "a^2",
      "a~",
      "(.*)+$",
      "[a-z]*",
      "__proto__:x",
      "constructor:y",
      "\\",
    ],
    ...[
      "urn:li:dataset:(((",
      "rows:>",
      "createdAt:[a TO b]",
      "😀".repeat(50),
      "é".repeat(100),
      "/q /q",
    ],
    ...[
      "(".repeat(5_000),
      '"'.repeat(5_000),
      "NOT ".repeat(200),
      "-".repeat(9_999),
      "a*".repeat(200),
      "a ".repeat(5_000),
    ],
    ...["(a OR ".repeat(90), "name:*a* ".repeat(100), "x".repeat(10_000), "東".repeat(1_000)],
  ])("are answered: %j", async (input) => {
    expect(await search({ input })).toMatchObject({ status: 200 });
    const typed = { entity: "dataset", query: input, limit: 5 };
    expect(await act("autocomplete", typed)).toMatchObject({ status: 200 });
    expect(await act("autocomplete", { ...typed, field: "name" })).toMatchObject({ status: 200 });
    const browse = { entity: "dataset", path: input, start: 0, limit: 5 };
    expect(await act("browse", browse)).toMatchObject({ status: 200 });
    const filter = { or: [{ and: [{ field: "name", condition: "CONTAIN", value: input }] }] };
    expect(await search({ filter })).toMatchObject({ status: 200 });
  });

  const criterion = (more: object) => ({
    filter: { or: [{ and: [{ field: "name", value: "x", ...more }] }] },
  });

  test.each<[object, number, unknown]>([
    [
      { input: "a".repeat(10_001) },
      400,
      "the query has 10001 characters; at most 10000 are allowed",
    ],
    [{ input: "-a ".repeat(101) }, 400, "more than 100 terms"],
    [{ entity: "starship" }, 422, 'unknown entity type "starship"'],
    [{ entity: "__proto__" }, 422, 'unknown entity type "__proto__"'],
    [{ start: -1 }, 400, "[from] parameter cannot be negative, found [-1]"],
    [{ count: -1 }, 400, "[size] parameter cannot be negative, found [-1]"],
    [{ start: 10_001 }, 400, "scrollAcrossEntities"],
    [{ start: 1e15 }, 400, "the maximum is 10000"],
    [{ start: "0" }, 400, "/start"],
    [{ input: 5 }, 400, "/input"],
    [{ input: null }, 400, "/input"],
    [{ filter: "x" }, 400, "/filter"],
    [{ filter: { and: [{ field: "name", value: "x" }] } }, 400, "is no part of a filter"],
    [{ filter: { or: [{ or: [{ field: "name" }] }] } }, 400, "is no part of a filter"],
    [criterion({ field: "warp" }), 400, 'no entity type has a searchable field "warp"'],
    [criterion({ field: "__proto__" }), 400, '"__proto__"'],
    [criterion({ field: "" }), 400, "is no part of a filter"],
    [criterion({ field: "x".repeat(501) }), 400, "501 characters; at most 500 are allowed"],
    [criterion({ condition: "NEARLY" }), 400, '"NEARLY" is not a condition'],
    [
      criterion({ field: "removed", value: "perhaps" }),
      400,
      '"perhaps" is not a value of the field "removed"',
    ],
    [
      { filter: { or: Array(1_001).fill({ and: [{ field: "name", value: "x" }] }) } },
      400,
      "1001 criteria",
    ],
    [{ sort: { field: "warp", order: "ASCENDING" } }, 400, '"warp"'],
    [{ sort: { field: "name", order: "SIDEWAYS" } }, 400, "SIDEWAYS"],
    [{ searchFlags: { maxAggValues: "many" } }, 400, "maxAggValues"],
  ])("are rejected: %j", async (body, status, message) => {
    expect(await search(body)).toMatchObject({
      status,
      body: { status, message: expect.stringContaining(String(message)) },
    });
  });

  test("may have a thousand filters", async () => {
    const or = Array.from({ length: 1_000 }, (_, i) => ({
      and: [{ field: ["name", "tags", "description", "customProperties"][i % 4], value: `v${i}` }],
    }));
    const moon = { and: [{ field: "name", value: "moon" }] };
    expect((await search({ filter: { or: [...or.slice(1), moon] } })).body.value.entities).toEqual([
      MOON,
    ]);
    const and = or.map(({ and: [one] }) => ({ ...one, negated: true }));
    const none = await search({ filter: { or: [{ and }] } });
    expect(none.body.value.numEntities).toBe(3);
  });

  test("may ask for slices, of which the first has every hit", async () => {
    const scrolled = (sliceOptions: unknown) =>
      act("scrollAcrossEntities", { input: "*", count: 5, searchFlags: { sliceOptions } });
    const totals = [0, 1].map(
      async (id) => (await scrolled({ id, max: 2 })).body.value.numEntities,
    );
    const [first, second] = await Promise.all(totals);
    expect(first).toBeGreaterThan(2);
    expect(second).toBe(0);
    for (const odd of [
      true,
      { id: -1, max: 2 },
      { id: 2, max: 2 },
      { id: 0 },
      { id: [], max: 1 },
    ]) {
      expect(await scrolled(odd)).toMatchObject({ status: 400, body: { code: "malformed" } });
    }
  });

  test("may have extreme page sizes", async () => {
    for (const count of [0, 1e15]) expect(await search({ count })).toMatchObject({ status: 200 });
    expect((await search({ count: 100_000 })).body.value.pageSize).toBe(5_000);
    expect(await act("search", { entity: "dataset", input: "*" })).toMatchObject({
      status: 400,
      body: { message: "Parameter 'start' is required" },
    });
    const bad = { input: "*", count: 5, scrollId: "x".repeat(100) };
    expect(await act("scrollAcrossEntities", bad)).toMatchObject({
      status: 400,
      body: { code: "malformed" },
    });
  });
});
