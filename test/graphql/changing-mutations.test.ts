/** Mutations that change or delete what others create, and the check that a test runs every mutation. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rules } from "../../src/graphql/schema/root-fields.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { asActor, ROOT } from "./graphql-client.ts";
import { mutationsOf } from "./run-mutations.ts";

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,orders,PROD)";
const flow = "urn:li:dataFlow:(airflow,shop,PROD)";
const notebook = "urn:li:notebook:(querybook,1)";
const group = "urn:li:corpGroup:analysts";
const term = "urn:li:glossaryTerm:revenue";
const view = "urn:li:dataHubView:hive";
const stamp = { time: 1, actor: ROOT };

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
  const info = { displayName: "Analysts", admins: [], members: [], groups: [] };
  const written = [
    [dataset, "datasetProperties", { description: "orders" }],
    [flow, "dataFlowInfo", { name: "shop" }],
    [notebook, "notebookInfo", { title: "Notes", changeAuditStamps: {} }],
    [group, "corpGroupInfo", info],
    [term, "glossaryTermInfo", { definition: "income", termSource: "INTERNAL" }],
    [
      view,
      "dataHubViewInfo",
      {
        ...{ name: "Hive", type: "GLOBAL", created: stamp, lastModified: stamp },
        definition: { entityTypes: [], filter: { or: [] } },
      },
    ],
  ] as const;
  for (const [urn, aspect, value] of written) {
    const reply = await service.client.upsert(urn, aspect, value);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  }
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const { run, aspect } = mutationsOf(() => service.client, asActor(ROOT));

test("flows, notebooks and groups take new descriptions", async () => {
  const input = { editableProperties: { description: "edited" } };
  for (const [name, urn] of [
    ["updateDataFlow", flow],
    ["updateNotebook", notebook],
  ] as const) {
    const selected = "{ urn editableProperties { description } }";
    expect(await run(name, { urn, input }, selected)).toEqual({ urn, ...input });
  }
  const changed = { description: "of the shop", slack: "#analysts", email: "a@example.com" };
  expect(
    await run(
      "updateCorpGroupProperties",
      { urn: group, input: changed },
      "{ editableProperties { description slack email } }",
    ),
  ).toEqual({ editableProperties: changed });
});

test("a term is removed, and several entities are deprecated and restored", async () => {
  await run("addTerm", { input: { termUrn: term, resourceUrn: dataset } });
  expect((await aspect(dataset, "glossaryTerms")).terms).toMatchObject([{ urn: term }]);
  expect(await run("removeTerm", { input: { termUrn: term, resourceUrn: dataset } })).toBe(true);
  expect((await aspect(dataset, "glossaryTerms")).terms).toEqual([]);
  const resources = [dataset, flow].map((resourceUrn) => ({ resourceUrn }));
  for (const deprecated of [true, false]) {
    const input = { deprecated, note: "old", resources };
    expect(await run("batchUpdateDeprecation", { input })).toBe(true);
    for (const urn of [dataset, flow]) {
      expect(await aspect(urn, "deprecation")).toMatchObject({ deprecated });
    }
  }
});

test("default views of users and of service accounts are stored in their settings", async () => {
  expect(await run("updateCorpUserViewsSettings", { input: { defaultView: view } })).toBe(true);
  expect(await aspect(ROOT, "corpUserSettings")).toMatchObject({ views: { defaultView: view } });
  const { urn } = await run("createServiceAccount", { input: { displayName: "R" } }, "{ urn }");
  const input = { urn, defaultView: view };
  expect(await run("updateServiceAccountDefaultView", { input })).toBe(true);
  expect(await aspect(urn, "corpUserSettings")).toMatchObject({ views: { defaultView: view } });
});

test("posts, ownership types and tests are changed and deleted", async () => {
  const post = "urn:li:post:news";
  const content = { contentType: "TEXT", title: "News" };
  const stored = { type: "TEXT", title: "News" };
  await service.client.upsert(post, "postInfo", {
    ...{ type: "HOME_PAGE_ANNOUNCEMENT", content: stored, created: 1, lastModified: 1 },
  });
  const input = { urn: post, postType: "HOME_PAGE_ANNOUNCEMENT" };
  const changed = { ...input, content: { ...content, title: "Newer" } };
  expect(await run("updatePost", { input: changed })).toBe(true);
  expect(await aspect(post, "postInfo")).toMatchObject({ content: { title: "Newer" } });
  expect(await run("deletePost", { urn: post })).toBe(true);
  expect(await aspect(post, "postInfo")).toBeUndefined();

  const type = { name: "Steward", description: "cares" };
  const { urn } = await run("createOwnershipType", { input: type }, "{ urn }");
  const renamed = { urn, input: { name: "Keeper", description: "keeps" } };
  expect(await run("updateOwnershipType", renamed, "{ info { name description } }")).toEqual({
    info: renamed.input,
  });

  const definition = { name: "Owned", category: "G", definition: { json: "{}" } };
  const created = await run("createTest", { input: definition });
  const other = { urn: created, input: { ...definition, name: "Has an owner" } };
  expect(await run("updateTest", other)).toBe(created);
  expect(await aspect(created, "testInfo")).toMatchObject({ name: "Has an owner" });
  expect(await run("deleteTest", { urn: created })).toBe(true);
  expect(await aspect(created, "testInfo")).toBeUndefined();
});

test("secrets are deleted, and a test of a connection is a request without a source", async () => {
  const secret = await run("createSecret", { input: { name: "password", value: "s3cret" } });
  expect(await run("deleteSecret", { urn: secret })).toBe(secret);
  expect(await aspect(secret, "dataHubSecretValue")).toBeUndefined();
  const recipe = JSON.stringify({ source: { type: "hive", config: {} } });
  const request = await run("createTestConnectionRequest", { input: { recipe } });
  expect(await aspect(request, "dataHubExecutionRequestInput")).toMatchObject({
    task: "TEST_CONNECTION",
  });
});

test("every mutation is run by a test", () => {
  const folders = ["../graphql/", "../graphql/seen/", "../auth/"];
  const sources = folders.flatMap((folder) => {
    const directory = new URL(folder, import.meta.url);
    const names = readdirSync(directory).filter((name) => name.endsWith(".ts"));
    return names.map((name) => readFileSync(new URL(name, directory), "utf8"));
  });
  const text = sources.join("\n");
  const named = new Set(text.match(/\b[a-z][A-Za-z]+\b/g));
  expect(Object.keys(rules.Mutation).filter((name) => !named.has(name))).toEqual([]);
});
