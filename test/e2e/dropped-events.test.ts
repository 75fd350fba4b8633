/**
 * A document of the search view tells of the latest events of timeseries. Where it cannot be made with
 * one of them, that one can be dropped: it is then made as if the event had never been.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Operator, operatorOf } from "../support/operator.ts";
import { dataset } from "../support/random-history.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const times = { sound: 1_772_409_600_000, sick: 1_772_409_612_345, later: 1_772_409_700_000 };
const sick = dataset("sick");
let service: RunningService;
let act: Operator;
beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  act = operatorOf(service);
});
afterAll(() => service[Symbol.asyncDispose]());

function execute(sql: string): void {
  const file = new DatabaseSync(join(service.directory, "search.sqlite"), { timeout: 5_000 });
  file.exec(sql);
  file.close();
}

const poison = () =>
  execute(`CREATE TRIGGER IF NOT EXISTS poison BEFORE INSERT ON document
    WHEN new.json LIKE '%${times.sick}%' BEGIN SELECT raise(ABORT, 'poisoned'); END`);
const described = (description: string) =>
  service.client.upsert(sick, "datasetProperties", { description, customProperties: {} });
const operated = (at: number) =>
  service.client.upsert(sick, "operation", {
    ...{ timestampMillis: at, lastUpdatedTimestamp: at, operationType: "INSERT" },
  });
const count = async () => (await act.value("listParked")).total;
const found = async (input: string, position?: number) => {
  const asked = { entity: "dataset", input, start: 0, count: 5 };
  const headers = { "X-Annals-Min-Position": String(position ?? 0) };
  const { body } = await service.client.call("POST", "/entities?action=search", asked, headers);
  return body.value.numEntities;
};
async function done(id: string): Promise<void> {
  for (;;) {
    const { state } = await act.value("getJob", { id });
    if (state !== "running") return expect(state).toBe("done");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const check = async () => {
  await done(await act.value("verify", { full: true }));
  expect((await act.value("listDifferences")).differences).toEqual([]);
};
const rebuild = async () => done(await act.value("rebuildViews", { views: ["search"] }));
const remove = (at: number) =>
  service.client.call("POST", "/entities?action=delete", {
    ...{ urn: sick, aspectName: "operation", startTimeMillis: at, endTimeMillis: at },
  });
const drop = () => act.value("dropParked", { view: "search", urn: sick });

test("the search view has what it had before, also where it is grown anew", async () => {
  await described("sound");
  const before = await operated(times.sound);
  expect(await found(`lastOperationTime:${times.sound}`, before.position)).toBe(1);
  poison();
  const event = await operated(times.sick);
  await expect.poll(count).toBe(1);
  // The view goes on, though nothing else is written.
  expect(await found("sound", event.position)).toBe(1);
  await described("healthy");
  await check();
  expect(await found("sound")).toBe(1);
  await rebuild();
  await check();
  expect(await found(`lastOperationTime:${times.sound}`)).toBe(1);
  expect(await count()).toBe(1);
}, 60_000);

test("that event is dropped, and nothing else", async () => {
  poison();
  expect(await drop()).toMatchObject({ parked: false });
  expect(await count()).toBe(0);
  expect(await found("healthy")).toBe(1);
  // The latest of those that are left.
  expect(await found(`lastOperationTime:${times.sound}`)).toBe(1);
  await check();
  const next = await described("well");
  expect(await found("well", next.position)).toBe(1);
  expect(await found(`lastOperationTime:${times.sound}`)).toBe(1);
  await check();
}, 60_000);

test("the events that others take are no more than before", async () => {
  const { body } = await service.client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
    ...{ urn: sick, entity: "dataset", aspect: "operation" },
  });
  expect(body.value.values).toHaveLength(2);
});

test("one that comes later is told, and one that is taken away shows the one before", async () => {
  poison();
  const later = await operated(times.later);
  expect(await found(`lastOperationTime:${times.later}`, later.position)).toBe(1);
  await check();
  await rebuild();
  poison();
  await check();
  expect(await count()).toBe(0);
  const taken = await remove(times.later);
  expect(await found(`lastOperationTime:${times.sound}`, taken.position)).toBe(1);
  expect(await count()).toBe(0);
  await check();
}, 60_000);

test("a truncation of what is left takes it from the document, too", async () => {
  const truncation = { entityType: "dataset", aspect: "operation", endTimeMillis: times.sick };
  await act.ended(await act.value("truncateTimeseriesAspect", { ...truncation, dryRun: false }));
  await expect.poll(() => found("lastOperationTime:*")).toBe(0);
  await check();
  await done(await act.value("rebuildViews"));
  await service.restart();
  await check();
  expect(await count()).toBe(0);
}, 60_000);

test("one that is seen once those after it are taken away is dropped, and not their taking away", async () => {
  await operated(times.later);
  const [one, other] = [times.later + 1_000, times.later + 2_000];
  await operated(other);
  const told = await operated(one);
  expect(await found(`lastOperationTime:${other}`, told.position)).toBe(1);
  execute(`CREATE TRIGGER poison BEFORE INSERT ON document WHEN new.json LIKE '%${one}%'
    BEGIN SELECT raise(ABORT, 'poisoned'); END`);
  await remove(other);
  await expect.poll(count).toBe(1);
  await check();
  expect(await found(`lastOperationTime:${other}`)).toBe(1);
  expect(await drop()).toMatchObject({ parked: false });
  expect(await found(`lastOperationTime:${times.later}`)).toBe(1);
  await check();
  await rebuild();
  await check();
  expect(await count()).toBe(0);
}, 60_000);

test("of two records that it cannot take one is dropped each time, and between it has what it had", async () => {
  const [sound, one] = [times.later + 3_000, times.later + 4_000];
  await operated(sound);
  const before = await described("before");
  expect(await found(`lastOperationTime:${sound}`, before.position)).toBe(1);
  execute(`CREATE TRIGGER poison BEFORE INSERT ON document
    WHEN new.json LIKE '%${one}%' OR new.json LIKE '%POISON%'
    BEGIN SELECT raise(ABORT, 'poisoned'); END`);
  await operated(one);
  await expect.poll(count).toBe(1);
  for (const text of ["between", "POISON", "after POISON"]) await described(text);
  await service.client.upsert(sick, "status", { removed: false });
  const more: number[] = [];
  for (let left = 1; left > 0; more.push(left)) {
    await drop();
    left = await count();
    await check();
    if (left > 0) expect(await found("before")).toBe(1);
    expect(more.length).toBeLessThan(5);
  }
  // Both descriptions, and the event.
  expect(more).toEqual([1, 1, 0]);
  expect(await found("between")).toBe(1);
  expect(await found(`lastOperationTime:${sound}`)).toBe(1);
}, 60_000);
