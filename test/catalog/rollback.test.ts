/** Runs and their rollback, at a real service. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunSummary } from "../../src/catalog/catalog.ts";
import { encoded } from "../support/client.ts";
import type { RunningService } from "../support/running-service.ts";
import { serviceOnLog, startedLogs } from "../support/started-logs.ts";

let service: RunningService;

let serial = 0;
const fresh = (): string => `urn:li:dataset:(urn:li:dataPlatform:hive,rolled.t${++serial},PROD)`;
const runOf = (): string => `run-${++serial}`;

/** A run writes a value. */
async function writeAs(runId: string, urn: string, aspect: string, value: unknown): Promise<void> {
  const systemMetadata = { runId, lastObserved: 1_700_000_000_000 + serial++ };
  const reply = await service.client.upsert(urn, aspect, value, { systemMetadata });
  expect(reply.body).toEqual({ value: "success" });
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

describe.each(startedLogs)("on the %s log,", (_, startLog) => {
  beforeAll(async () => {
    service = await serviceOnLog(startLog);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  describe("a rollback", () => {
    test("a rollback restores the value of an earlier run as a new version with that run's id", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await writeAs(first, urn, "editableDatasetProperties", described("one"));
      await writeAs(second, urn, "editableDatasetProperties", described("two"));
      await writeAs(second, urn, "editableDatasetProperties", described("three"));

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

    test("a rollback keeps the values that other runs wrote later", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await writeAs(first, urn, "editableDatasetProperties", described("one"));
      await writeAs(first, urn, "browsePathsV2", { path: [{ id: "elsewhere" }] });
      await writeAs(second, urn, "editableDatasetProperties", described("two"));
      await writeAs(first, urn, "status", { removed: false });

      expect(await rollback(first)).toMatchObject({
        unsafeEntities: [{ urn }],
        entitiesDeleted: 0,
      });

      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("two"));
      expect(await aspectOf(urn, "status")).toBeUndefined();
      expect(await exists(urn)).toBe(true);
      // The path is the default one, as for a first write without a path.
      expect(await aspectOf(urn, "browsePathsV2")).toEqual({ path: [{ id: "rolled" }] });
      expect(await aspectOf(urn, "dataPlatformInstance")).toBeDefined();
    });

    test("a rollback keeps a value that another run confirmed", async () => {
      const [urn, first, second, third] = [fresh(), runOf(), runOf(), runOf()];
      await writeAs(first, urn, "editableDatasetProperties", described("same"));
      await writeAs(second, urn, "editableDatasetProperties", described("same"));
      await rollback(first);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("same"));

      await writeAs(third, urn, "editableDatasetProperties", described("other"));
      await rollback(third);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("same"));
      expect(await runIdOf(urn, "editableDatasetProperties")).toBe(second);

      await rollback(second);
      expect(await aspectOf(urn, "editableDatasetProperties")).toBeUndefined();
    });

    test("a rollback does not restore a value that was rolled back earlier", async () => {
      const [urn, first, second, third] = [fresh(), runOf(), runOf(), runOf()];
      await writeAs(first, urn, "editableDatasetProperties", described("one"));
      await writeAs(second, urn, "editableDatasetProperties", described("two"));
      await writeAs(third, urn, "editableDatasetProperties", described("three"));
      await rollback(second);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("three"));
      await rollback(third);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("one"));
    });

    test("a rollback soft-deletes an entity without other runs, and a hard rollback deletes it", async () => {
      const [urn, run] = [fresh(), runOf()];
      await writeAs(run, urn, "status", { removed: false });
      await writeAs(run, urn, "datasetProperties", { ...described("mine"), customProperties: {} });
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

    test("a hard delete removes and counts the aspects that other runs wrote", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await writeAs(first, urn, "status", { removed: false });
      await writeAs(second, urn, "editableDatasetProperties", described("theirs"));
      const counts = { unsafeEntitiesCount: 1, unsafeEntities: [{ urn }], aspectsAffected: 1 };
      expect(await rollback(first, { dryRun: true, hardDelete: true })).toMatchObject(counts);
      expect(await rollback(first, { hardDelete: true })).toMatchObject(counts);
      expect(await exists(urn)).toBe(false);
    });

    test("a repeated rollback changes nothing until the run writes again", async () => {
      const [urn, run] = [fresh(), runOf()];
      await writeAs(run, urn, "editableDatasetProperties", described("one"));
      await rollback(run);
      const again = await rollback(run);
      expect(again).toMatchObject({ entitiesAffected: 0, aspectsReverted: 0 });
      await writeAs(run, urn, "editableDatasetProperties", described("again"));
      expect(await rollback(run)).toMatchObject({ aspectsReverted: 1 });
      expect(await aspectOf(urn, "editableDatasetProperties")).toBeUndefined();
    });

    test("a rollback hides an entity again that an earlier rollback hid and another one deleted", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await writeAs(first, urn, "editableDatasetProperties", described("one"));
      await rollback(first);
      await rollback(first, { hardDelete: true });
      await writeAs(second, urn, "editableDatasetProperties", described("two"));
      expect(await rollback(second)).toMatchObject({ entitiesDeleted: 1 });
      expect(await aspectOf(urn, "status")).toEqual({ removed: true });
      expect(await exists(urn)).toBe(false);
    });

    test("a rollback restores an entity that the run deleted", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await writeAs(first, urn, "editableDatasetProperties", described("one"));
      const deletion = { changeType: "DELETE", systemMetadata: { runId: second } };
      await service.client.upsert(urn, "datasetKey", {}, deletion);
      expect(await exists(urn)).toBe(false);
      await rollback(second);
      expect(await exists(urn)).toBe(true);
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("one"));
      await rollback(first, { hardDelete: true });
      expect(await aspectOf(urn, "datasetKey")).toBeUndefined();
    });

    test("a rollback removes the events of the run and restores the events that they replaced", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await writeAs(first, urn, "datasetProfile", profile(1_000, 1));
      await writeAs(first, urn, "datasetProfile", profile(3_000, 3));
      await writeAs(second, urn, "datasetProfile", profile(2_000, 20));
      await writeAs(second, urn, "datasetProfile", profile(3_000, 30));
      await writeAs(second, urn, "datasetProfile", profile(4_000, 40));

      const answer = await rollback(second);
      expect(answer).toMatchObject({ aspectsReverted: 3, entitiesAffected: 1 });
      expect(await profiles(urn)).toEqual([
        [3_000, 3],
        [1_000, 1],
      ]);
      await rollback(first);
      expect(await profiles(urn)).toEqual([]);
    });

    test("a rollback holds after a restart", async () => {
      const [urn, first, second] = [fresh(), runOf(), runOf()];
      await writeAs(first, urn, "editableDatasetProperties", described("one"));
      await writeAs(second, urn, "editableDatasetProperties", described("two"));
      await writeAs(second, urn, "datasetProfile", profile(1_000, 1));
      await rollback(second);
      await service.restart();
      expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("one"));
      expect(await profiles(urn)).toEqual([]);
      expect(await rollback(second)).toMatchObject({ aspectsReverted: 0 });
    });

    test("a rollback keeps concurrent writes of other runs", async () => {
      const urns = Array.from({ length: 40 }, fresh);
      const [first, second] = [runOf(), runOf()];
      for (const urn of urns) await writeAs(first, urn, "status", { removed: false });
      for (const urn of urns) await writeAs(first, urn, "globalTags", { tags: [] });
      const rolling = rollback(first);
      const writing = urns.map(async (urn) => {
        for (const text of ["one", "two", "three"]) {
          await writeAs(second, urn, "editableDatasetProperties", described(text));
        }
      });
      await Promise.all([rolling, ...writing]);
      for (const urn of urns) {
        expect(await aspectOf(urn, "editableDatasetProperties")).toMatchObject(described("three"));
        expect(await aspectOf(urn, "globalTags")).toBeUndefined();
        expect(await aspectOf(urn, "datasetKey")).toBeDefined();
      }
    });

    test("a rollback sets the status of the run's execution request", async () => {
      const [urn, run] = [fresh(), runOf()];
      const execution = `urn:li:dataHubExecutionRequest:${run}`;
      await writeAs("other", execution, "dataHubExecutionRequestResult", { status: "SUCCESS" });
      await writeAs(run, urn, "status", { removed: false });
      await rollback(run);
      expect(await aspectOf(execution, "dataHubExecutionRequestResult")).toMatchObject({
        status: "ROLLED_BACK",
      });
    });

    test("a write without a run id is listed under no run", async () => {
      const urn = fresh();
      await writeAs("", urn, "status", { removed: false });
      expect(await runIdOf(urn, "status")).toBe("no-run-id-provided");
      const runs: readonly RunSummary[] = await action("list", { pageOffset: 0, pageSize: 1_000 });
      expect(runs.map(({ runId }) => runId)).not.toContain("");
    });

    test("a rollback of no single run is rejected, and one of an unknown run changes nothing", async () => {
      const rejected = await service.client.call("POST", "/runs?action=rollback", {
        ...{ runId: "no-run-id-provided", dryRun: true },
      });
      expect([rejected.status, rejected.body.code]).toEqual([400, "malformed"]);
      // DataHub's clients may send unknown parameters.
      const misspelt = await service.client.call(
        "POST",
        "/runs?action=rollback",
        { runId: "never", dryrun: true },
        { "X-RestLi-Protocol-Version": "2.0.0" },
      );
      expect(misspelt).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining("Parameter 'dryRun' is required") },
      });
      expect(await rollback("never", { dryRun: true })).toEqual({
        ...{ entitiesAffected: 0, entitiesDeleted: 0, aspectsReverted: 0, aspectsAffected: 0 },
        ...{ unsafeEntitiesCount: 0, aspectRowSummaries: [], unsafeEntities: [] },
      });
    });
  });

  describe("deleting the writes of a model registry", () => {
    const registryOf = () => ({ registryName: `quality-${++serial}`, registryVersion: "0.0.1" });
    type Registry = ReturnType<typeof registryOf>;

    async function writeWith(registry: Registry | undefined, urn: string, value: unknown) {
      const systemMetadata = { runId: runOf(), lastObserved: 1_700_000_000_000, ...registry };
      const aspect = "editableDatasetProperties";
      const reply = await service.client.upsert(urn, aspect, value, { systemMetadata });
      expect(reply.body).toEqual({ value: "success" });
      return systemMetadata.runId;
    }
    async function deleteAll({ registryName, registryVersion }: Registry, more: object = {}) {
      const registryId = `${registryName}:${registryVersion}`;
      const path = "/entities?action=deleteAll";
      const { status, body } = await service.client.call("POST", path, { registryId, ...more });
      expect([status, body]).toEqual([200, { value: expect.anything() }]);
      return body.value;
    }
    const value = (urn: string) => aspectOf(urn, "editableDatasetProperties");

    test("the delete restores values without the registry, whatever their runs, and its dry run returns the same counts", async () => {
      const [urn, own, registry] = [fresh(), fresh(), registryOf()];
      await writeWith(undefined, urn, described("one"));
      await writeWith(registry, urn, described("two"));
      await writeWith(registry, urn, described("three"));
      await writeWith({ ...registry, registryVersion: "0.0.2" }, own, described("later version"));
      await writeWith(registry, fresh(), described("brought into being"));

      const dry = await deleteAll(registry, { dryRun: true });
      expect(await value(urn)).toMatchObject(described("three"));
      const answer = await deleteAll(registry);
      expect(answer).toEqual(dry);
      expect(answer).toMatchObject({ entitiesAffected: 2, entitiesDeleted: 1 });

      expect(await value(urn)).toMatchObject(described("one"));
      expect(await value(own)).toMatchObject(described("later version"));
      expect(await deleteAll(registry)).toMatchObject({ entitiesAffected: 0, aspectsReverted: 0 });
    });

    test("a hard delete removes the entities that the registry created", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await writeWith(registry, urn, described("mine"));
      await service.client.upsert(urn, "datasetProfile", profile(1_700_000_000_000, 1), {
        systemMetadata: { runId: runOf(), ...registry },
      });
      expect(await deleteAll(registry, { soft: false })).toMatchObject({ entitiesDeleted: 1 });
      expect(await exists(urn)).toBe(false);
      expect(await profiles(urn)).toEqual([]);
    });

    test("the delete removes the events of the registry", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await writeAs(runOf(), urn, "datasetProfile", profile(1_700_000_000_000, 1));
      for (const time of [1_700_000_000_000, 1_700_000_000_001]) {
        await service.client.upsert(urn, "datasetProfile", profile(time, 2), {
          systemMetadata: { runId: runOf(), ...registry },
        });
      }
      await deleteAll(registry);
      expect(await profiles(urn)).toEqual([[1_700_000_000_000, 1]]);
    });

    test("the deleted value does not return after a rollback of a later run", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await writeWith(undefined, urn, described("one"));
      await writeWith(registry, urn, described("two"));
      await deleteAll(registry);
      const later = await writeWith(undefined, urn, described("three"));
      await rollback(later);
      expect(await value(urn)).toMatchObject(described("one"));
    });

    test("the deleted value does not return after a rollback of a run that wrote after the registry", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await writeWith(undefined, urn, described("one"));
      await writeWith(registry, urn, described("two"));
      const onTop = await writeWith(undefined, urn, described("three"));
      await deleteAll(registry);
      expect(await value(urn)).toMatchObject(described("three"));
      await rollback(onTop);
      expect(await value(urn)).toMatchObject(described("one"));
    });

    test("the deleted events do not return after a rollback of a later run", async () => {
      const [urn, registry, onTop] = [fresh(), registryOf(), runOf()];
      const time = 1_700_000_000_000;
      await writeAs(runOf(), urn, "datasetProfile", profile(time, 1));
      await service.client.upsert(urn, "datasetProfile", profile(time, 2), {
        systemMetadata: { runId: runOf(), ...registry },
      });
      await writeAs(onTop, urn, "datasetProfile", profile(time, 3));
      await deleteAll(registry);
      expect(await profiles(urn)).toEqual([[time, 3]]);
      await rollback(onTop);
      expect(await profiles(urn)).toEqual([[time, 1]]);
    });

    test("a value that the registry writes again is kept", async () => {
      const [urn, registry] = [fresh(), registryOf()];
      await writeWith(undefined, urn, described("one"));
      await writeWith(registry, urn, described("two"));
      await deleteAll(registry);
      await writeWith(registry, urn, described("two again"));
      const onTop = await writeWith(undefined, urn, described("three"));
      await rollback(onTop);
      expect(await value(urn)).toMatchObject(described("two again"));
    });

    test("the deleted values are omitted from the lists and descriptions of runs", async () => {
      const [urn, registry, other] = [fresh(), registryOf(), registryOf()];
      await writeAs(runOf(), urn, "status", { removed: false });
      const run = await writeWith(registry, urn, described("two"));
      const rowCounts = async () => {
        const listed = await action("list", { pageOffset: 0, pageSize: 1_000 });
        const rows = await action("describe", { runId: run, start: 0, count: 100 });
        return [listed.find((one: RunSummary) => one.runId === run)?.rows, rows.length];
      };
      expect(await rowCounts()).toEqual([1, 1]);
      await service.client.upsert(
        urn,
        "institutionalMemory",
        { elements: [] },
        {
          systemMetadata: { runId: run, ...other },
        },
      );
      expect(await rowCounts()).toEqual([2, 2]);
      await deleteAll(registry);
      expect(await rowCounts()).toEqual([1, 1]);
      await deleteAll(registry);
      await deleteAll(other);
      expect(await rowCounts()).toEqual([undefined, 0]);
    });

    test.each([":1", "name", "name:", ""])(
      "a delete of registry %j, which is no registry id, is rejected",
      async (id) => {
        const path = "/entities?action=deleteAll";
        const { status, body } = await service.client.call("POST", path, { registryId: id });
        expect([status, body.code]).toEqual([400, "malformed"]);
      },
    );
  });

  describe("runs", () => {
    test("a run is listed with its number of rows until its rollback", async () => {
      const [urn, run] = [fresh(), runOf()];
      await writeAs(run, urn, "editableDatasetProperties", described("one"));
      const find = async (more = {}) =>
        (await action("list", { pageOffset: 0, pageSize: 1_000, ...more })).find(
          (one: { runId: string }) => one.runId === run,
        );
      // The write of the run added the key aspect and the default aspects.
      const rows = (await action("describe", { runId: run, start: 0, count: 100 })).length;
      expect(await find()).toMatchObject({ rows, timestamp: expect.any(Number) });
      await rollback(run);
      expect(await find()).toBeUndefined();
      expect(await find({ includeSoft: true })).toMatchObject({ rows });
    });

    test("a listed run omits the rows of entities that were deleted later", async () => {
      const [gone, kept, run, later] = [fresh(), fresh(), runOf(), runOf()];
      const rowsOf = async (runId: string) => {
        const all = await action("list", { pageOffset: 0, pageSize: 1_000 });
        const listed = all.find((one: { runId: string }) => one.runId === runId)?.rows ?? 0;
        const rows = await action("describe", { runId, start: 0, count: 100 });
        expect(rows).toHaveLength(listed);
        return listed;
      };
      // Includes rolled-back and soft-deleted rows, but not hard-deleted ones.
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
        await writeAs(run, urn, "editableDatasetProperties", described("one"));
        await writeAs(run, urn, "editableDatasetProperties", described("one"));
        await writeAs(run, urn, "datasetProfile", profile(5, 6));
      }
      await writeAs(later, gone, "editableDatasetProperties", described("two"));
      const before = await rowsOf(run);
      expect(await rowsOf(later)).toBe(1);
      await remove(gone);
      expect([await rowsOf(run), await softRowsOf(run)]).toEqual([before / 2, before / 2]);
      expect([await rowsOf(later), await softRowsOf(later)]).toEqual([0, 0]);
      // The entity is created again, without its earlier aspects.
      await writeAs(later, gone, "editableDatasetProperties", described("three"));
      await writeAs(later, gone, "datasetProfile", profile(7, 8));
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

    test("a run is described in write order, page by page, with values on request", async () => {
      const [urn, run] = [fresh(), runOf()];
      await writeAs(run, urn, "editableDatasetProperties", described("one"));
      await writeAs(run, urn, "editableDatasetProperties", described("one"));
      await writeAs(run, urn, "datasetProfile", profile(5, 6));
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
      const edits = all.filter((row: { aspectName: string }) =>
        row.aspectName.startsWith("editable"),
      );
      expect(edits).toHaveLength(2);
      expect(edits[1].aspect.value).toMatchObject(described("one"));
      expect(await action("describe", { runId: run, start: 1, count: 1 })).toMatchObject([
        { aspectName: all[1].aspectName },
      ]);
      await writeAs("hider", urn, "status", { removed: true });
      expect(await action("describe", { runId: run, start: 0, count: 100 })).toEqual([]);
      const soft = { runId: run, start: 0, count: 100, includeSoft: true };
      expect(await action("describe", soft)).toHaveLength(all.length);
    });
  });
});
