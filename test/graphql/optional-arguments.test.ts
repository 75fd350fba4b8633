/** Optional arguments of mutations and lists that change the result. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningService, runningService } from "../support/running-service.ts";
import { ask, faultOf, ROOT } from "./graphql-client.ts";
import { mutationsOf } from "./run-mutations.ts";

const orders = "urn:li:dataset:(urn:li:dataPlatform:hive,orders,PROD)";
const ada = "urn:li:corpuser:ada";
const technical = "urn:li:ownershipType:__system__technical_owner";

let service: RunningService;
const { run, codeOf, aspect } = mutationsOf(() => service.client);

async function listed(query: string) {
  const { body } = await ask(service.client, query);
  expect(body.errors).toBeUndefined();
  return body.data;
}

beforeAll(async () => {
  service = await runningService({ builtInEntities: "on" });
  await service.client.upsert(orders, "datasetProperties", { name: "orders" });
  await service.client.upsert(ada, "corpUserInfo", { active: true, displayName: "Ada" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

test("links have settings, and a link is the pair of its URL and its label", async () => {
  const link = (label: string, more: object = {}) => ({
    input: { linkUrl: "https://a.example", label, resourceUrn: orders, ...more },
  });
  await run("addLink", link("one", { settings: { showInAssetPreview: true } }));
  await run("addLink", link("two"));
  expect(await codeOf("addLink", link("two"))).toBe(400);
  const labels = async () =>
    (await aspect(orders, "institutionalMemory")).elements.map(
      ({ description, settings }: { description: string; settings?: object }) => [
        description,
        settings,
      ],
    );
  expect(await labels()).toEqual([
    ["one", { showInAssetPreview: true }],
    ["two", undefined],
  ]);
  await run("removeLink", link("one"));
  expect(await labels()).toEqual([["two", undefined]]);
  await run("removeLink", { input: { linkUrl: "https://a.example", resourceUrn: orders } });
  expect(await labels()).toEqual([]);
});

test("a domain belongs to the given owners, else to the caller", async () => {
  const ownersOf = async (id: string) =>
    (await aspect(`urn:li:domain:${id}`, "ownership")).owners.map(
      ({ owner, typeUrn }: { owner: string; typeUrn: string }) => [owner, typeUrn],
    );
  const owners = [{ ownerUrn: ada, ownershipTypeUrn: technical }];
  await run("createDomain", { input: { id: "given", name: "Given", owners } });
  await run("createDomain", { input: { id: "own", name: "Own" } });
  expect(await ownersOf("given")).toEqual([[ada, technical]]);
  expect(await ownersOf("own")).toEqual([[ROOT, technical]]);
  const nobody = [{ ownerUrn: "urn:li:corpuser:no", ownershipTypeUrn: technical }];
  const input = { id: "none", name: "None", owners: nobody };
  expect(await codeOf("createDomain", { input })).toBe(404);
});

test("a linked version has the time and the creator that its source states", async () => {
  const input = {
    ...{ versionSet: "urn:li:versionSet:(set,dataset)", linkedEntity: orders, version: "v1" },
    ...{ sourceTimestamp: 7, sourceCreator: ada },
  };
  await run("linkAssetVersion", { input }, "{ urn }");
  const { sourceCreatedTimestamp } = await aspect(orders, "versionProperties");
  expect(sourceCreatedTimestamp).toEqual({ time: 7, actor: ada });
});

test("ingestion sources keep their origin, and are sorted", async () => {
  const config = { recipe: "{}", executorId: "default" };
  for (const name of ["b", "a", "c"]) {
    const input = { name, type: "mysql", config, source: { type: "SYSTEM" } };
    await run("createIngestionSource", { input });
    const schedule = { interval: "5 4 * * *", timezone: "Mars" };
    expect(await codeOf("createIngestionSource", { input: { ...input, schedule } })).toBe(400);
  }
  const names = async (sortOrder: string) => {
    const sort = `sort: {field: "name", sortOrder: ${sortOrder}}`;
    const query = `{ listIngestionSources(input: {${sort}}) { ingestionSources { name source { type } } } }`;
    const { listIngestionSources } = await listed(query);
    return listIngestionSources.ingestionSources;
  };
  const sorted = ["a", "b", "c"].map((name) => ({ name, source: { type: "SYSTEM" } }));
  expect(await names("ASCENDING")).toEqual(sorted);
  expect(await names("DESCENDING")).toEqual(sorted.toReversed());
});

test("policies are filtered", async () => {
  const found = async (orFilters: string) => {
    const query = `{ listPolicies(input: {count: 1000, orFilters: ${orFilters}}) { policies { type } } }`;
    const { listPolicies } = await listed(query);
    return new Set(listPolicies.policies.map(({ type }: { type: string }) => type));
  };
  const platform = '{and: [{field: "type", values: ["PLATFORM"]}]}';
  const metadata = '{and: [{field: "type", values: ["METADATA"]}]}';
  expect(await found(`[${platform}]`)).toEqual(new Set(["PLATFORM"]));
  expect(await found(`[${platform}, ${metadata}]`)).toEqual(new Set(["PLATFORM", "METADATA"]));
});

test("deleting an ownership type keeps the references to it on request", async () => {
  const owned = async (deleteReferences?: boolean) => {
    const type = { name: "Steward", description: "" };
    const { urn } = await run("createOwnershipType", { input: type }, "{ urn }");
    const owner = { ownerUrn: ada, ownershipTypeUrn: urn, resourceUrn: orders };
    await run("addOwner", { input: { ...owner, ownerEntityType: "CORP_USER" } });
    await run("deleteOwnershipType", { urn, deleteReferences });
    const { owners } = await aspect(orders, "ownership");
    return owners.some(({ typeUrn }: { typeUrn?: string }) => typeUrn === urn);
  };
  expect(await owned(false)).toBe(true);
  expect(await owned(true)).toBe(false);
  expect(await owned()).toBe(false);
});

test("operations are counted by the days of a time zone", async () => {
  const timestampMillis = Date.parse("2026-03-28T23:30:00Z");
  const operation = { timestampMillis, lastUpdatedTimestamp: 1, operationType: "INSERT" };
  await service.client.upsert(orders, "operation", operation);
  const query = (options: string) =>
    `{ dataset(urn: "${orders}") { operationsStats(input: {range: ALL ${options}}) { buckets { bucket } } } }`;
  const days = async (options: string) => {
    const { dataset } = await listed(query(options));
    return dataset.operationsStats.buckets.map(({ bucket }: { bucket: number }) =>
      new Date(bucket).toISOString(),
    );
  };
  expect(await days("")).toEqual(["2026-03-28T00:00:00.000Z"]);
  expect(await days('timeZone: "Europe/Berlin"')).toEqual(["2026-03-28T23:00:00.000Z"]);
  expect(await days('timeZone: "GMT+1"')).toEqual([expect.stringContaining("T23:00:00.000Z")]);
  const usage = `{ dataset(urn: "${orders}") { usageStats(timeZone: "Mars") { aggregations { totalSqlQueries } } } }`;
  expect(faultOf(await ask(service.client, usage))?.message).toContain('timeZone is "Mars"');
  const unknown = await ask(service.client, query('timeZone: "Mars"'));
  expect(faultOf(unknown)?.extensions.code).toBe(400);
});
