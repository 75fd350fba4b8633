/** The operations at the OpenAPI endpoints, with the requests that DataHub's clients send. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type Operator, operatorOf, tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const search = "/openapi/operations/elasticSearch";
const urns = ["reef", "sand", "wave"].map((name) => `urn:li:tag:${name}`);
const [reef = "", sand = "", wave = ""] = urns;

let service: RunningService;
let operator: Operator;
beforeAll(async () => {
  service = await runningService();
  operator = operatorOf(service);
  const events = [1, 2, 3].map((timestampMillis) =>
    proposal("urn:li:dataset:(urn:li:dataPlatform:hive,reef,PROD)", "datasetProfile", {
      ...{ timestampMillis, rowCount: 7 },
    }),
  );
  const tags = urns.map((urn) => proposal(urn, "tagProperties", { name: urn.slice(11) }));
  const proposals = [...tags, ...events];
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(reply.status).toBe(200);
  // The search view follows the aspect view, so both cover the writes now.
  const headers = { "X-Annals-Min-Position": String(reply.position) };
  const asked = { input: "*", entity: "tag", start: 0, count: 0 };
  const found = await service.client.call("POST", "/entities?action=search", asked, headers);
  expect(found.body.value.numEntities).toBe(urns.length);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const get = (path: string) =>
  service.client.call("GET", path, undefined, tokenOf(service.directory));
const post = (path: string, body: unknown) =>
  service.client.call("POST", path, body as object, tokenOf(service.directory));

/** Deletes the values of an entity in the aspect view, bypassing the service. */
function loseValues(urn: string): void {
  const database = new DatabaseSync(join(service.directory, "aspects.sqlite"), { timeout: 5_000 });
  const ofEntity = "SELECT entity.id FROM entity JOIN entity_kind AS k ON k.id = kind";
  database
    .prepare(`DELETE FROM aspect_value WHERE entity = (${ofEntity} WHERE prefix || rest = ?)`)
    .run(urn);
  database.close();
}

const differing = async (): Promise<readonly string[]> => {
  const id = await operator.value("verify", { full: true });
  await operator.ended(id);
  const { differences } = await operator.value("listDifferences", { count: 100 });
  const urns: readonly string[] = differences.map(({ urn }: { urn: string }) => urn);
  return [...new Set(urns)].toSorted();
};

describe("restoreIndices", () => {
  test("restores a list of urns and reports each batch", async () => {
    for (const urn of urns) loseValues(urn);
    expect(await differing()).toEqual(urns);
    const { status, body, headers } = await post(`${search}/restoreIndices?batchSize=2`, [
      reef,
      wave,
      reef,
    ]);
    expect(status).toBe(200);
    const migrated = body.map(({ rowsMigrated }: { rowsMigrated: number }) => rowsMigrated);
    expect(migrated).toEqual([2, 2]);
    expect(body[1]).toMatchObject({
      ...{ ignored: 0, lastUrn: wave, lastAspect: "tagProperties", completed: true },
    });
    expect(Number(headers.get("x-annals-position"))).toBeGreaterThan(0);
    expect(await differing()).toEqual([sand]);
    const job = await operator.value("getJob", { id: body[0].taskId });
    expect(job).toMatchObject({ kind: "restore", state: "done", request: { urns: [reef, wave] } });
  });

  test("restores the rows that a pattern, a urn or an aspect selects", async () => {
    loseValues(reef);
    loseValues(sand);
    const { body } = await get(`${search}/restoreIndices?urnLike=urn:li:tag:r%25&limit=10`);
    expect(body).toMatchObject([{ rowsMigrated: 2, lastUrn: reef }]);
    expect(await differing()).toEqual([sand]);
    const of = `urn=${encodeURIComponent(sand)}&aspectName=tagProperties`;
    const one = await get(`${search}/restoreIndices?${of}`);
    expect(one.body).toMatchObject([{ rowsMigrated: 1, lastUrn: sand, completed: true }]);
    expect(await differing()).toEqual([]);
  });

  test.each([
    ["POST", "", {}, /must be a list/],
    ["POST", "", ["reef"], /reef/],
    ["POST", "", [7], /7/],
    ["POST", "?batchSize=0", ["urn:li:tag:reef"], /batchSize is 0/],
    ["GET", "?start=-1", undefined, /start is -1/],
    ["GET", "?limit=many", undefined, /limit/],
    ["GET", "?urn=reef", undefined, /reef/],
  ])("rejects %s %s", async (method, query, body, why) => {
    const path = `${search}/restoreIndices${query}`;
    const reply = await service.client.call(
      ...([method, path, body as object | undefined, tokenOf(service.directory)] as const),
    );
    expect(reply.status).toBe(400);
    expect(reply.body.message).toMatch(why);
  });

  test("accepts at most 1000 urns, and an empty list", async () => {
    const many = Array.from({ length: 1_001 }, (_, n) => `urn:li:tag:${n}`);
    const { status, body } = await post(`${search}/restoreIndices`, many);
    expect(status).toBe(413);
    expect(body.message).toMatch(/1000/);
    expect(await post(`${search}/restoreIndices`, [])).toMatchObject({ status: 200, body: [] });
  });

  test("requires a token", async () => {
    const { status } = await service.client.call("POST", `${search}/restoreIndices`, urns);
    expect(status).toBe(401);
    expect((await service.client.get(`${search}/restoreIndices`)).status).toBe(401);
    expect((await service.client.get(`${search}/getTaskStatus?task=a:1`)).status).toBe(401);
    expect((await service.client.get(`${search}/getIndexSizes`)).status).toBe(401);
  });
});

