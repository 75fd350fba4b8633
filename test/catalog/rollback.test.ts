/** Runs and their rollback, at a real service: what is rolled back, and what is not. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunSummary } from "../../src/catalog/catalog.ts";
import { encoded } from "../support/client.ts";
import type { RunningService } from "../support/running-service.ts";
import { serviceOnLog, startedLogs } from "../support/started-logs.ts";

let service: RunningService;

let serial = 0;
const fresh = (): string => `urn:li:dataset:(urn:li:dataPlatform:hive,rolled.t${++serial},PROD)`;
const runOf = (): string => `run-${++serial}`;

/** A run tells a value. */
async function tell(runId: string, urn: string, aspect: string, value: unknown): Promise<void> {
  const systemMetadata = { runId, lastObserved: 1_700_000_000_000 + serial++ };
  const told = await service.client.upsert(urn, aspect, value, { systemMetadata });
  expect(told.body).toEqual({ value: "success" });
}

async function action(name: string, body: object) {
  const { status, body: answer } = await service.client.call("POST", `/runs?action=${name}`, body);
  expect([status, answer]).toEqual([200, { value: expect.anything() }]);
  return answer.value;
}

const rollback = (runId: string, more: object = { safe: true }) =>
  action("rollback", { runId, dryRun: false, ...more });

async function aspectOf(urn: string, name: string): Promise<unknown> {
  const { status, body } = await service.client.get(
    `/aspects/${encoded(urn)}?aspect=${name}&version=0`,
  );
  return status === 404 ? undefined : Object.values(body.aspect)[0];
}

async function runIdOf(urn: string, name: string): Promise<string> {
  const { body } = await service.client.get(`/entitiesV2/${encoded(urn)}`);
  return body.aspects[name].systemMetadata.runId;
}

async function exists(urn: string): Promise<boolean> {
  const { body } = await service.client.call("POST", "/entities?action=exists", {
    urn,
    includeSoftDelete: false,
  });
  return body.value;
}

const described = (description: string) => ({ description });
const profile = (timestampMillis: number, rowCount: number) => ({ timestampMillis, rowCount });

async function profiles(urn: string): Promise<readonly unknown[]> {
  const { body } = await service.client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
    ...{ urn, entity: "dataset", aspect: "datasetProfile", limit: 100 },
  });
  return body.value.values
    .map(({ aspect }: { aspect: { value: string } }) => JSON.parse(aspect.value))
    .map((one: Record<string, number>) => [one.timestampMillis, one.rowCount]);
}

