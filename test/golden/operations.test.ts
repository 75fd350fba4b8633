/**
 * The operations of the interface specification, sentence by sentence. Section numbers are those of
 * the specification.
 */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { caughtUp } from "../support/caught-up.ts";
import { proposal } from "../support/client.ts";
import { type Operator, operatorOf, tokenOf } from "../support/operator.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const dataset = (name: string) => `urn:li:dataset:(urn:li:dataPlatform:hive,${name},PROD)`;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = 1_629_331_200_000;
const datahub = { "X-RestLi-Protocol-Version": "2.0.0" };

let service: RunningService;
let operator: Operator;
beforeAll(async () => {
  service = await runningService();
  operator = operatorOf(service);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function upsertAll(aspects: readonly (readonly [string, string, object])[]): Promise<void> {
  const proposals = aspects.map(([urn, aspect, value]) => proposal(urn, aspect, value));
  const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
    proposals,
  });
  expect(reply.status).toBe(200);
}

const profile = (urn: string, time: number) =>
  [urn, "datasetProfile", { timestampMillis: time, rowCount: time % 1_000 }] as const;

async function timesOf(urn: string, aspect = "datasetProfile"): Promise<readonly number[]> {
  const { body } = await service.client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
    ...{ urn, entity: "dataset", aspect },
  });
  return body.value.values.map(
    (one: { aspect: { value: string } }) => JSON.parse(one.aspect.value).timestampMillis,
  );
}

