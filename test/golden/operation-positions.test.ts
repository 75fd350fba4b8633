/** Operations that write say where the log holds it; those that only look say nothing. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { logHead } from "../support/log-head.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

let service: RunningService;
let operator: Operator;
beforeAll(async () => {
  service = await runningService();
  operator = operatorOf(service);
  for (const name of ["a", "b", "c"]) {
    const told = await service.client.upsert(`urn:li:tag:${name}`, "tagProperties", { name });
    expect(told.status).toBe(200);
  }
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const truncation = { entityType: "dataset", aspect: "datasetprofile", endTimeMillis: 1 };

test("a truncation: where its job is", async () => {
  const before = await logHead(service.client);
  const reply = await operator.act("truncateTimeseriesAspect", { ...truncation, dryRun: false });
  // A job is told to the stream of all jobs and to its own.
  expect(reply.position).toBe(before + 2);
  await operator.ended(reply.body.value);
});

test("a restoration that is over: where it ended", async () => {
  const before = await logHead(service.client);
  const reply = await operator.act("restoreIndices", { urn: "urn:li:tag:a" });
  expect(reply.body.value).toContain("completed=true");
  expect(reply.position).toBe(await logHead(service.client));
  expect(reply.position).toBeGreaterThan(before + 2);
});

test("a cancelled job: where it ended", async () => {
  const slow = { urnLike: "urn:li:tag:%", batchSize: 1, batchDelayMs: 60_000 };
  const restoring = operator.act("restoreIndices", slow, { "X-RestLi-Protocol-Version": "2.0.0" });
  const [{ id }] = await runningJobs();
  const reply = await operator.act("cancelJob", { id });
  expect(reply.body.value).toMatchObject({ id, state: "cancelled" });
  expect(reply.position).toBe(await logHead(service.client));
  expect((await restoring).status).toBe(503);
});

test("looking: nothing", async () => {
  const [{ id }] = await allJobs();
  const asked = [
    ["truncateTimeseriesAspect", truncation],
    ["getEsTaskStatus", { task: id }],
    ["listJobs", {}],
    ["getJob", { id }],
    ["getIndexSizes", {}],
  ] as const;
  for (const [action, body] of asked) {
    const { status, position } = await operator.act(action, body);
    expect({ status, position }, action).toEqual({ status: 200, position: undefined });
  }
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
