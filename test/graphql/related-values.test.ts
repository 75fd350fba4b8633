/** Values beside an entity's own aspects: executions of sources, changes of documents, edges of accounts. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { asActor, ask, ROOT } from "./graphql-client.ts";
import { ada, robot, stamp } from "./queries/sample.ts";

let service: RunningService;
let position = 0;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function put(urn: string, aspect: string, value: object): Promise<void> {
  const reply = await service.client.upsert(urn, aspect, value);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  position = reply.position ?? position;
}

async function data(query: string) {
  const headers = { ...asActor(ROOT), "X-Annals-Min-Position": String(position) };
  const { body } = await ask(service.client, query, {}, headers);
  expect(body.errors).toBeUndefined();
  return body.data;
}

test("an ingestion source has its owners, its kind and its latest successful execution", async () => {
  const source = "urn:li:dataHubIngestionSource:nightly";
  await put(source, "dataHubIngestionSourceInfo", {
    ...{ name: "Nightly", type: "hive", config: { recipe: "{}", executorId: "x" } },
    source: { type: "SYSTEM" },
  });
  await put(source, "ownership", {
    owners: [{ owner: ada, type: "TECHNICAL_OWNER" }],
    lastModified: stamp,
  });
  const statuses = ["SUCCESS", "SUCCESS", "FAILURE"];
  for (const [n, status] of statuses.entries()) {
    const request = `urn:li:dataHubExecutionRequest:run-${n}`;
    await put(request, "dataHubExecutionRequestInput", {
      ...{ task: "RUN_INGEST", args: {}, executorId: "x", requestedAt: n + 1 },
      source: { type: "MANUAL", ingestionSource: source },
    });
    await put(request, "dataHubExecutionRequestResult", { status, startTimeMs: n + 1 });
  }
  const { ingestionSource } = await data(`{ ingestionSource(urn: "${source}") {
    source { type } ownership { owners { owner { ... on CorpUser { urn } } associatedUrn } }
    latestSuccessfulExecution { id result { status startTimeMs } } } }`);
  expect(ingestionSource).toEqual({
    source: { type: "SYSTEM" },
    ownership: { owners: [{ owner: { urn: ada }, associatedUrn: source }] },
    latestSuccessfulExecution: { id: "run-1", result: { status: "SUCCESS", startTimeMs: 2 } },
  });
});

const info = (title: string, state: string, more: object = {}) => ({
  ...{ title, status: { state }, contents: { text: "how" } },
  ...{ created: stamp, lastModified: stamp, ...more },
});

test("the changes of a document have the values before and after", async () => {
  const document = "urn:li:document:guide";
  const parentDocument = { document: "urn:li:document:all" };
  await put(document, "documentInfo", info("Guide", "UNPUBLISHED"));
  await put(document, "documentInfo", info("Handbook", "PUBLISHED"));
  await put(document, "documentInfo", info("Handbook", "PUBLISHED", { parentDocument }));
  const { changeHistory } = (
    await data(
      `{ document(urn: "${document}") { changeHistory { changeType details { key value } } } }`,
    )
  ).document;
  const detailsOf = new Map(
    changeHistory.map(({ changeType, details }: { changeType: string; details: object }) => [
      ...[changeType, details],
    ]),
  );
  expect(Object.fromEntries(detailsOf)).toEqual({
    CREATED: [],
    TITLE_CHANGED: [
      { key: "oldTitle", value: "Guide" },
      { key: "newTitle", value: "Handbook" },
    ],
    STATE_CHANGED: [
      { key: "oldState", value: "UNPUBLISHED" },
      { key: "newState", value: "PUBLISHED" },
    ],
    PARENT_CHANGED: [{ key: "newParent", value: "urn:li:document:all" }],
  });
});

test("the newest changes of a document come first, however many there are", async () => {
  const document = "urn:li:document:log";
  const titles = Array.from({ length: 1_200 }, (_, n) => `Entry ${n}`);
  const proposals = titles.map((title) =>
    proposal(document, "documentInfo", info(title, "PUBLISHED")),
  );
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  position = reply.position ?? position;
  const { changeHistory } = (
    await data(`{ document(urn: "${document}") {
      changeHistory(limit: 2) { details { key value } } } }`)
  ).document;
  expect(changeHistory).toEqual(
    [1_199, 1_198].map((n) => ({
      details: [
        { key: "oldTitle", value: `Entry ${n - 1}` },
        { key: "newTitle", value: `Entry ${n}` },
      ],
    })),
  );
});

test("a service account has the relationships of its user", async () => {
  await put(robot, "corpUserInfo", { active: true, displayName: "Robot" });
  await put(robot, "subTypes", { typeNames: ["SERVICE_ACCOUNT"] });
  await put(robot, "groupMembership", { groups: ["urn:li:corpGroup:robots"] });
  const { getServiceAccount } = await data(`{ getServiceAccount(urn: "${robot}") {
    relationships(input: {types: ["IsMemberOfGroup"], direction: OUTGOING}) {
      total relationships { entity { urn } } } } }`);
  expect(getServiceAccount.relationships).toEqual({
    total: 1,
    relationships: [{ entity: { urn: "urn:li:corpGroup:robots" } }],
  });
});

test("a version of a dataset has the containers, applications, health and edges of the dataset", async () => {
  const table = "urn:li:dataset:(urn:li:dataPlatform:hive,table,PROD)";
  await put("urn:li:container:outer", "containerProperties", { name: "outer" });
  await put(table, "container", { container: "urn:li:container:outer" });
  await put(table, "applications", { applications: ["urn:li:application:web"] });
  const { versionedDataset } = await data(`{ versionedDataset(urn: "${table}") {
    parentContainers { count containers { urn } } applications { application { urn } }
    health { type status }
    relationships(input: {types: ["IsPartOf"], direction: OUTGOING}) { relationships { entity { urn } } } } }`);
  expect(versionedDataset).toEqual({
    parentContainers: { count: 1, containers: [{ urn: "urn:li:container:outer" }] },
    applications: [{ application: { urn: "urn:li:application:web" } }],
    health: [{ type: "INCIDENTS", status: "PASS" }],
    relationships: { relationships: [{ entity: { urn: "urn:li:container:outer" } }] },
  });
});

test("the flags of a lineage search bound its time, as its own arguments do", async () => {
  const [source, target] = ["raw", "clean"].map(
    (name) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`,
  );
  await put(source ?? "", "datasetProperties", { name: "raw" });
  await put(target ?? "", "upstreamLineage", {
    upstreams: [{ dataset: source, type: "COPY", auditStamp: stamp, created: stamp }],
  });
  const totalOf = async (window: string): Promise<number> => {
    const found = await data(`{ searchAcrossLineage(input:
      {urn: "${target}", direction: UPSTREAM, query: "*", ${window}}) { total } }`);
    return found.searchAcrossLineage.total;
  };
  const around = `startTimeMillis: ${stamp.time - 1}, endTimeMillis: ${stamp.time + 1}`;
  const before = `startTimeMillis: 1, endTimeMillis: ${stamp.time - 1}`;
  for (const [window, total] of [
    [around, 1],
    [before, 0],
  ] as const) {
    expect(await totalOf(window)).toBe(total);
    expect(await totalOf(`lineageFlags: {${window}}`)).toBe(total);
  }
});

test("relationships are limited to entities of some types", async () => {
  const owned = ["urn:li:tag:owned", "urn:li:container:owned"];
  for (const urn of owned) {
    const owners = [{ owner: ada, type: "DATAOWNER" }];
    await put(urn, "ownership", { owners, lastModified: stamp });
  }
  const ownedOf = async (types: string) => {
    const { corpUser } = await data(`{ corpUser(urn: "${ada}") { relationships(input: {
      types: ["OwnedBy"], direction: INCOMING, relatedEntityTypes: ${types}}) {
      count total relationships { entity { urn } } } } }`);
    const { relationships, ...numbers } = corpUser.relationships;
    const urns = relationships.map(({ entity }: { entity: { urn: string } }) => entity.urn);
    return { ...numbers, urns };
  };
  for (const type of ["tag", "TAG"]) {
    expect(await ownedOf(`["${type}"]`)).toEqual({ count: 1, total: 1, urns: [owned[0]] });
  }
  expect((await ownedOf("null")).urns).toEqual(expect.arrayContaining(owned));
});

test("an entity type without a type of its own has the properties of its aspect", async () => {
  const service = "urn:li:service:billing";
  await put(service, "serviceProperties", { displayName: "Billing", description: "bills" });
  const { entity } = await data(`{ entity(urn: "${service}") {
    ... on CatalogEntity { name properties { displayName description } } } }`);
  expect(entity.properties).toEqual({ displayName: "Billing", description: "bills" });
});
