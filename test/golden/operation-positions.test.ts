/**
 * Positions in the responses of operations: writes return the position of their records, reads of a
 * view return the position of the view, other reads return none.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { logHead } from "../support/log-head.ts";
import { type Operator, operatorOf, tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
let operator: Operator;
beforeAll(async () => {
  service = await runningService();
  operator = operatorOf(service);
  for (const name of ["a", "b", "c"]) {
    const reply = await service.client.upsert(`urn:li:tag:${name}`, "tagProperties", { name });
    expect(reply.status).toBe(200);
  }
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const truncation = { entityType: "dataset", aspect: "datasetprofile", endTimeMillis: 1 };

test("a truncation returns the position of its job", async () => {
  const before = await logHead(service.client);
  const reply = await operator.act("truncateTimeseriesAspect", { ...truncation, dryRun: false });
  // A job has a record in the stream of all jobs and one in its own.
  expect(reply.position).toBe(before + 2);
  await operator.ended(reply.body.value);
});

test("a completed restore returns the position of its end", async () => {
  const before = await logHead(service.client);
  const reply = await operator.act("restoreIndices", { urn: "urn:li:tag:a" });
  expect(reply.body.value).toContain("completed=true");
  expect(reply.position).toBe(await logHead(service.client));
  expect(reply.position).toBeGreaterThan(before + 2);
});

test("a cancelled job returns the position of its end", async () => {
  const slow = { urnLike: "urn:li:tag:%", batchSize: 1, batchDelayMs: 60_000 };
  const restoring = operator.act("restoreIndices", slow, { "X-RestLi-Protocol-Version": "2.0.0" });
  const [{ id }] = await runningJobs();
  const reply = await operator.act("cancelJob", { id });
  expect(reply.body.value).toMatchObject({ id, state: "cancelled" });
  expect(reply.position).toBe(await logHead(service.client));
  expect((await restoring).status).toBe(503);
});

test("a read of jobs or a dry run returns no position", async () => {
  const [{ id }] = await allJobs();
  const asked = [
    ["truncateTimeseriesAspect", truncation],
    ["getEsTaskStatus", { task: id }],
    ["listJobs", {}],
    ["getJob", { id }],
  ] as const;
  for (const [action, body] of asked) {
    const { status, position } = await operator.act(action, body);
    expect({ status, position }, action).toEqual({ status: 200, position: undefined });
  }
});

test("index sizes return the position of the view, and wait for the requested position", async () => {
  const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,sized,PROD)";
  const event = { timestampMillis: 1_772_409_600_000, rowCount: 1 };
  const written = (await service.client.upsert(dataset, "datasetProfile", event)).position;
  const open = "/openapi/operations/elasticSearch/getIndexSizes";
  const ask = (least: unknown) => {
    const headers = { ...tokenOf(service.directory), "X-Annals-Min-Position": String(least) };
    return Promise.all([
      operator.act("getIndexSizes", {}, headers),
      service.client.call("GET", open, undefined, headers),
    ]);
  };
  for (const reply of await ask(written)) {
    expect(reply.status).toBe(200);
    expect(reply.position).toBeGreaterThanOrEqual(written ?? 0);
  }
  for (const reply of await ask("soon")) {
    expect(reply).toMatchObject({ status: 400, body: { code: "malformed" } });
  }
  // A request for a later position waits for it.
  const waiting = ask((await logHead(service.client)) + 1);
  await service.client.upsert(dataset, "datasetProfile", { ...event, rowCount: 2 });
  for (const reply of await waiting) expect(reply.status).toBe(200);
});

const allJobs = async () => (await operator.value("listJobs")).jobs;

async function runningJobs() {
  for (;;) {
    const running = (await allJobs()).filter(
      ({ kind, state }: { kind: string; state: string }) =>
        kind === "restore" && state === "running",
    );
    if (running.length > 0) return running;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
