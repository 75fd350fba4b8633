/** Mutations on assets: whole entities, links, lineage, logical models, entity relationships, patches. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { mutationsOf, schemaOf } from "./run-mutations.ts";

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const [orders, lines, missing] = [dataset("orders"), dataset("lines"), dataset("missing")];
const [chart, dashboard] = ["urn:li:chart:(looker,c)", "urn:li:dashboard:(looker,d)"];
const job = "urn:li:dataJob:(urn:li:dataFlow:(airflow,f,PROD),j)";
const tag = "urn:li:tag:Gold";
const ada = "urn:li:corpuser:ada";
const column = (of: string, name: string) => `urn:li:schemaField:(${of},${name})`;

let service: RunningService;
const { run, codeOf, aspect } = mutationsOf(() => service.client);

beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
  const { client } = service;
  const stamps = { created: { time: 1, actor: ada }, lastModified: { time: 1, actor: ada } };
  await client.upsert(ada, "corpUserInfo", { active: true });
  await client.upsert(tag, "tagProperties", { name: "Gold" });
  await client.upsert(orders, "schemaMetadata", schemaOf("id", "price"));
  await client.upsert(lines, "schemaMetadata", schemaOf("id", "price"));
  await client.upsert(chart, "chartInfo", { title: "c", description: "", lastModified: stamps });
  await client.upsert(dashboard, "dashboardInfo", {
    ...{ title: "d", description: "", charts: [chart], lastModified: stamps },
  });
  await client.upsert(job, "dataJobInfo", { name: "j", type: { string: "SQL" } });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

describe("an update of an entity", () => {
  test("a tag without a urn is rejected", async () => {
    const input = { globalTags: { tags: [{ tag: { name: "Gold" } }] } };
    expect(await codeOf("updateDataset", { urn: orders, input }, "{ urn }")).toBe(400);
  });

  test("an update changes the aspects that it names, and keeps their other members", async () => {
    await service.client.upsert(orders, "editableDatasetProperties", { name: "Orders" });
    await service.client.upsert(orders, "editableSchemaMetadata", {
      editableSchemaFieldInfo: [{ fieldPath: "id", description: "the id" }],
    });
    const input = {
      ownership: { owners: [{ owner: ada, type: "DATA_STEWARD" }] },
      globalTags: { tags: [{ tag: { urn: tag, name: "Gold" } }] },
      editableProperties: { description: "all orders" },
      deprecation: { deprecated: true, note: "old" },
      institutionalMemory: { elements: [{ url: "https://a.example", author: ada }] },
      editableSchemaMetadata: {
        editableSchemaFieldInfo: [{ fieldPath: "price", description: "in cents" }],
      },
    };
    expect(await run("updateDataset", { urn: orders, input }, "{ urn }")).toEqual({ urn: orders });
    expect(await aspect(orders, "editableDatasetProperties")).toMatchObject({
      ...{ name: "Orders", description: "all orders" },
    });
    expect((await aspect(orders, "editableSchemaMetadata")).editableSchemaFieldInfo).toMatchObject([
      { fieldPath: "id", description: "the id" },
      { fieldPath: "price", description: "in cents" },
    ]);
    expect((await aspect(orders, "ownership")).owners).toMatchObject([{ owner: ada }]);
    expect((await aspect(orders, "globalTags")).tags).toMatchObject([{ tag }]);
    expect(await aspect(orders, "deprecation")).toMatchObject({ deprecated: true, note: "old" });
    expect((await aspect(orders, "institutionalMemory")).elements).toHaveLength(1);
    const described = { editableProperties: { description: "x" } };
    for (const [name, urn, aspectName] of [
      ["updateChart", chart, "editableChartProperties"],
      ["updateDashboard", dashboard, "editableDashboardProperties"],
      ["updateDataJob", job, "editableDataJobProperties"],
    ] as const) {
      await run(name, { urn, input: described }, "{ urn }");
      expect(await aspect(urn, aspectName)).toMatchObject({ description: "x" });
    }
  });

  test("a batch with a missing dataset, tag or column changes nothing", async () => {
    const update = { editableProperties: { description: "batch" } };
    const other = { editableSchemaMetadata: { editableSchemaFieldInfo: [{ fieldPath: "no" }] } };
    for (const [code, member] of [
      [404, { urn: missing, update }],
      [
        404,
        {
          urn: orders,
          update: { globalTags: { tags: [{ tag: { urn: "urn:li:tag:no", name: "" } }] } },
        },
      ],
      [400, { urn: orders, update: other }],
    ] as const) {
      const input = [{ urn: lines, update }, member];
      expect(await codeOf("updateDatasets", { input }, "{ urn }")).toBe(code);
    }
    expect(await aspect(lines, "editableDatasetProperties")).toBeUndefined();
    await run("updateDatasets", { input: [{ urn: lines, update }] }, "{ urn }");
    expect(await aspect(lines, "editableDatasetProperties")).toMatchObject({
      description: "batch",
    });
  });
});

test("members of one aspect are changed", async () => {
  await run("updateEmbed", { input: { urn: dashboard, renderUrl: "https://e.example" } });
  expect(await aspect(dashboard, "embed")).toEqual({ renderUrl: "https://e.example" });
  expect(await codeOf("updateEmbed", { input: { urn: missing, renderUrl: "x" } })).toBe(404);
  const domain = "urn:li:domain:sales";
  await service.client.upsert(domain, "domainProperties", { name: "Sales" });
  const icon = { iconLibrary: "MATERIAL", name: "Home", style: "Outlined" };
  await run("updateDisplayProperties", { urn: domain, input: { icon } });
  await run("updateDisplayProperties", { urn: domain, input: { colorHex: "#112233" } });
  expect(await aspect(domain, "displayProperties")).toEqual({ icon, colorHex: "#112233" });
  const template = "urn:li:dataHubPageTemplate:home_default_1";
  expect(
    await codeOf(
      "updateAssetSettings",
      { input: { urn: domain, summary: { template: `${template}no` } } },
      "{ __typename }",
    ),
  ).toBe(404);
});

test("a lifecycle stage must apply to the entity type and follow the current stage", async () => {
  const stage = (name: string) => `urn:li:lifecycleStageType:${name}`;
  const stamp = { time: 1, actor: ada };
  const info = { settings: {}, created: stamp, lastModified: stamp };
  await service.client.upsert(stage("draft"), "lifecycleStageTypeInfo", { ...info, name: "Draft" });
  await service.client.upsert(stage("live"), "lifecycleStageTypeInfo", {
    ...{ ...info, name: "Live", entityTypes: ["dataset"] },
    transitionPolicy: { allowedPreviousStages: [stage("draft")] },
  });
  const set = (urn: string, name: string | null) => ({
    ...{ urn, lifecycleStageUrn: name === null ? null : stage(name) },
  });
  await service.client.upsert(lines, "status", { removed: false });
  expect(await codeOf("setLifecycleStage", set(lines, "live"))).toBe(400);
  expect(await codeOf("setLifecycleStage", set(lines, "none"))).toBe(404);
  await run("setLifecycleStage", set(lines, "draft"));
  await run("setLifecycleStage", set(lines, "live"));
  expect(await aspect(lines, "status")).toMatchObject({
    ...{ removed: false, lifecycleStage: stage("live") },
  });
  expect(await codeOf("setLifecycleStage", set(chart, "live"))).toBe(400);
  await run("setLifecycleStage", set(lines, null));
  expect((await aspect(lines, "status")).lifecycleStage).toBeUndefined();
});

test("a link is the pair of its URL and its label", async () => {
  const link = { resourceUrn: chart, linkUrl: "https://a.example", label: "a" };
  await run("upsertLink", { input: link });
  await run("upsertLink", { input: { ...link, label: "b" } });
  await run("upsertLink", { input: { ...link, settings: { showInAssetPreview: true } } });
  const links = async () => (await aspect(chart, "institutionalMemory")).elements;
  expect(await links()).toMatchObject([
    { description: "a", settings: { showInAssetPreview: true } },
    { description: "b" },
  ]);
  const current = { ...link, currentUrl: "https://a.example", currentLabel: "a" };
  expect(await codeOf("updateLink", { input: { ...current, label: "b" } })).toBe(400);
  expect(await codeOf("updateLink", { input: { ...current, currentLabel: "c" } })).toBe(400);
  const hostile = { ...current, linkUrl: "javascript:alert(1)" };
  expect(await codeOf("updateLink", { input: hostile })).toBe(400);
  await run("updateLink", { input: { ...current, label: "c" } });
  expect((await links()).map((one: { description: string }) => one.description)).toEqual([
    "c",
    "b",
  ]);
});

describe("lineage", () => {
  const edges = (...pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([downstreamUrn, upstreamUrn]) => ({ downstreamUrn, upstreamUrn }));

  test("an edge is written on the end that holds it, once", async () => {
    const all = edges(
      [lines, orders],
      [lines, job],
      [chart, orders],
      [dashboard, chart],
      [job, orders],
    );
    for (const _ of [1, 2])
      await run("updateLineage", { input: { edgesToAdd: all, edgesToRemove: [] } });
    expect((await aspect(lines, "upstreamLineage")).upstreams).toMatchObject([
      { dataset: orders, type: "TRANSFORMED", properties: { source: "UI" } },
    ]);
    expect(await aspect(job, "dataJobInputOutput")).toMatchObject({
      outputDatasetEdges: [{ destinationUrn: lines }],
      inputDatasetEdges: [{ destinationUrn: orders }],
    });
    expect((await aspect(chart, "chartInfo")).inputEdges).toMatchObject([
      { destinationUrn: orders },
    ]);
    // The older list has this edge already.
    expect((await aspect(dashboard, "dashboardInfo")).chartEdges ?? []).toEqual([]);
    await run("updateLineage", { input: { edgesToAdd: [], edgesToRemove: all } });
    expect((await aspect(lines, "upstreamLineage")).upstreams).toEqual([]);
    expect(await aspect(dashboard, "dashboardInfo")).toMatchObject({ charts: [] });
  });

  test("an edge of another kind, or to a missing entity, rejects all edges", async () => {
    for (const [code, pair] of [
      [400, [lines, chart]],
      [404, [missing, orders]],
      [404, [lines, missing]],
    ] as const) {
      const input = { edgesToAdd: edges([lines, orders], pair), edgesToRemove: [] };
      expect(await codeOf("updateLineage", { input })).toBe(code);
    }
    expect((await aspect(lines, "upstreamLineage")).upstreams).toEqual([]);
  });
});

test("an entity relationship has one id for both directions", async () => {
  const properties = {
    ...{ name: "orders of lines", source: lines, destination: orders },
    relationshipFieldmappings: [
      { sourceField: "id", destinationField: "id" },
      { sourceField: "id", destinationField: "price" },
    ],
  };
  const { urn } = await run("createERModelRelationship", { input: { properties } }, "{ urn }");
  expect(await aspect(urn, "erModelRelationshipProperties")).toMatchObject({
    cardinality: "N_ONE",
  });
  const turned = { ...properties, source: orders, destination: lines };
  expect(
    await codeOf("createERModelRelationship", { input: { properties: turned } }, "{ urn }"),
  ).toBe(400);
  await run("updateERModelRelationship", {
    urn,
    input: { editableProperties: { description: "x" } },
  });
  expect(await aspect(urn, "editableERModelRelationshipProperties")).toMatchObject({
    description: "x",
  });
  expect(await run("deleteERModelRelationship", { urn })).toBe(true);
  expect(await codeOf("deleteERModelRelationship", { urn })).toBe(404);
});

test("a logical model links datasets and columns, and unlinks changed columns", async () => {
  const columns = [
    { fieldPath: "key", type: "NUMBER" },
    { fieldPath: "cost", type: "STRUCT" },
  ];
  const model = await run("createLogicalModel", { input: { name: "order", columns } });
  expect(model).toBe("urn:li:dataset:(urn:li:dataPlatform:logical,order,PROD)");
  expect(await codeOf("createLogicalModel", { input: { name: "order", columns } })).toBe(400);
  expect(await codeOf("createLogicalModel", { input: { name: "o", columns: [] } })).toBe(400);
  expect(
    await codeOf("createLogicalModel", { input: { name: "o", platform: "hive", columns } }),
  ).toBe(400);
  const link = (parentFieldPath: string, childFieldPath: string) => ({
    ...{ logicalParentUrn: model, childUrn: orders },
    columnMappings: [{ parentFieldPath, childFieldPath }],
  });
  expect(await codeOf("linkPhysicalChild", { input: link("key", "no") })).toBe(400);
  await run("linkPhysicalChild", { input: link("key", "id") });
  const parent = async (urn: string) =>
    (await aspect(urn, "logicalParent"))?.parent?.destinationUrn;
  expect(await parent(orders)).toBe(model);
  expect(await parent(column(orders, "id"))).toBe(column(model, "key"));
  const changed = [{ fieldPath: "key", type: "STRING" }];
  await run("updateLogicalModelSchema", { input: { urn: model, columns: changed } });
  expect(await parent(column(orders, "id"))).toBeUndefined();
  expect(await parent(orders)).toBeUndefined();
  await run("linkPhysicalChild", { input: link("key", "id") });
  await run("unlinkPhysicalChild", { input: { childUrn: orders } });
  expect([await parent(orders), await parent(column(orders, "id"))]).toEqual([
    undefined,
    undefined,
  ]);
  await run("setLogicalParent", { input: { resourceUrn: lines, parentUrn: model } });
  expect(await parent(lines)).toBe(model);
  await run("setLogicalParent", { input: { resourceUrn: lines, parentUrn: null } });
  expect(await parent(lines)).toBeUndefined();
});

test("a patch returns its error in its result, and patches of one request are one write", async () => {
  const result = "{ urn name success error }";
  const patch = (urn: string, aspectName: string, path: string, value: string) => ({
    ...{ urn, aspectName, patch: [{ op: "ADD", path, value }] },
  });
  const named = patch(orders, "datasetProperties", "/name", "Orders");
  expect(await run("patchEntity", { input: named }, result)).toEqual({
    ...{ urn: orders, name: "Orders", success: true, error: null },
  });
  const wrong = patch(lines, "datasetProperties", "/nme", "x");
  expect(await run("patchEntity", { input: wrong }, result)).toMatchObject({
    success: false,
    name: null,
  });
  const again = patch(orders, "datasetProperties", "/name", "Again");
  expect(await run("patchEntities", { input: [again, wrong] }, result)).toMatchObject([
    { success: false },
    { success: false },
  ]);
  expect(await aspect(orders, "datasetProperties")).toMatchObject({ name: "Orders" });
});