/** Changes a view's file, bypassing the service. */
function damage(view: string, statements: string): void {
  const database = new DatabaseSync(join(service.directory, `${view}.sqlite`), { timeout: 5_000 });
  database.exec(statements);
  database.close();
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const entityOf = (urn: string) =>
  `(SELECT entity.id FROM entity JOIN entity_kind AS k ON k.id = kind WHERE prefix || rest = ${quoted(urn)})`;

describe("5 authentication", () => {
  test("the token file is readable for its owner only, and operations require the token", async () => {
    const file = statSync(join(service.directory, "operator.token"));
    expect(file.mode & 0o777).toBe(0o600);
    const { Authorization = "" } = tokenOf(service.directory);
    expect(Authorization).toMatch(/^Bearer [\w-]{43}$/);
    const path = "/gms/operations?action=getEsTaskStatus";
    const call = (headers: Record<string, string>) =>
      service.client.call("POST", path, { task: "node:1" }, headers);
    expect(await call({ Authorization })).toMatchObject({ status: 200 });
    for (const headers of [{}, { Authorization: "Bearer x" }, { Authorization: "Bearer" }]) {
      const reply = await call(headers as Record<string, string>);
      expect(reply).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
      expect(JSON.stringify(reply.body)).not.toContain(Authorization.slice(7));
    }
  });
});

describe("4.2 getEsTaskStatus", () => {
  test("an unknown task is answered with an error in the value", async () => {
    const value = '{"error":"Could not get task status for node-X_1:123"}';
    for (const prefix of ["", "/gms", "/api/gms"]) {
      for (const body of [{ task: "node-X_1:123" }, { nodeId: "node-X_1", taskId: 123 }]) {
        const path = `${prefix}/operations?action=getEsTaskStatus`;
        const reply = await service.client.call("POST", path, body, tokenOf(service.directory));
        expect(reply).toMatchObject({ status: 200, body: { value } });
      }
    }
  });

  test.each([
    [{}, "Please specify either Node ID + task ID OR composite task parameters"],
    [{ nodeId: "a" }, "Please specify either"],
    [{ taskId: 1 }, "Please specify either"],
    [{ nodeId: "a", taskId: 0 }, "Please specify either"],
    [{ task: "a:1", nodeId: "b", taskId: 1 }, "Please specify only one"],
    [{ task: "a:1", nodeId: "a", taskId: 1 }, "Please specify only one"],
    [{ task: "nonsense" }, "Task should be in the form nodeId:taskId"],
    [{ task: "a:b" }, "(got a:b)"],
    [{ task: "é:1" }, "Task should be in the form"],
    [{ nodeId: "a b", taskId: 1 }, "Task should be in the form"],
  ])("rejects %j", async (body, message) => {
    const reply = await operator.act("getEsTaskStatus", body);
    expect(reply).toMatchObject({
      status: 400,
      body: { code: "malformed", message: expect.stringContaining(message) },
    });
  });
});

describe("4.2 truncateTimeseriesAspect", () => {
  const tides = dataset("harbour.tides");
  const reef = dataset("harbour.reef");
  const dry = (n: number, m: number, percent: string) =>
    `Delete ${n} out of ${m} rows (${percent}%). Reindexing the aspect without the deleted records. This was a dry run. Run with dryRun = false to execute.`;
  const index = { entityType: "dataset", aspect: "datasetprofile" };

  test("a truncation without events answers 0.00 percent", async () => {
    const none = { ...index, endTimeMillis: NOON };
    expect(await operator.value("truncateTimeseriesAspect", none)).toBe(dry(0, 0, "0.00"));
  });

  test("a truncation is a dry run by default, and changes nothing", async () => {
    await upsertAll([0, 1, 2].map((n) => profile(tides, NOON + n * HOUR)));
    await upsertAll([profile(reef, NOON), profile(reef, NOON + 9 * HOUR)]);
    await upsertAll([[tides, "operation", operation(NOON)]]);
    const body = { ...index, endTimeMillis: NOON + 2 * HOUR };
    expect(await operator.value("truncateTimeseriesAspect", body)).toBe(dry(3, 5, "60.00"));
    const loud = { ...body, entityType: "DATASET", aspect: "DatasetPROFILE", dryRun: true };
    expect(await operator.value("truncateTimeseriesAspect", loud)).toBe(dry(3, 5, "60.00"));
    expect(await timesOf(tides)).toHaveLength(3);
  });

  test("forceDeleteByQuery changes the message of a dry run, and contradictory flags are rejected", async () => {
    const body = { ...index, endTimeMillis: NOON + HOUR };
    const say = (flags: object) =>
      operator.value("truncateTimeseriesAspect", { ...body, ...flags });
    const byQuery = dry(2, 5, "40.00").replace(
      "Reindexing the aspect without the deleted records.",
      "Issuing a delete by query request.",
    );
    expect(await say({ forceDeleteByQuery: true })).toBe(byQuery);
    expect(await say({ forceReindex: true, forceDeleteByQuery: false })).toBe(dry(2, 5, "40.00"));
    for (const both of [true, false]) {
      const flags = { forceReindex: both, forceDeleteByQuery: both, dryRun: false };
      expect(await say(flags)).toBe("please only set forceReindex OR forceDeleteByQuery flags");
    }
    expect(await timesOf(tides)).toHaveLength(3);
  });

  test("a truncation is done by a job, and its status has the form of section 2.5", async () => {
    const task = await operator.value("truncateTimeseriesAspect", {
      ...{ ...index, endTimeMillis: NOON + 2 * HOUR, dryRun: false, batchSize: 2 },
    });
    expect(task).toMatch(/^[\w-]+:\d+$/);
    expect(await operator.ended(task)).toEqual({
      completed: true,
      taskId: task,
      runTimeNanos: expect.any(Number),
      status: {
        total: 3,
        updated: 0,
        created: 0,
        deleted: 3,
        batches: 2,
        version_conflicts: 0,
        noops: 0,
        retries: { bulk: 0, search: 0 },
        throttled_millis: 0,
        requests_per_second: -1,
        throttled_until_millis: 0,
      },
    });
    expect(await operator.value("getEsTaskStatus", { task })).toContain(
      '\\"requests_per_second\\":-1.0,',
    );
    // Events at exactly the end stay, and so do other aspects.
    expect(await timesOf(tides)).toEqual([NOON + 2 * HOUR]);
    expect(await timesOf(reef)).toEqual([NOON + 9 * HOUR]);
    expect(await timesOf(tides, "operation")).toEqual([NOON]);
    const [nodeId, number] = task.split(":");
    const parts = { nodeId, taskId: Number(number) };
    expect(await operator.value("getEsTaskStatus", parts)).toBe(
      await operator.value("getEsTaskStatus", { task }),
    );
  });

  test("a truncation does not delete events that are written after it", async () => {
    await upsertAll([profile(reef, NOON)]);
    expect(await timesOf(reef)).toEqual([NOON + 9 * HOUR, NOON]);
  });

  test("a truncation survives a restart, a restore and a rebuild", async () => {
    const jobs = await operator.value("listJobs");
    const status = await operator.value("getEsTaskStatus", { task: jobs.jobs[0].id });
    await service.restart();
    expect(await operator.value("getEsTaskStatus", { task: jobs.jobs[0].id })).toBe(status);
    await operator.value("restoreIndices", { urnLike: "urn:li:dataset:%", batchSize: 1_000 });
    const left = async () => {
      expect(await timesOf(tides)).toEqual([NOON + 2 * HOUR]);
      expect(await timesOf(reef)).toEqual([NOON + 9 * HOUR, NOON]);
    };
    await left();
    for (const end of ["", "-wal", "-shm"]) {
      rmSync(join(service.directory, `timeseries.sqlite${end}`), { force: true });
    }
    await service.restart();
    await left();
  });

  test.each([
    [{ entityType: "ship", aspect: "datasetprofile" }, 'unknown entity type "ship"'],
    [{ entityType: "dataset", aspect: "warp" }, 'unknown timeseries aspect "warp"'],
    [{ entityType: "dataset", aspect: "ownership" }, 'unknown timeseries aspect "ownership"'],
    [{ entityType: "tag", aspect: "datasetprofile" }, "It has none"],
    [{ entityType: "", aspect: "" }, 'unknown entity type ""'],
    [{ entityType: "__proto__", aspect: "constructor" }, 'unknown entity type "__proto__"'],
  ])("rejects %j", async (names, message) => {
    for (const dryRun of [true, false]) {
      const body = { ...names, endTimeMillis: 1, dryRun };
      expect(await operator.act("truncateTimeseriesAspect", body)).toMatchObject({
        status: 422,
        body: { code: "invalid", message: expect.stringContaining(message) },
      });
    }
  });

  test("all three parameters are required", async () => {
    expect((await operator.act("truncateTimeseriesAspect", index)).body).toMatchObject({
      status: 400,
      message: "Parameter 'endTimeMillis' is required",
    });
  });
});

const operation = (time: number) => ({
  timestampMillis: time,
  operationType: "INSERT",
  lastUpdatedTimestamp: time,
});

describe("4.2 restoreIndices", () => {
  const names = ["a", "b", "c"].map((name) => dataset(`shoal.${name}`));
  const [a = "", b = "", c = ""] = names;
  const everyDataset = "urn:li:dataset:(urn:li:dataPlatform:hive,shoal.%";
  const ownership = (name: string) => ({
    owners: [{ owner: `urn:li:corpuser:${name}`, type: "DATAOWNER" }],
    lastModified: { time: NOON, actor: "urn:li:corpuser:ann" },
  });

  /** The aspects, owners and events of all three datasets. */
  const stored = async () =>
    Promise.all(
      names.map(async (urn) => {
        const entity = await service.client.get(`/entitiesV2/${encodeURIComponent(urn)}`);
        const owners = await service.client.get(
          `/relationships?direction=OUTGOING&types=OwnedBy&urn=${encodeURIComponent(urn)}`,
        );
        return [entity.body, owners.body, await timesOf(urn)];
      }),
    );

  beforeAll(async () => {
    await upsertAll(
      names.flatMap((urn) => [
        [urn, "ownership", ownership("ann")] as const,
        [urn, "ownership", ownership("bob")] as const,
        [urn, "status", { removed: false }] as const,
        profile(urn, NOON),
        profile(urn, NOON + DAY),
      ]),
    );
    // An aspect that was deleted must stay deleted.
    await service.client.call("POST", "/aspects?action=ingestProposal", {
      proposal: { ...proposal(c, "status", {}), changeType: "DELETE", aspect: undefined },
    });
  });

  beforeEach(async () => {
    await operator.value("restoreIndices", { urnLike: everyDataset, batchSize: 1_000 });
  });

  const partsOf = (value: string) => {
    const [, args = "", result = "", task = "", completed] =
      /^\{args=RestoreIndicesArgs\((.*?)\), result=(.*), taskId=(\S+), completed=(\w+)\}$/s.exec(
        value,
      ) ?? [];
    const batches = result === "" ? [] : result.split("\n");
    const member = (text: string, name: string) =>
      new RegExp(`(?:^|[(, ])${name}=(.*?)(?:, \\w+=|\\)?$)`).exec(text)?.[1];
    return { args, batches, task, completed, member };
  };

  test("restoring a urn restores each of its rows in every view", async () => {
    const before = await stored();
    damage("aspects", `DELETE FROM aspect_value WHERE entity = ${entityOf(a)}`);
    damage(
      "timeseries",
      `DELETE FROM event WHERE series IN (SELECT id FROM series WHERE urn = ${quoted(a)})`,
    );
    damage("graph", "DELETE FROM edge");
    const value = await operator.value("restoreIndices", { urn: a });
    const { args, batches, task, completed, member } = partsOf(value);
    expect(member(args, "urn")).toBe(a);
    expect(batches).toHaveLength(1);
    const [batch = ""] = batches;
    const rows = Object.keys(before[0]?.[0].aspects).sort();
    expect(member(batch, "rowsMigrated")).toBe(String(rows.length));
    expect(member(batch, "ignored")).toBe("0");
    expect(member(batch, "lastUrn")).toBe(a);
    expect(member(batch, "lastAspect")).toBe(rows.at(-1));
    expect(completed).toBe("true");
    expect(await operator.ended(task)).toMatchObject({ status: { updated: rows.length } });
    const [first] = await stored();
    expect(first).toEqual(before[0]);
    await operator.value("restoreIndices", { urn: b });
    await operator.value("restoreIndices", { urn: c });
    expect(await stored()).toEqual(before);
  });

  test("a restore removes rows that the log does not have", async () => {
    const before = await stored();
    damage(
      "aspects",
      `INSERT INTO aspect_name (name) VALUES ('domains');
       INSERT INTO aspect_value (entity, aspect, version, position, revision, time, actor, system, value)
       SELECT entity, (SELECT id FROM aspect_name WHERE name = 'domains'), 1, 1, 1, 1, 'x', '{}', '{}'
       FROM aspect_value WHERE entity = ${entityOf(b)} LIMIT 1;
       UPDATE aspect_value SET removed = NULL WHERE entity = ${entityOf(c)}`,
    );
    await service.restart();
    expect(await stored()).not.toEqual(before);
    for (const urn of [b, c]) await operator.value("restoreIndices", { urn });
    expect(await stored()).toEqual(before);
  });

  test("restoring a urn without records removes its row from the view, and counts no row", async () => {
    const unlogged = dataset("shoal.unlogged");
    damage(
      "aspects",
      `INSERT INTO entity (kind, rest, id, living)
       SELECT id, substr(${quoted(unlogged)}, length(prefix) + 1), 999999, 1 FROM entity_kind
       WHERE prefix = 'urn:li:dataset:'`,
    );
    const count = async () =>
      (
        await service.client.call("POST", "/entities?action=listUrns", {
          ...{ entity: "dataset", start: 0, count: 100 },
        })
      ).body.value.entities;
    expect(await count()).toContain(unlogged);
    const { batches } = partsOf(await operator.value("restoreIndices", { urn: unlogged }));
    expect(batches.join()).not.toMatch(/rowsMigrated=[1-9]/);
    expect(await count()).not.toContain(unlogged);
  });

  test("restoring one or several aspects counts their rows", async () => {
    const counted = async (body: object) => {
      const { batches, member } = partsOf(await operator.value("restoreIndices", body));
      return batches.map((batch) => [member(batch, "rowsMigrated"), member(batch, "lastAspect")]);
    };
    expect(await counted({ urn: a, aspect: "ownership" })).toEqual([["1", "ownership"]]);
    const two = { aspectNames: ["status", "ownership"] };
    expect(await counted({ urn: a, ...two })).toEqual([["2", "status"]]);
    expect(await counted({ urn: c, ...two })).toEqual([["1", "ownership"]]);
    expect(await counted({ urn: a, aspect: "datasetProfile" })).toEqual([["1", "datasetProfile"]]);
    expect(await counted({ urn: a, aspect: "tagProperties" })).toEqual([]);
  });

  test("restoring urns like a pattern pages by start, batchSize, limit and last row", async () => {
    const rows = async (body: object, headers?: Record<string, string>) => {
      const all = { urnLike: everyDataset, aspectNames: ["ownership", "status"], ...body };
      const value = await operator.value("restoreIndices", all, headers);
      const { batches, member } = partsOf(value);
      return batches.map((batch) =>
        ["rowsMigrated", "lastUrn", "lastAspect"].map((name) => member(batch, name)).join(" "),
      );
    };
    expect(await rows({})).toEqual([`5 ${c} ownership`]);
    expect(await rows({ batchSize: 3 })).toEqual([`3 ${b} ownership`]);
    expect(await rows({ start: 1, batchSize: 1 })).toEqual([`1 ${a} status`]);
    expect(await rows({ start: 4, batchSize: 100 })).toEqual([`1 ${c} ownership`]);
    expect(await rows({ start: 5 })).toEqual([]);
    // DataHub clients get batches of all rows, or of the limit.
    expect(await rows({ batchSize: 2 }, datahub)).toEqual([
      `2 ${a} status`,
      `2 ${b} status`,
      `1 ${c} ownership`,
    ]);
    expect(await rows({ batchSize: 2, limit: 3 }, datahub)).toEqual([
      `2 ${a} status`,
      `1 ${b} ownership`,
    ]);
    expect(
      await rows({ urnBasedPagination: true, lastUrn: a, lastAspect: "status" }, datahub),
    ).toEqual([`3 ${c} ownership`]);
  });

  test.each([
    ["urn:li:dataset:(urn:li:dataPlatform:hive,shoal._,PROD)", 3],
    ["%shoal.b%", 1],
    ["urn:li:dataset:(urn:li:dataPlatform:hive,shoal.a,PROD)", 1],
    ["URN:LI:%", 0],
    ["urn:other:dataset:(urn:other:dataPlatform:hive,shoal.a,PROD)", 1],
    ["urn:li:dataset:(urn:li:dataPlatform:hive,shoal'; DROP TABLE stream; --%", 0],
    ["", 0],
  ])("the pattern %j selects urns", async (urnLike, found) => {
    const body = { urnLike, aspect: "ownership", batchSize: 10 };
    const { batches, member } = partsOf(await operator.value("restoreIndices", body));
    const rows = batches.map((batch) => Number(member(batch, "rowsMigrated")));
    expect(rows).toEqual(found === 0 ? [] : [found]);
  });

  test("rows are selected by the time of their last change", async () => {
    const body = { urnLike: everyDataset, aspect: "ownership" };
    const rows = async (times: object) =>
      partsOf(await operator.value("restoreIndices", { ...body, ...times })).batches.length;
    const now = Date.now();
    expect(await rows({ gePitEpochMs: now + DAY })).toBe(0);
    expect(await rows({ gePitEpochMs: now - DAY })).toBe(1);
    expect(await rows({ gePitEpochMs: 1, lePitEpochMs: now - DAY })).toBe(0);
    expect(await rows({ lePitEpochMs: now - DAY })).toBe(0);
    expect(await rows({ lePitEpochMs: now + DAY })).toBe(1);
  });

  test("DataHub's further parameters are accepted", async () => {
    const body = { urn: a, createDefaultAspects: true, numThreads: 4, batchDelayMs: 1 };
    const { args, member } = partsOf(await operator.value("restoreIndices", body));
    expect(member(args, "createDefaultAspects")).toBe("true");
    expect(member(args, "batchDelayMs")).toBe("1");
  });

  test("a restore loses no concurrent write", async () => {
    const last: Record<string, string> = {};
    let writing = true;
    const writer = (async () => {
      for (let n = 0; writing; n++) {
        for (const urn of names) {
          await service.client.upsert(urn, "ownership", ownership(`u${n}`));
          last[urn] = `urn:li:corpuser:u${n}`;
        }
      }
    })();
    for (let n = 0; n < 15; n++) {
      await operator.value("restoreIndices", { urnLike: everyDataset, batchSize: 1_000 });
    }
    writing = false;
    await writer;
    for (const [i, [entity, owners]] of (await stored()).entries()) {
      const owner = last[names[i] ?? ""];
      expect(entity.aspects.ownership.value.owners[0].owner).toBe(owner);
      expect(owners.entities).toEqual([owner]);
    }
  });

  test("without a selector, the whole store is restored to the state of the log", async () => {
    damage("aspects", "UPDATE aspect_value SET value = '{}', actor = 'nobody'");
    damage("timeseries", "DELETE FROM event WHERE rowid % 2 = 0");
    damage("graph", "UPDATE edge SET updated_on = 7");
    damage("search", "DELETE FROM document WHERE id % 2 = 0");
    const { batches, member } = partsOf(
      await operator.value("restoreIndices", { batchSize: 4 }, datahub),
    );
    expect(batches.length).toBeGreaterThan(4);
    for (const batch of batches.slice(0, -1)) expect(member(batch, "rowsMigrated")).toBe("4");
    await service.restart();
    await caughtUp(service);
    expect((await differencesFromRebuild(service.directory)).differences).toEqual([]);
  });

  test.each([
    [{ urn: "nonsense" }, 400],
    [{ urn: `urn:li:tag:${"x".repeat(600)}` }, 400],
    [{ aspect: "warp" }, 422],
    [{ aspectNames: ["ownership", "__proto__"] }, 422],
  ])("rejects %j", async (body, status) => {
    expect(await operator.act("restoreIndices", body)).toMatchObject({ status });
  });
});

describe("jobs", () => {
  test("jobs are listed, the newest first, and can be read", async () => {
    const task = await operator.value("truncateTimeseriesAspect", {
      ...{ entityType: "dashboard", aspect: "dashboardUsageStatistics", endTimeMillis: 5 },
      dryRun: false,
    });
    await operator.ended(task);
    const { total, jobs, count } = await operator.value("listJobs", { count: 2 });
    expect(total).toBe(Number(task.split(":")[1]));
    expect(count).toBe(2);
    expect(jobs[0]).toMatchObject({
      ...{ id: task, kind: "truncate", state: "done" },
      actor: "urn:li:corpuser:datahub",
      request: { entityType: "dashboard", aspect: "dashboardUsageStatistics", endTimeMillis: 5 },
    });
    expect(await operator.value("getJob", { id: task })).toEqual(jobs[0]);
    const older = await operator.value("listJobs", { start: 1, count: 1 });
    expect(older.jobs).toEqual([jobs[1]]);
    expect((await operator.value("listJobs", { start: total })).jobs).toEqual([]);
  });

  test("an unknown job is not found, and an ended job cannot be cancelled", async () => {
    const [newest] = (await operator.value("listJobs", { count: 1 })).jobs;
    for (const action of ["getJob", "cancelJob"]) {
      for (const id of ["nobody:1", `${newest.id}9`, "", "x".repeat(1_000), newest.id.slice(1)]) {
        expect(await operator.act(action, { id })).toMatchObject({
          ...{ status: 404, body: { code: "not_found" } },
        });
      }
    }
    expect(await operator.act("cancelJob", { id: newest.id })).toMatchObject({
      ...{ status: 409, body: { code: "conflict" } },
    });
  });

  test("records of jobs park no entity", async () => {
    const { body } = await service.client.get("/health");
    expect(body).toEqual({});
  });
});

describe("getIndexSizes", () => {
  test("every timeseries aspect of every entity type has a row", async () => {
    const { indexSizes } = await operator.value("getIndexSizes");
    const names = indexSizes.map((one: { indexName: string }) => one.indexName);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("datajob_datahubingestioncheckpointaspect_v1");
    const profiles = indexSizes.find(
      (one: { indexName: string }) => one.indexName === "dataset_datasetprofileaspect_v1",
    );
    expect(profiles).toMatchObject({ entityName: "dataset", aspectName: "datasetprofile" });
    expect(profiles.sizeInMb).toBeGreaterThan(0.0001);
    expect(profiles.sizeMb).toBe(profiles.sizeInMb);
  });
});

describe("metrics and readiness", () => {
  test("metrics need no token, and cover the log, the views and the routes", async () => {
    const answer = await fetch(`${service.address}/metrics`);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await answer.text();
    const value = (name: string) =>
      Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.split(" ")[1],
      );
    expect(value("annals_log_position")).toBeGreaterThan(50);
    for (const view of ["aspects", "timeseries", "graph", "search"]) {
      expect(value(`annals_view_position{view="${view}"}`)).toBeGreaterThan(50);
      expect(value(`annals_view_failing{view="${view}"}`)).toBe(0);
    }
    const count = `annals_http_request_duration_seconds_count{route="/operations?action=listJobs",method="POST",status="200"}`;
    expect(value(count)).toBeGreaterThan(0);
    expect(await service.client.get("/health/ready")).toMatchObject({ status: 200, body: {} });
  });
});
