/**
 * Unreadable records in the log of a running service: the entity is parked, listed, retried and
 * dropped over HTTP.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { encoded } from "../support/client.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const broken = "urn:li:tag:sick";
const healthy = "urn:li:tag:well";
const views = ["aspects", "timeseries", "graph", "search"];

let service: RunningService;
let operator: Operator;

const write = (urn: string, name: string) => service.client.upsert(urn, "tagProperties", { name });

const nameOf = async (urn: string) => {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}`);
  return body.aspects.tagProperties?.value.name;
};

/** Appends a record of an unknown schema to the stream of an entity. */
async function appendUnreadable(urn: string): Promise<void> {
  const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
  const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
  await log.append([{ stream: entityStream(urn), expected: "any", records }]);
  await log.close();
}

beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  for (const urn of [broken, healthy]) expect((await write(urn, "first")).status).toBe(200);
});

afterAll(() => service[Symbol.asyncDispose]());

test("an unreadable record parks only its entity", async () => {
  operator = operatorOf(service);
  await service.restart(() => appendUnreadable(broken));
  expect((await write(healthy, "second")).status).toBe(200);
  expect(await nameOf(healthy)).toBe("second");
  expect(await nameOf(broken)).toBe("first");
  await expect.poll(async () => (await operator.value("listParked")).total).toBe(views.length);
  const { parked } = await operator.value("listParked", { view: "graph" });
  expect(parked).toEqual([
    {
      ...{ view: "graph", urn: broken, position: expect.any(Number), time: expect.any(Number) },
      reason: expect.stringContaining(`position ${parked[0].position}`),
      waiting: 0,
    },
  ]);
  expect((await service.client.get("/health")).status).toBe(200);
  // The projector reports its progress after the record of a parked entity is in the log.
  const metrics = async () => (await service.client.get("/metrics")).body;
  await expect.poll(metrics).toContain('annals_view_parked_entities{view="search"} 1');
});

test("a restore continues past a parked entity", async () => {
  for (const asked of [{ urn: broken }, { urnLike: "urn:li:tag:%", batchSize: 100 }]) {
    const restored = await operator.act("restoreIndices", asked);
    expect(restored).toMatchObject({ status: 200 });
  }
  expect(await nameOf(healthy)).toBe("second");
  expect((await operator.value("listParked")).total).toBe(views.length);
});

test("a write to a parked entity is rejected with the action to take, until the entity is dropped", async () => {
  const rejected = await write(broken, "second");
  expect(rejected.status).toBe(409);
  expect(rejected.body.message).toContain("parked in the aspect view");
  // A urn of any namespace names the same entity.
  const foreign = broken.replace("urn:li:", "urn:other:");
  const still = await operator.value("retryParked", { view: "aspects", urn: foreign });
  expect(still).toEqual({ parked: true, entity: expect.objectContaining({ view: "aspects" }) });
  for (const view of views) {
    expect(await operator.value("dropParked", { view, urn: broken })).toEqual({ parked: false });
  }
  expect(await operator.value("listParked")).toMatchObject({ total: 0, parked: [] });
  expect((await write(broken, "third")).status).toBe(200);
  expect(await nameOf(broken)).toBe("third");
  await service.restart();
  expect(await nameOf(broken)).toBe("third");
  expect((await write(broken, "fourth")).status).toBe(200);
  expect(await nameOf(broken)).toBe("fourth");
});

test("an entity that is not parked, or an unknown view, is rejected", async () => {
  operator = operatorOf(service);
  const unknown = await operator.act("retryParked", { view: "graph", urn: healthy });
  expect(unknown).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining(healthy) },
  });
  expect((await operator.act("listParked", { view: "cellar" })).status).toBe(422);
  expect((await operator.act("dropParked", { view: "graph" })).status).toBe(400);
  for (const action of ["retryParked", "dropParked"]) {
    for (const urn of ["nonsense", "", "urn:li:tag:\ud800", `urn:li:tag:${"x".repeat(600)}`]) {
      const reply = await operator.act(action, { view: "graph", urn });
      expect(reply).toMatchObject({ status: 400, body: { code: "malformed" } });
    }
  }
});

describe("a write that a view rejects", () => {
  const found = async (name: string): Promise<number> => {
    const asked = { entity: "tag", input: name, start: 0, count: 1 };
    const reply = await service.client.call("POST", "/entities?action=search", asked);
    return reply.status === 200 ? reply.body.value.numEntities : -1;
  };
  /** Makes the view reject rows of the table whose value contains the word. */
  function rejectRows(view: string, table: string, word: string): () => void {
    const database = new DatabaseSync(join(service.directory, `${view}.sqlite`), {
      timeout: 5_000,
    });
    database.exec(
      `CREATE TRIGGER poison BEFORE INSERT ON ${table} WHEN new.value LIKE '%${word}%' BEGIN SELECT RAISE(ABORT, 'poisoned'); END`,
    );
    return () => {
      database.exec("DROP TRIGGER poison");
      database.close();
    };
  }
  const parked = async (view: string) => (await operator.value("listParked", { view })).total;

  test("a rejected event does not delay the search view, before it is dropped or after", async () => {
    const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,rejected,PROD)";
    const profile = (rowCount: number) =>
      service.client.upsert(urn, "datasetProfile", {
        timestampMillis: 1_700_000_000_000 + rowCount,
        rowCount,
      });
    const accept = rejectRows("timeseries", "event", "666");
    await profile(666);
    await expect.poll(() => parked("timeseries")).toBe(1);
    await profile(5);
    await write("urn:li:tag:numbat", "numbat");
    await expect.poll(() => found("numbat")).toBe(1);
    accept();
    expect(await operator.value("dropParked", { view: "timeseries", urn })).toEqual({
      parked: false,
    });
    await write("urn:li:tag:quokka", "quokka");
    await expect.poll(() => found("quokka")).toBe(1);
  });

  test("a rejected aspect is found after the retry", async () => {
    const urn = "urn:li:tag:rejected";
    const accept = rejectRows("aspects", "aspect_value", "venom");
    await write(urn, "venomous");
    await expect.poll(() => parked("aspects")).toBe(1);
    await service.client.upsert(urn, "status", { removed: false });
    await write("urn:li:tag:wombat", "wombat");
    await expect.poll(() => found("wombat")).toBe(1);
    expect(await found("venomous")).toBe(0);
    accept();
    expect(await operator.value("retryParked", { view: "aspects", urn })).toEqual({
      parked: false,
    });
    expect(await found("venomous")).toBe(1);
    const id = await operator.value("verify", { full: true });
    await expect.poll(async () => (await operator.value("getJob", { id })).state).toBe("done");
    expect(await operator.value("listDifferences")).toMatchObject({ differences: [] });
  });
});
