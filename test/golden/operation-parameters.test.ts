/** Invalid parameters of operations: each is rejected with its name, and nothing is done. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditRoutes } from "../../src/http/routes/operations/audit.ts";
import { operationRoutes } from "../../src/http/routes/operations/operations.ts";
import { statusRoutes } from "../../src/http/routes/operations/status.ts";
import { proposal } from "../support/client.ts";
import { type Operator, operatorOf, tokenOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const datahub = { "X-RestLi-Protocol-Version": "2.0.0" };
const tag = "urn:li:tag:kelp";

let service: RunningService;
let operator: Operator;
beforeAll(async () => {
  service = await runningService();
  operator = operatorOf(service);
  await service.client.upsert(tag, "tagProperties", { name: "kelp" });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const jobsTotal = async () => (await operator.value("listJobs", { count: 0 })).total;

describe("an unknown parameter", () => {
  const truncation = { entityType: "dataset", aspect: "datasetprofile", endTimeMillis: 1 };

  test.each([
    ["restoreIndices", { urnlike: "urn:li:tag:%" }, 'Did you mean "urnLike"?'],
    ["restoreIndices", { cellar: 1 }, "It takes urn, urnLike, aspect, "],
    ["truncateTimeseriesAspect", { ...truncation, dryrun: false }, 'Did you mean "dryRun"?'],
    ["getEsTaskStatus", { task: "a:1", force: true }, "It takes task, nodeId, taskId"],
    ["getIndexSizes", { aspect: "operation" }, "It takes none"],
    ["scavengeLog", { dryrun: false }, 'Did you mean "dryRun"?'],
    ["rebuildViews", { view: ["search"] }, 'Did you mean "views"?'],
    ["verify", { view: ["search"] }, 'Did you mean "views"?'],
    ["listDifferences", { views: "search" }, 'Did you mean "view"?'],
    ["listParked", { urn: tag }, "It takes view, start, count"],
    ["retryParked", { view: "search", urn: tag, force: true }, "It takes view, urn"],
    ["dropParked", { view: "search", urn: tag, force: true }, "It takes view, urn"],
    ["getStatus", { a: 1 }, "It takes none"],
    ["listJobs", { state: "running" }, 'Did you mean "start"?'],
    ["getJob", { id: "a:1", job: "a:1" }, "It takes id"],
    ["cancelJob", { id: "a:1", job: "a:1" }, "It takes id"],
    ["listAuditEvents", { actors: "urn:li:corpuser:ann" }, 'Did you mean "actor"'],
  ])("is rejected by %s: %j", async (action, body, hint) => {
    const before = await jobsTotal();
    expect(await operator.act(action, body)).toMatchObject({
      status: 400,
      body: {
        code: "malformed",
        message: expect.stringMatching(/:: unrecognized field found but not allowed'\. /),
      },
    });
    const { message } = (await operator.act(action, body)).body;
    expect(message).toContain(`Parameters of method '${action}' failed validation`);
    expect(message).toContain(hint);
    expect(await jobsTotal()).toBe(before);
  });

  test("is rejected by every operation", async () => {
    const actions = [...operationRoutes, ...auditRoutes, ...statusRoutes].filter(
      ({ kind }) => kind === "action",
    );
    for (const { name, body } of actions) {
      const required = body?.type === "object" ? (body.required ?? []) : [];
      const given = required.map((one) => [one, one.endsWith("Millis") ? 1 : "x"]);
      const reply = await operator.act(name, { ...Object.fromEntries(given), __nobody__: 1 });
      expect(reply.body.message, name).toContain("/__nobody__ :: unrecognized field");
    }
  });

  test.each([
    ["/entities?action=delete", { urn: tag, dryrun: true }],
    ["/entities?action=deleteReferences", { urn: tag, dryrun: true }],
    ["/entities?action=deleteAll", { registryId: "a:1", dryrun: true }],
    ["/runs?action=rollback", { runId: "kelp-run", dryrun: true }],
  ])("is rejected by %s instead of changing data", async (path, body) => {
    const headers = tokenOf(service.directory);
    const rejected = await service.client.call("POST", path, body, headers);
    expect(rejected).toMatchObject({ status: 400, body: { code: "malformed" } });
    expect(rejected.body.message).toContain('Did you mean "dryRun"?');
    const read = await service.client.get(`/entitiesV2/${encodeURIComponent(tag)}`);
    expect(read.body.aspects).toHaveProperty("tagProperties");
    // DataHub clients expect that unknown parameters are ignored.
    const more = { ...body, dryRun: true };
    const taken = await service.client.call("POST", path, more, { ...headers, ...datahub });
    expect(taken.status).toBe(200);
  });

  test("of a DataHub client is ignored by the operations that DataHub has", async () => {
    const body = { urn: tag, threads: 4 };
    const result = await operator.value("restoreIndices", body, datahub);
    expect(result).toContain("rowsMigrated=2,");
    const { jobs } = await operator.value("listJobs", { count: 1 });
    expect(jobs[0].request).not.toHaveProperty("threads");
    const own = await operator.act("rebuildViews", { view: ["search"] }, datahub);
    expect(own).toMatchObject({ status: 400, body: { code: "malformed" } });
  });
});

describe("a parameter that is too long", () => {
  test.each([
    ["restoreIndices", { urnLike: "%x".repeat(10_000) }, "urnLike has 20000 characters"],
    ["restoreIndices", { urn: tag, lastUrn: "x".repeat(20_000) }, "lastUrn has 20000 characters"],
    ["restoreIndices", { urn: tag, lastAspect: "x".repeat(20_000) }, "lastAspect has 20000"],
  ])("is rejected by %s, and no job is created", async (action, body, message) => {
    const before = await jobsTotal();
    expect(await operator.act(action, body)).toMatchObject({
      ...{ status: 413, body: { code: "too_large" } },
    });
    expect((await operator.act(action, body)).body.message).toContain(message);
    expect(await jobsTotal()).toBe(before);
  });

  test("a repeated name is stored once in the job", async () => {
    const aspectNames = Array.from({ length: 5_000 }, () => "tagProperties");
    await operator.value("restoreIndices", { urn: tag, aspectNames });
    const { jobs } = await operator.value("listJobs", { count: 1 });
    expect(jobs[0].request.aspectNames).toEqual(["tagProperties"]);
    const ended = await operator.value("verify", {
      views: Array.from({ length: 5_000 }, () => "graph"),
      urns: [tag, tag],
    });
    await operator.ended(ended);
    const [job] = (await operator.value("listJobs", { count: 1 })).jobs;
    expect(job.request).toEqual({ views: ["graph"] });
  });
});

describe("verify", () => {
  test.each([
    [{ urns: [tag, "nonsense"] }, 400, "malformed", '"nonsense" is not a urn'],
    [{ urns: [`urn:li:tag:${"x".repeat(600)}`] }, 400, "malformed", "bytes"],
  ])("rejects %j", async (body, status, code, message) => {
    const before = await jobsTotal();
    const reply = await operator.act("verify", body);
    expect(reply).toMatchObject({ status, body: { code } });
    expect(reply.body.message).toContain(message);
    expect(await jobsTotal()).toBe(before);
  });

  test("accepts and ignores full, quick and urns", async () => {
    const urns = ["urn:other:tag:kelp"];
    const id = await operator.value("verify", { full: true, quick: true, urns });
    expect(await operator.ended(id)).toMatchObject({ completed: true });
    expect((await operator.value("getJob", { id })).request).toEqual({ views: [] });
  });
});

test.each([
  ["restoreIndices", { start: -1 }, "-1 is below 0'. Send 0 or more"],
  ["restoreIndices", { batchSize: 0 }, "0 is below 1'. Send 1 or more"],
  ["restoreIndices", { batchDelayMs: 60_001 }, "60001 is above 60000'. Send 60000 or less"],
  ["listJobs", { count: 1e300 }, "Send 9007199254740991 or less"],
  ["listJobs", '{"count":9007199254740993}', "a number near 9007199254740992 is above"],
  ["listJobs", '{"count":1e999}', "Infinity cannot be coerced to Long"],
])("%s answers %j with the allowed range", async (action, body, message) => {
  const reply = await operator.act(action, body);
  expect(reply).toMatchObject({ status: 400, body: { code: "malformed" } });
  expect(reply.body.message).toContain(message);
});

describe("restoreIndices", () => {
  const series = "urn:li:dataset:(urn:li:dataPlatform:hive,kelp.beds,PROD)";

  test("creates missing default aspects on request", async () => {
    const proposals = [proposal(series, "status", { removed: false })];
    await service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
    const aspects = async () =>
      Object.keys(
        (await service.client.get(`/entitiesV2/${encodeURIComponent(series)}`)).body.aspects,
      );
    const before = await aspects();
    expect(before).toContain("browsePathsV2");
    const remove = (aspectName: string) =>
      service.client.call("POST", "/aspects?action=ingestProposal", {
        proposal: {
          ...proposal(series, aspectName, {}),
          changeType: "DELETE",
          aspect: undefined,
        },
      });
    for (const name of ["browsePathsV2", "browsePaths"]) {
      expect((await remove(name)).status).toBe(200);
    }
    expect(await operator.value("restoreIndices", { urn: series })).toContain(
      "defaultAspectsCreated=0,",
    );
    expect(await aspects()).not.toContain("browsePathsV2");
    const body = { urn: series, createDefaultAspects: true };
    const result = await operator.value("restoreIndices", body);
    expect(result).toContain("defaultAspectsCreated=2,");
    expect((await aspects()).sort()).toEqual(before.toSorted());
    const task = /taskId=([^,]+),/.exec(result)?.[1] ?? "";
    expect(await operator.ended(task)).toMatchObject({ status: { created: 2 } });
    // The search view has them at the same position.
    const found = await operator.value("verify", { full: true });
    await operator.ended(found);
    expect((await operator.value("listDifferences")).total).toBe(0);
    // No default aspect is missing now, and an entity without records gets none.
    expect(await operator.value("restoreIndices", body)).toContain("defaultAspectsCreated=0,");
    const nobody = "urn:li:dataset:(urn:li:dataPlatform:hive,nobody,PROD)";
    await operator.value("restoreIndices", { urn: nobody, createDefaultAspects: true });
    expect(
      (await service.client.get(`/entitiesV2/${encodeURIComponent(nobody)}`)).body.aspects,
    ).not.toHaveProperty("browsePathsV2");
  });

  test("creates no default aspects for a deleted entity", async () => {
    const gone = "urn:li:dataset:(urn:li:dataPlatform:hive,kelp.gone,PROD)";
    await service.client.upsert(gone, "status", { removed: false });
    await service.client.call("POST", "/entities?action=delete", { urn: gone });
    await operator.value("restoreIndices", { urnLike: "%kelp.gone%", createDefaultAspects: true });
    await operator.value("restoreIndices", { urn: gone, createDefaultAspects: true });
    const exists = await service.client.get(`/entities/${encodeURIComponent(gone)}/exists`);
    const { body } = await service.client.get(`/entitiesV2/${encodeURIComponent(gone)}`);
    expect(Object.keys(body.aspects), JSON.stringify(exists.body)).toEqual(["datasetKey"]);
  });

  describe("while it runs", () => {
    const slow = { urnLike: "urn:li:tag:slow%", batchSize: 1, batchDelayMs: 60_000 };
    beforeAll(async () => {
      for (let n = 0; n < 5; n++) await service.client.upsert(`urn:li:tag:slow${n}`, "status", {});
    });

    /** The newest job, once it has restored an entity. */
    async function underWay() {
      const newest = async () => (await operator.value("listJobs", { count: 1 })).jobs[0];
      await expect.poll(newest).toMatchObject({ state: "running", counts: { updated: 1 } });
      return newest();
    }

    test.each([
      [{}, 10],
      [{ limit: 3 }, 3],
      [{ start: 4 }, 6],
      [{ aspect: "status" }, 5],
    ])("a running job reports the total of its rows: %j", async (more, total) => {
      const restoring = operator.act("restoreIndices", { ...slow, ...more }, datahub);
      const { id } = await underWay();
      await expect
        .poll(async () => (await operator.value("getJob", { id })).counts)
        .toMatchObject({ total, updated: 1 });
      await operator.value("cancelJob", { id });
      await restoring;
    });

    test("an ended job reports the total of its rows", async () => {
      const body = { urnLike: "urn:li:tag:slow%", batchSize: 3 };
      const result = await operator.value("restoreIndices", body, datahub);
      const task = /taskId=([^,]+),/.exec(result)?.[1] ?? "";
      expect(await operator.ended(task)).toMatchObject({ status: { total: 10, updated: 10 } });
    });

    test("a restore that exceeds the response time continues as its task", async () => {
      const result = await operator.value("restoreIndices", slow, datahub);
      const [, task = "", completed] = /taskId=(.*), completed=(\w+)\}$/.exec(result) ?? [];
      expect(completed).toBe("false");
      const status = async () => JSON.parse(await operator.value("getEsTaskStatus", { task }));
      const running = await status();
      expect(running).toMatchObject({ completed: false, taskId: task });
      expect(JSON.parse(running.status)).toMatchObject({ total: 10, updated: 1 });
      expect((await status()).runTimeNanos).toBeGreaterThan(running.runTimeNanos);
      await operator.value("cancelJob", { id: task });
      expect(await status()).toMatchObject({
        ...{ completed: true, taskId: task, state: "cancelled", error: "it was cancelled" },
      });
      expect(await operator.act("cancelJob", { id: task })).toMatchObject({ status: 409 });
    });

    test("a restore that is cancelled is answered with the cancellation", async () => {
      const restoring = operator.act("restoreIndices", slow, datahub);
      const { id } = await underWay();
      await operator.value("cancelJob", { id });
      expect((await restoring).body.message).toBe(
        `job "${id}" was cancelled. Entities that it restored before stay restored`,
      );
    });
  });
});
