/** Built-in entities are written once, are found like other entities, and belong to the users afterwards. */
import { describe, expect, test } from "vitest";
import { openService } from "../../src/app/service.ts";
import {
  type BuiltInEntity,
  readBuiltInEntities,
  writeBuiltInEntities,
} from "../../src/catalog/access/built-in-entities.ts";
import { readConfig } from "../../src/config/config.ts";
import { CatalogError } from "../../src/core/errors.ts";
import { position } from "../../src/core/position.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { builtInEntities } from "../support/built-ins.ts";
import { type Client, createClient, encoded } from "../support/client.ts";
import { startEventStoreServer } from "../support/eventstoredb-server/server.ts";
import { logHead } from "../support/log-head.ts";
import { runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const on = { builtInEntities: "on" };
const HIVE = "urn:li:dataPlatform:hive";
const KAFKA = "urn:li:dataPlatform:kafka";
const ofType = (type: string) => builtInEntities.filter(({ entityType }) => entityType === type);

async function count(client: Client, entity: string): Promise<number> {
  const body = { entity };
  return (await client.call("POST", "/entities?action=getTotalEntityCount", body)).body.value;
}
async function infoOf(client: Client, urn: string) {
  const { body } = await client.get(`/entitiesV2/${encoded(urn)}`);
  return body.aspects.dataPlatformInfo?.value;
}
async function eventStore() {
  const server = await startEventStoreServer();
  return { address: server.address, [Symbol.asyncDispose]: () => server.stop() };
}

test("the built-in entities are DataHub's platforms, types, roles, policies, home page and root user", () => {
  const counts = Map.groupBy(builtInEntities, ({ entityType }) => entityType);
  const fixed = [...counts].map(([type, all]) => [type, all.length]);
  expect(fixed.filter(([type]) => type !== "entityType")).toEqual([
    ["dataPlatform", 116],
    ["dataType", 5],
    ["ownershipType", 4],
    ["corpuser", 1],
    ["dataHubRole", 3],
    ["dataHubPolicy", 16],
    ["dataHubPageModule", 10],
    ["dataHubPageTemplate", 1],
    ["globalSettings", 1],
  ]);
  const infoValue = (urn: string) => builtInEntities.find((one) => one.urn === urn)?.value;
  expect(infoValue(HIVE)).toEqual({
    ...{ name: "hive", displayName: "Hive", type: "FILE_SYSTEM", datasetNameDelimiter: "." },
  });
  expect(infoValue("urn:li:dataPlatform:s3")).toMatchObject({ datasetNameDelimiter: "/" });
  expect(infoValue("urn:li:dataType:datahub.string")).toMatchObject({
    ...{ qualifiedName: "datahub.string", displayName: "String" },
  });
  expect(infoValue("urn:li:entityType:datahub.dataset")).toEqual({
    ...{ qualifiedName: "datahub.dataset", displayName: "dataset" },
  });
  expect(infoValue("urn:li:ownershipType:__system__technical_owner")).toMatchObject({
    name: "Technical Owner",
  });
});

test("built-in entities have urns of the service's namespace, inside their values too", () => {
  const types = ["dataHubPolicy", "dataHubRole", "corpuser"];
  const entities = new Map(
    types.map((name) => [name, { aspects: [`${name}Info`, "corpUserInfo"] }]),
  ) as never;
  const own = readBuiltInEntities({ entities }, "acme", { time: 1, actor: "" });
  expect(own.map(({ urn }) => urn)).toContain("urn:acme:dataHubPolicy:0");
  expect(JSON.stringify(own)).toContain('"urn:acme:corpuser:datahub"');
  expect(JSON.stringify(own)).not.toContain("urn:li:");
});

test("entity types that the model lacks have no built-in entities", () => {
  expect(readBuiltInEntities({ entities: new Map() }, "li", { time: 1, actor: "" })).toEqual([]);
});

describe("a new catalog", () => {
  test("built-in entities are counted, listed, searched and read, and nothing else exists", async () => {
    await using service = await runningService(on);
    const { client } = service;
    for (const type of new Set(builtInEntities.map(({ entityType }) => entityType))) {
      expect([type, await count(client, type)]).toEqual([type, ofType(type).length]);
    }
    const listed = await client.call("POST", "/entities?action=listUrns", {
      ...{ entity: "ownershipType", start: 0, count: 10 },
    });
    expect(listed.body.value.entities).toEqual(
      ofType("ownershipType")
        .map(({ urn }) => urn)
        .sort(),
    );
    expect(await infoOf(client, HIVE)).toMatchObject({ displayName: "Hive" });

    const found = await client.call(
      "POST",
      "/entities?action=search",
      { entity: "dataPlatform", input: "hive", start: 0, count: 10 },
      { "X-Annals-Min-Position": String(await logHead(client)) },
    );
    expect(found.body.value.entities).toContain(HIVE);

    const { body } = await client.get("/changes?limit=1000");
    const urns = new Set(body.changes.map(({ entityUrn }: { entityUrn: string }) => entityUrn));
    expect(urns).toEqual(new Set(builtInEntities.map(({ urn }) => urn)));
  });

  test("the system actor is the author of the built-in entities", async () => {
    await using service = await runningService(on);
    const { body } = await service.client.get(`/entitiesV2/${encoded(HIVE)}`);
    expect(body.aspects.dataPlatformInfo.created.actor).toBe("urn:li:corpuser:__datahub_system");
  });
});

describe("a later start", () => {
  test("a later start writes nothing, and keeps the changes and deletions of users", async () => {
    await using service = await runningService(on);
    const own = {
      name: "hive",
      displayName: "Our Hive",
      type: "OTHERS",
      datasetNameDelimiter: "/",
    };
    expect((await service.client.upsert(HIVE, "dataPlatformInfo", own)).status).toBe(200);
    await service.client.call("POST", "/entities?action=delete", { urn: KAFKA });
    const before = await logHead(service.client);
    await service.restart();
    expect(await logHead(service.client)).toBe(before);
    expect(await infoOf(service.client, HIVE)).toEqual(own);
    expect(await infoOf(service.client, KAFKA)).toBeUndefined();
    expect(await count(service.client, "dataPlatform")).toBe(115);
  });
});

test("an older data directory gets the missing built-in entities, and keeps its own", async () => {
  using directory = temporaryDirectory();
  const open = (builtInEntities: string) =>
    openService(
      readConfig({ port: "0", data: directory.path, logLevel: "warn", builtInEntities }, {}),
      { logger: createLogger("warn") },
    );
  const own = { name: "hive", displayName: "Ours", type: "OTHERS", datasetNameDelimiter: "/" };
  const before = await open("off");
  await createClient(before.address()).upsert(HIVE, "dataPlatformInfo", own);
  await before.close();
  const after = await open("on");
  const client = createClient(after.address());
  expect(await infoOf(client, HIVE)).toEqual(own);
  expect(await count(client, "dataPlatform")).toBe(116);
  await after.close();
});

test("a node that does not serve the API writes no built-in entities", async () => {
  await using service = await runningService({ ...on, roles: "projector" });
  expect(await logHead(service.client)).toBe(0);
});

describe("nodes that start at the same time", () => {
  const one: BuiltInEntity = {
    ...{ urn: HIVE, entityType: "dataPlatform", aspect: "dataPlatformInfo", value: {} },
  };
  const two = { ...one, urn: KAFKA };
  const record = [{} as never];

  test("each built-in entity is created once", async () => {
    await using log = await eventStore();
    const nodes = await Promise.all([0, 1].map(() => runningService({ ...on, log: log.address })));
    const path = `/aspects/${encoded(HIVE)}?aspect=dataPlatformInfo&version=`;
    for (const { client } of nodes) {
      const counted = () => count(client, "dataPlatform");
      await expect.poll(counted, { timeout: 100_000 }).toBe(116);
      expect((await client.get(`${path}1`)).status).toBe(200);
      expect((await client.get(`${path}2`)).status).toBe(404);
    }
    for (const node of nodes) await node[Symbol.asyncDispose]();
  });

  test("a node that loses the first entity leaves the others to the winner", async () => {
    const asked: unknown[] = [];
    const done = await writeBuiltInEntities([one, two], {
      log: { readStream: async () => [] },
      catalog: {
        async ingest(proposals) {
          asked.push(proposals.map(({ entityUrn }) => entityUrn));
          throw new CatalogError("invalid", "exists");
        },
      },
    });
    expect(done).toBe(0);
    expect(asked).toEqual([[HIVE]]);
  });

  test("an entity that the log has a stream of is not written again", async () => {
    const asked: unknown[] = [];
    const done = await writeBuiltInEntities([one, two], {
      log: { readStream: async (stream) => (stream.includes(HIVE) ? record : []) },
      catalog: {
        async ingest(proposals) {
          asked.push(...proposals);
          return { position: position(1), changed: [] };
        },
      },
    });
    expect(done).toBe(1);
    expect(asked).toEqual([expect.objectContaining({ entityUrn: KAFKA, changeType: "CREATE" })]);
  });

  test("a log that takes no writes rejects them at once", async () => {
    let asked = 0;
    const rejected = writeBuiltInEntities([one], {
      log: { readStream: async () => [] },
      catalog: {
        async ingest() {
          asked++;
          throw new CatalogError("unavailable", "the disk is full");
        },
      },
    });
    await expect(rejected).rejects.toThrow("the disk is full");
    expect(asked).toBe(1);
  });
});