describe.each(startedLogs)("on a log that is %s,", (_, startLog) => {
  beforeAll(async () => {
    service = await serviceOnLog(startLog);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  describe("a rollback", () => {
    test("brings back what others told before, under their run, as a further version", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await tell(first, urn, "editableDatasetProperties", described("one"));
      await tell(second, urn, "editableDatasetProperties", described("two"));
      await tell(second, urn, "editableDatasetProperties", described("three"));

      const answer = await rollback(second);

      expect(answer).toMatchObject({
        ...{ entitiesAffected: 1, entitiesDeleted: 0, aspectsReverted: 1, unsafeEntitiesCount: 0 },
        aspectRowSummaries: [
          { runId: second, urn, aspectName: "editableDatasetProperties", keyAspect: false },
        ],
      });
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("one"));
      expect(await runIdOf(urn, "editableDatasetProperties")).toBe(first);
      const third = await service.client.get(
        `/aspects/${encoded(urn)}?aspect=editableDatasetProperties&version=3`,
      );
      expect(JSON.stringify(third.body)).toContain('"three"');
    });

    test("keeps what others told since, on top of it", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await tell(first, urn, "editableDatasetProperties", described("one"));
      await tell(first, urn, "browsePathsV2", { path: [{ id: "elsewhere" }] });
      await tell(second, urn, "editableDatasetProperties", described("two"));
      await tell(first, urn, "status", { removed: false });

      expect(await rollback(first)).toMatchObject({
        unsafeEntities: [{ urn }],
        entitiesDeleted: 0,
      });

      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("two"));
      expect(await aspectOf(urn, "status")).toBeUndefined();
      expect(await exists(urn)).toBe(true);
      // It is found where whoever told it first would have put it.
      expect(await aspectOf(urn, "browsePathsV2")).toEqual({ path: [{ id: "rolled" }] });
      expect(await aspectOf(urn, "dataPlatformInstance")).toBeDefined();
    });

    test("keeps a value that another run confirmed", async () => {
      const [urn, first, second, third] = [fresh(), runOf(), runOf(), runOf()];
      await tell(first, urn, "editableDatasetProperties", described("same"));
      await tell(second, urn, "editableDatasetProperties", described("same"));
      await rollback(first);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("same"));

      await tell(third, urn, "editableDatasetProperties", described("other"));
      await rollback(third);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("same"));
      expect(await runIdOf(urn, "editableDatasetProperties")).toBe(second);

      await rollback(second);
      expect(await aspectOf(urn, "editableDatasetProperties")).toBeUndefined();
    });

    test("does not bring back what was rolled back before", async () => {
      const [urn, first, second, third] = [fresh(), runOf(), runOf(), runOf()];
      await tell(first, urn, "editableDatasetProperties", described("one"));
      await tell(second, urn, "editableDatasetProperties", described("two"));
      await tell(third, urn, "editableDatasetProperties", described("three"));
      await rollback(second);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("three"));
      await rollback(third);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("one"));
    });

    test("hides an entity that nobody else told of, and a harder one deletes it", async () => {
      const [urn, run] = [fresh(), runOf()];
      await tell(run, urn, "status", { removed: false });
      await tell(run, urn, "datasetProperties", { ...described("mine"), customProperties: {} });
      const counts = { entitiesAffected: 1, entitiesDeleted: 1, unsafeEntitiesCount: 0 };

      expect(await rollback(run, { dryRun: true, safe: true })).toMatchObject(counts);
      expect(await exists(urn)).toBe(true);
      expect(await rollback(run)).toMatchObject(counts);
      expect(await aspectOf(urn, "status")).toEqual({ removed: true });
      expect(await aspectOf(urn, "datasetProperties")).toBeUndefined();
      expect(await aspectOf(urn, "datasetKey")).toBeDefined();

      expect(await rollback(run, { safe: false })).toMatchObject({ ...counts, aspectsReverted: 1 });
      for (const name of ["datasetKey", "status", "datasetProperties", "browsePathsV2"]) {
        expect(await aspectOf(urn, name)).toBeUndefined();
      }
    });

    test("deletes what others told of an entity with it, and counts that", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await tell(first, urn, "status", { removed: false });
      await tell(second, urn, "editableDatasetProperties", described("theirs"));
      const counts = { unsafeEntitiesCount: 1, unsafeEntities: [{ urn }], aspectsAffected: 1 };
      expect(await rollback(first, { dryRun: true, hardDelete: true })).toMatchObject(counts);
      expect(await rollback(first, { hardDelete: true })).toMatchObject(counts);
      expect(await exists(urn)).toBe(false);
    });

    test("comes to nothing when it is asked for again, until the run tells more", async () => {
      const [urn, run] = [fresh(), runOf()];
      await tell(run, urn, "editableDatasetProperties", described("one"));
      await rollback(run);
      const again = await rollback(run);
      expect(again).toMatchObject({ entitiesAffected: 0, aspectsReverted: 0 });
      await tell(run, urn, "editableDatasetProperties", described("again"));
      expect(await rollback(run)).toMatchObject({ aspectsReverted: 1 });
      expect(await aspectOf(urn, "editableDatasetProperties")).toBeUndefined();
    });

    test("brings back what the run deleted", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await tell(first, urn, "editableDatasetProperties", described("one"));
      const deletion = { changeType: "DELETE", systemMetadata: { runId: second } };
      await service.client.upsert(urn, "datasetKey", {}, deletion);
      expect(await exists(urn)).toBe(false);
      await rollback(second);
      expect(await exists(urn)).toBe(true);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("one"));
      await rollback(first, { hardDelete: true });
      expect(await aspectOf(urn, "datasetKey")).toBeUndefined();
    });

    test("takes the run's events away, and brings back those that it had told anew", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await tell(first, urn, "datasetProfile", profile(1_000, 1));
      await tell(first, urn, "datasetProfile", profile(3_000, 3));
      await tell(second, urn, "datasetProfile", profile(2_000, 20));
      await tell(second, urn, "datasetProfile", profile(3_000, 30));
      await tell(second, urn, "datasetProfile", profile(4_000, 40));

      const answer = await rollback(second);
      expect(answer).toMatchObject({ aspectsReverted: 3, entitiesAffected: 1 });
      expect(await profiles(urn)).toEqual([
        [3_000, 3],
        [1_000, 1],
      ]);
      await rollback(first);
      expect(await profiles(urn)).toEqual([]);
    });

    test("leaves a view that is regrown as it left it", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await tell(first, urn, "editableDatasetProperties", described("one"));
      await tell(second, urn, "editableDatasetProperties", described("two"));
      await tell(second, urn, "datasetProfile", profile(1_000, 1));
      await rollback(second);
      await service.restart();
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("one"));
      expect(await profiles(urn)).toEqual([]);
      expect(await rollback(second)).toMatchObject({ aspectsReverted: 0 });
    });

    test("keeps what others write while it goes on", async () => {
      const urns = Array.from({ length: 40 }, fresh);
      const [first, second] = [runOf(), runOf()];
      for (const urn of urns) await tell(first, urn, "status", { removed: false });
      for (const urn of urns) await tell(first, urn, "globalTags", { tags: [] });
      const rolling = rollback(first);
      const writing = urns.map(async (urn) => {
        for (const text of ["one", "two", "three"]) {
          await tell(second, urn, "editableDatasetProperties", described(text));
        }
      });
      await Promise.all([rolling, ...writing]);
      for (const urn of urns) {
        expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("three"));
        expect(await aspectOf(urn, "globalTags")).toBeUndefined();
        expect(await aspectOf(urn, "datasetKey")).toBeDefined();
      }
    });

    test("tells the execution request of the run", async () => {
      const [urn, run] = [fresh(), runOf()];
      const execution = `urn:li:dataHubExecutionRequest:${run}`;
      await tell("other", execution, "dataHubExecutionRequestResult", { status: "SUCCESS" });
      await tell(run, urn, "status", { removed: false });
      await rollback(run);
      expect(await aspectOf(execution, "dataHubExecutionRequestResult")).toMatchObject({
        status: "ROLLED_BACK",
      });
    });

    test("knows none without a name: that is what names no run", async () => {
      const urn = fresh();
      await tell("", urn, "status", { removed: false });
      expect(await runIdOf(urn, "status")).toBe("no-run-id-provided");
      const runs: readonly RunSummary[] = await action("list", { pageOffset: 0, pageSize: 1_000 });
      expect(runs.map(({ runId }) => runId)).not.toContain("");
    });

    test("of what is no single run is refused, and of an unknown one comes to nothing", async () => {
      const refused = await service.client.call("POST", "/runs?action=rollback", {
        ...{ runId: "no-run-id-provided", dryRun: true },
      });
      expect([refused.status, refused.body.code]).toEqual([400, "malformed"]);
      expect(await rollback("never", { dryRun: true })).toEqual({
        ...{ entitiesAffected: 0, entitiesDeleted: 0, aspectsReverted: 0, aspectsAffected: 0 },
        ...{ unsafeEntitiesCount: 0, aspectRowSummaries: [], unsafeEntities: [] },
      });
    });
  });

  describe("undoing what was told with a model registry", () => {
    const registryOf = () => ({ registryName: `quality-${++serial}`, registryVersion: "0.0.1" });
    type Told = ReturnType<typeof registryOf>;

    async function tellWith(registry: Told | undefined, urn: string, value: unknown) {
      const systemMetadata = { runId: runOf(), lastObserved: 1_700_000_000_000, ...registry };
      const aspect = "editableDatasetProperties";
      const told = await service.client.upsert(urn, aspect, value, { systemMetadata });
      expect(told.body).toEqual({ value: "success" });
      return systemMetadata.runId;
    }
    async function deleteAll({ registryName, registryVersion }: Told, more: object = {}) {
      const registryId = `${registryName}:${registryVersion}`;
      const path = "/entities?action=deleteAll";
      const { status, body } = await service.client.call("POST", path, { registryId, ...more });
      expect([status, body]).toEqual([200, { value: expect.anything() }]);
      return body.value;
    }
    const value = (urn: string) => aspectOf(urn, "editableDatasetProperties");

    test("brings back what others told, whatever runs told it, and tells what that would be", async () => {
      const [urn, own, registry] = [fresh(), fresh(), registryOf()];
      await tellWith(undefined, urn, described("one"));
      await tellWith(registry, urn, described("two"));
      await tellWith(registry, urn, described("three"));
      await tellWith({ ...registry, registryVersion: "0.0.2" }, own, described("later version"));
      await tellWith(registry, fresh(), described("brought into being"));

      const dry = await deleteAll(registry, { dryRun: true });
      expect(await value(urn)).toMatchObject(described("three"));
      const answer = await deleteAll(registry);
      expect(answer).toEqual(dry);
      expect(answer).toMatchObject({ entitiesAffected: 2, entitiesDeleted: 1 });

      expect(await value(urn)).toMatchObject(described("one"));
      expect(await value(own)).toMatchObject(described("later version"));
      expect(await deleteAll(registry)).toMatchObject({ entitiesAffected: 0, aspectsReverted: 0 });
    });

    test("deletes what came into being with it where nothing shall be hidden", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await tellWith(registry, urn, described("mine"));
      await service.client.upsert(urn, "datasetProfile", profile(1_700_000_000_000, 1), {
        systemMetadata: { runId: runOf(), ...registry },
      });
      expect(await deleteAll(registry, { soft: false })).toMatchObject({ entitiesDeleted: 1 });
      expect(await exists(urn)).toBe(false);
      expect(await profiles(urn)).toEqual([]);
    });

    test("takes events away that were told with it", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await tell(runOf(), urn, "datasetProfile", profile(1_700_000_000_000, 1));
      for (const time of [1_700_000_000_000, 1_700_000_000_001]) {
        await service.client.upsert(urn, "datasetProfile", profile(time, 2), {
          systemMetadata: { runId: runOf(), ...registry },
        });
      }
      await deleteAll(registry);
      expect(await profiles(urn)).toEqual([[1_700_000_000_000, 1]]);
    });

    test("does not come back when a run that told later is undone", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await tellWith(undefined, urn, described("one"));
      await tellWith(registry, urn, described("two"));
      await deleteAll(registry);
      const later = await tellWith(undefined, urn, described("three"));
      await rollback(later);
      expect(await value(urn)).toMatchObject(described("one"));
    });

    test("does not come back when a run that had told on top of it is undone", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await tellWith(undefined, urn, described("one"));
      await tellWith(registry, urn, described("two"));
      const onTop = await tellWith(undefined, urn, described("three"));
      await deleteAll(registry);
      expect(await value(urn)).toMatchObject(described("three"));
      await rollback(onTop);
      expect(await value(urn)).toMatchObject(described("one"));
    });

    test("nor do its events", async () => {
      const [urn, registry, onTop] = [fresh(), registryOf(), runOf()];
      const time = 1_700_000_000_000;
      await tell(runOf(), urn, "datasetProfile", profile(time, 1));
      await service.client.upsert(urn, "datasetProfile", profile(time, 2), {
        systemMetadata: { runId: runOf(), ...registry },
      });
      await tell(onTop, urn, "datasetProfile", profile(time, 3));
      await deleteAll(registry);
      expect(await profiles(urn)).toEqual([[time, 3]]);
      await rollback(onTop);
      expect(await profiles(urn)).toEqual([[time, 1]]);
    });

    test("counts again when it is told again", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await tellWith(undefined, urn, described("one"));
      await tellWith(registry, urn, described("two"));
      await deleteAll(registry);
      await tellWith(registry, urn, described("two again"));
      const onTop = await tellWith(undefined, urn, described("three"));
      await rollback(onTop);
      expect(await value(urn)).toMatchObject(described("two again"));
    });

    test("takes what was told with it from the runs that told it, in lists and descriptions", async () => {
      const [urn, registry, other] = [fresh(), registryOf(), registryOf()];
      await tell(runOf(), urn, "status", { removed: false });
      const run = await tellWith(registry, urn, described("two"));
      const told = async () => {
        const listed = await action("list", { pageOffset: 0, pageSize: 1_000 });
        const rows = await action("describe", { runId: run, start: 0, count: 100 });
        return [listed.find((one: RunSummary) => one.runId === run)?.rows, rows.length];
      };
      expect(await told()).toEqual([1, 1]);
      await service.client.upsert(
        urn,
        "institutionalMemory",
        { elements: [] },
        {
          systemMetadata: { runId: run, ...other },
        },
      );
      expect(await told()).toEqual([2, 2]);
      await deleteAll(registry);
      expect(await told()).toEqual([1, 1]);
      await deleteAll(registry);
      await deleteAll(other);
      expect(await told()).toEqual([undefined, 0]);
    });

    test.each([":1", "name", "name:", ""])("is refused of %j, which names none", async (id) => {
      const path = "/entities?action=deleteAll";
      const { status, body } = await service.client.call("POST", path, { registryId: id });
      expect([status, body.code]).toEqual([400, "malformed"]);
    });
  });

  describe("runs", () => {
    test("are listed with what they told, until they are rolled back", async () => {
      const [urn, run] = [fresh(), runOf()];
      await tell(run, urn, "editableDatasetProperties", described("one"));
      const find = async (more = {}) =>
        (await action("list", { pageOffset: 0, pageSize: 1_000, ...more })).find(
          (one: { runId: string }) => one.runId === run,
        );
      // The key and the defaults came with it.
      const rows = (await action("describe", { runId: run, start: 0, count: 100 })).length;
      expect(await find()).toMatchObject({ rows, timestamp: expect.any(Number) });
      await rollback(run);
      expect(await find()).toBeUndefined();
      expect(await find({ includeSoft: true })).toMatchObject({ rows });
    });

    test("are listed without what they told of entities that were deleted since", async () => {
      const [gone, kept, run, later] = [fresh(), fresh(), runOf(), runOf()];
      const rowsOf = async (runId: string) => {
        const all = await action("list", { pageOffset: 0, pageSize: 1_000 });
        const listed = all.find((one: { runId: string }) => one.runId === runId)?.rows ?? 0;
        const rows = await action("describe", { runId, start: 0, count: 100 });
        expect(rows).toHaveLength(listed);
        return listed;
      };
      // With what is rolled back or hidden, but not with what is gone.
      const softRowsOf = async (runId: string) => {
        const soft = { includeSoft: true };
        const all = await action("list", { pageOffset: 0, pageSize: 1_000, ...soft });
        const listed = all.find((one: { runId: string }) => one.runId === runId)?.rows ?? 0;
        expect(await action("describe", { runId, start: 0, count: 100, ...soft })).toHaveLength(
          listed,
        );
        return listed;
      };
      const remove = async (urn: string) => {
        const { status } = await service.client.call("POST", "/entities?action=delete", { urn });
        expect(status).toBe(200);
      };
      for (const urn of [gone, kept]) {
        await tell(run, urn, "editableDatasetProperties", described("one"));
        await tell(run, urn, "editableDatasetProperties", described("one"));
        await tell(run, urn, "datasetProfile", profile(5, 6));
      }
      await tell(later, gone, "editableDatasetProperties", described("two"));
      const before = await rowsOf(run);
      expect(await rowsOf(later)).toBe(1);
      await remove(gone);
      expect([await rowsOf(run), await softRowsOf(run)]).toEqual([before / 2, before / 2]);
      expect([await rowsOf(later), await softRowsOf(later)]).toEqual([0, 0]);
      // It comes to be again, without what was told of it before.
      await tell(later, gone, "editableDatasetProperties", described("three"));
      await tell(later, gone, "datasetProfile", profile(7, 8));
      const again = await rowsOf(later);
      expect(again).toBeGreaterThan(2);
      expect(await rowsOf(run)).toBe(before / 2);
      await rollback(run);
      expect([await rowsOf(run), await softRowsOf(run)]).toEqual([0, before / 2]);
      await remove(gone);
      await remove(kept);
      expect([await rowsOf(run), await rowsOf(later)]).toEqual([0, 0]);
      expect([await softRowsOf(run), await softRowsOf(later)]).toEqual([0, 0]);
    });

    test("are described in their order, page by page, with values on request", async () => {
      const [urn, run] = [fresh(), runOf()];
      await tell(run, urn, "editableDatasetProperties", described("one"));
      await tell(run, urn, "editableDatasetProperties", described("one"));
      await tell(run, urn, "datasetProfile", profile(5, 6));
      const all = await action("describe", {
        runId: run,
        start: 0,
        count: 100,
        includeAspect: true,
      });
      expect(all[0]).toMatchObject({ urn, aspectName: "datasetKey", keyAspect: true, version: 1 });
      expect(all.at(-1)).toMatchObject({
        ...{ aspectName: "datasetProfile", keyAspect: false, metadata: "" },
        aspect: { type: "TIMESERIES", value: profile(5, 6) },
      });
      const told = all.filter((row: { aspectName: string }) =>
        row.aspectName.startsWith("editable"),
      );
      expect(told).toHaveLength(2);
      expect(told[1].aspect.value).toMatchObject(described("one"));
      expect(await action("describe", { runId: run, start: 1, count: 1 })).toMatchObject([
        { aspectName: all[1].aspectName },
      ]);
      await tell("hider", urn, "status", { removed: true });
      expect(await action("describe", { runId: run, start: 0, count: 100 })).toEqual([]);
      const soft = { runId: run, start: 0, count: 100, includeSoft: true };
      expect(await action("describe", soft)).toHaveLength(all.length);
    });
  });
});