test("restoreIndices rejects a negative time", async () => {
  for (const name of ["gePitEpochMs", "lePitEpochMs"]) {
    const reply = await get(`${search}/restoreIndices?urn=${wave}&${name}=-1`);
    expect(reply).toMatchObject({
      status: 400,
      body: { message: `${name} is -1. Send 0 or more` },
    });
  }
});

test("restoreIndices reports no batch where no row matches", async () => {
  const none = "urn:li:dataset:(urn:li:dataPlatform:hive,no.such,PROD)";
  for (const asked of [{ urn: none }, { urn: wave, aspect: "ownership" }, { urnLike: "no%" }]) {
    expect(await operator.value("restoreIndices", asked)).toContain("), result=, taskId=");
  }
  const { status, body } = await get(`${search}/restoreIndices?urn=${encodeURIComponent(none)}`);
  expect([status, body]).toEqual([200, []]);
});

describe("getTaskStatus", () => {
  test("shows a job like getEsTaskStatus does", async () => {
    const task = await operator.value("verify", {});
    await operator.ended(task);
    const expected = JSON.parse(await operator.value("getEsTaskStatus", { task }));
    const { status, body } = await get(`${search}/getTaskStatus?task=${task}`);
    expect(status).toBe(200);
    expect(body).toEqual(expected);
  });

  test("an unknown job is answered with 404, an invalid id with 400", async () => {
    const unknown = await get(`${search}/getTaskStatus?task=nobody:7`);
    expect(unknown.status).toBe(404);
    expect(unknown.body.message).toContain("Could not get task status for nobody:7");
    expect((await get(`${search}/getTaskStatus?task=nobody`)).status).toBe(400);
    expect((await get(`${search}/getTaskStatus`)).status).toBe(400);
  });
});

test("getIndexSizes lists the same indices as getIndexSizes of /operations", async () => {
  const { indexSizes } = await operator.value("getIndexSizes");
  const { sizes } = (await get(`${search}/getIndexSizes`)).body;
  expect(sizes.length).toBeGreaterThan(0);
  const ids = (all: { indexName: string }[]) => all.map(({ indexName }) => indexName);
  expect(ids(sizes)).toEqual(ids(indexSizes));
  expect(
    sizes.find(({ aspectName }: { aspectName: string }) => aspectName === "datasetprofile"),
  ).toEqual({
    ...{ indexName: "dataset_datasetprofileaspect_v1", entityName: "dataset" },
    ...{ aspectName: "datasetprofile", sizeMb: expect.any(Number) },
  });
});

interface Offset {
  readonly offset: number;
  readonly lag: number;
}

describe("consumer offsets", () => {
  const offsets = async (kind: string, query = "?skipCache=true&detailed=true") =>
    (await service.client.get(`/openapi/operations/kafka/${kind}/consumer/offsets${query}`)).body;

  test("show the position of each view", async () => {
    const { position } = await service.client.upsert(reef, "tagProperties", { name: "Reef" });
    const groups = ["annals-aspects", "annals-graph", "annals-search"];
    const offsetOf = (groupOffsets: Record<string, object>, group: string) =>
      (groupOffsets[group] as { MetadataChangeLog_Versioned_v1: { partitions: { 0: Offset } } })
        .MetadataChangeLog_Versioned_v1.partitions[0];
    await expect
      .poll(async () => {
        const groupOffsets = await offsets("mcl");
        expect(Object.keys(groupOffsets).toSorted()).toEqual(groups);
        return groups.every((group) => offsetOf(groupOffsets, group).offset >= Number(position));
      })
      .toBe(true);
    // Nothing else is written, so the views reach the end of the log.
    await expect.poll(async () => offsetOf(await offsets("mcl"), "annals-aspects").lag).toBe(0);
    const { views } = await operator.value("getStatus");
    const groupOffsets = await offsets("mcl");
    const { offset, lag } = offsetOf(groupOffsets, "annals-aspects");
    expect(groupOffsets["annals-aspects"]).toEqual({
      MetadataChangeLog_Versioned_v1: {
        metrics: { maxLag: lag, medianLag: lag, totalLag: lag, avgLag: lag },
        partitions: { 0: { offset, lag } },
      },
    });
    expect(offset).toBeGreaterThanOrEqual(views.aspects.position);
    const events = await offsets("mcl-timeseries", "");
    const ofEvents = events["annals-timeseries"].MetadataChangeLog_Timeseries_v1;
    expect(Object.keys(ofEvents)).toEqual(["metrics"]);
  });

  test("of proposals are empty without Kafka", async () => {
    expect(await offsets("mcp")).toEqual({});
  });
});
