import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { position, START } from "../../src/core/position.ts";
import { checkElasticsearch } from "../../src/storage/elasticsearch/check.ts";
import type { ServerView } from "../../src/storage/view-origin.ts";
import { timeseriesAsker } from "../../src/views/timeseries/elasticsearch/documents.ts";
import { openElasticsearchTimeseriesSink } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-sink.ts";
import type {
  TimeseriesSink,
  TimeseriesWrite,
} from "../../src/views/timeseries/timeseries-table.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { addressOf, createElasticsearchPlace } from "./elasticsearch-place.ts";
import { openDumpedReader } from "./elasticsearch-timeseries.ts";

const urn = "urn:li:dataset:a";
const aspect = "datasetProfile";
const range = { urn, aspect };

const event = (at: number, more: object = {}): TimeseriesWrite => ({
  ...{ op: "event", ...range, entityType: "dataset", time: at, key: "", system: "{}" },
  ...{ value: String(at), position: position(at), ...more },
});

const truncate = (at: number, before: number): TimeseriesWrite => ({
  ...{ op: "truncate", entityType: "dataset", aspect, position: position(at), before },
  batchSize: 2,
});

/** On a busy machine the server needs time to create indexes. */
const time = { timeout: 120_000 };

for (const name of ["elasticsearch", "opensearch"] as const) {
  const store = await reachStore(name);
  // The test needs a server.
  describe.skipIf("skipped" in store)(`views on ${storeTitle(name, store)}`, time, () => {
    const createPlace = createElasticsearchPlace(
      "skipped" in store ? "" : addressOf(name, store.url),
      {
        openSink: openElasticsearchTimeseriesSink,
        openReader: openDumpedReader,
        change: async () => {},
      },
    );
    let place: Awaited<ReturnType<typeof createPlace>>;
    let reader: Awaited<ReturnType<typeof openDumpedReader>>;
    let sinks: TimeseriesSink[];

    beforeEach(async () => {
      place = await createPlace();
      reader = await place.openReader();
      sinks = [];
    });

    afterEach(async () => {
      for (const sink of sinks) await sink.close("discard");
      await reader.close();
      await place.remove();
    });

    async function open(origin: Partial<ServerView> = {}): Promise<TimeseriesSink> {
      const sink = await openElasticsearchTimeseriesSink({ ...place.place, ...origin });
      sinks.push(sink);
      return sink;
    }

    const write = (sink: TimeseriesSink, ...writes: readonly TimeseriesWrite[]) =>
      sink.apply(writes, writes.at(-1)?.position ?? START);

    const times = async () =>
      (await reader.list(range, { limit: 100, ascending: true })).map(({ time }) => time);

    async function indices(): Promise<readonly string[]> {
      const found = await place.client.indices.getAlias({ index: `${place.place.name}.*` });
      return Object.keys(found).sort();
    }

    async function tidied(sink: TimeseriesSink): Promise<void> {
      while (await sink.maintain?.());
    }

    test("a view is empty for readers before its first sink", async () => {
      expect(await reader.list(range, { limit: 1 })).toEqual([]);
      expect(await reader.count({ urn })).toBe(0);
      expect(await reader.findTruncation(position(1))).toBeUndefined();
      expect(await Array.fromAsync(reader.dump())).toEqual([]);
    });

    test("a sink detects a second projector, and its position", async () => {
      const [first, second] = [await open(), await open()];
      await write(first, event(1), event(2));
      const conflict = expect.objectContaining({ code: "conflict" });
      await expect(write(second, event(1))).rejects.toEqual(conflict);
      await expect(write(second, event(1), event(2), event(3))).rejects.toEqual(conflict);
      expect(await second.position()).toBe(2);
      await write(second, event(2), event(3));
      await expect(write(first, event(3))).rejects.toThrow("moved to position 3");
      expect(await first.position()).toBe(3);
      expect(await times()).toEqual([1, 2, 3]);
    });

    test("events that another projector truncated stay truncated", async () => {
      const [first, second] = [await open(), await open()];
      await write(first, event(1), event(2), event(3), event(4));
      expect(await second.position()).toBe(4);
      await write(first, truncate(5, 2), truncate(6, 4));
      expect(await times()).toEqual([4]);
      await expect(write(second, truncate(5, 2))).rejects.toThrow("by another projector");
      expect(await second.position()).toBe(6);
      expect(await times()).toEqual([4]);
      await tidied(second);
      expect(await times()).toEqual([4]);
      expect(await reader.findTruncation(position(6))).toMatchObject({ deleted: 2, done: true });
    });

    test("a view that was emptied reports that once, and is built from the start", async () => {
      const sink = await open();
      await write(sink, event(1), event(2));
      await place.client.indices.delete({ index: [...(await indices())] });
      await expect(write(sink, event(3))).rejects.toMatchObject({ code: "conflict" });
      expect(await sink.position()).toBe(START);
      await write(sink, event(1), event(2), event(3));
      expect(await times()).toEqual([1, 2, 3]);
    });

    test.each(["while it is open", "while it is closed"])(
      "a view that lost an index %s is built from the start",
      async (when) => {
        let sink = await open();
        await write(sink, event(1), event(2, { aspect: "operation" }));
        const [lost = ""] = (await indices()).filter((one) => one.includes("profile"));
        await place.client.indices.delete({ index: lost });
        if (when === "while it is open") {
          await expect(write(sink, event(3))).rejects.toMatchObject({ code: "conflict" });
        } else {
          sink = await open();
        }
        expect(await sink.position()).toBe(START);
        expect(await reader.count({ urn })).toBe(0);
        await write(sink, event(1), event(2, { aspect: "operation" }), event(3));
        expect(await times()).toEqual([1, 3]);
      },
    );

    test("a staging generation is built next to the live one, and replaces it at once", async () => {
      const sink = await open();
      await write(sink, event(1), event(2));
      const staging = await open({ bulk: true, log: { id: "log", head: position(9) } });
      await write(staging, event(1), event(2, { value: "new" }), event(3), event(4));
      await write(staging, truncate(5, 2));
      expect(await staging.position()).toBe(5);
      expect(await times()).toEqual([1, 2]);
      await staging.close("keep");
      expect(await times()).toEqual([2, 3, 4]);
      const [{ value } = {}] = await reader.list({ ...range, to: 2 }, { limit: 1 });
      expect(value).toBe("new");
      await expect(write(sink, event(3))).rejects.toMatchObject({ code: "conflict" });
      expect(await sink.position()).toBe(5);
      expect(await indices()).toEqual([
        `${place.place.name}.timeseries.g2.dataset.dataset_profile`,
        `${place.place.name}.views.1`,
      ]);
      await tidied(sink);
      expect(await reader.findTruncation(position(5))).toMatchObject({ deleted: 1, done: true });
    });

    test("reads during a swap of generations have no error and no gap", async () => {
      const writes = Array.from({ length: 50 }, (_, n) => event(n + 1));
      await write(await open(), ...writes);
      let done = false;
      let reads = 0;
      async function readOn(): Promise<void> {
        for (; !done; reads++) {
          expect(await reader.count({ urn })).toBe(50);
          expect(await times()).toHaveLength(50);
        }
      }
      async function swap(): Promise<void> {
        for (let n = 0; n < 3; n++) {
          const staging = await open({ bulk: true });
          await write(staging, ...writes);
          await staging.close("keep");
        }
        done = true;
      }
      await Promise.all([swap().finally(() => (done = true)), readOn(), readOn()]);
      expect(reads).toBeGreaterThan(3);
    });

    test("discarded and unfinished generations leave nothing behind", async () => {
      await write(await open(), event(1));
      const before = await indices();
      const discarded = await open({ bulk: true });
      await write(discarded, event(7));
      await discarded.close("discard");
      expect(await indices()).toEqual(before);
      const died = await open({ bulk: true });
      await write(died, event(8));
      expect(await indices()).not.toEqual(before);
      await (await open({ bulk: true })).close("discard");
      expect(await indices()).toEqual(before);
      await expect(write(died, event(9))).rejects.toThrow("dropped during its build");
      expect(await times()).toEqual([1]);
    });

    test("a rebuild replaces a view that covers records beyond the end of the log", async () => {
      await write(await open(), event(1), event(2), event(3));
      const staging = await open({ bulk: true });
      await write(staging, event(1));
      const conflict = { code: "conflict" };
      await expect(staging.publish?.(position(3))).rejects.toMatchObject(conflict);
      await staging.publish?.(position(1));
      await staging.close("keep");
      expect(await times()).toEqual([1]);
    });

    test("a view whose swap was interrupted is read as its metadata says", async () => {
      const sink = await open();
      await write(sink, event(1));
      const staging = await open({ bulk: true });
      await write(staging, event(2));
      const live = `${place.place.name}.timeseries.live.dataset.dataset_profile`;
      const index = (generation: number) => live.replace("live", `g${generation}`);
      await place.client.indices.refresh({ index: index(2) });
      await place.client.indices.updateAliases({
        actions: [
          { remove: { index: index(1), alias: live } },
          { add: { index: index(2), alias: live } },
        ],
      });
      expect(await times()).toEqual([2]);
      expect(await (await open()).position()).toBe(1);
      expect(await times()).toEqual([1]);
    });

    test("a view of another model or log is emptied, unless that log ends before the view", async () => {
      const log = { id: "a", head: position(9) };
      const emptied: string[] = [];
      const onEmptied = (why: string) => emptied.push(why);
      const openAs = async (origin: Partial<ServerView>) =>
        (await open({ model: "m", log, onEmptied, ...origin })).position();
      await write(await open({ model: "m", log }), event(1), event(2));
      expect(await openAs({})).toBe(2);
      expect(await openAs({ log: { id: "b", head: position(1) } })).toBe(2);
      expect(await times()).toEqual([1, 2]);
      expect(emptied).toEqual([]);
      expect(await openAs({ log: { id: "b", head: position(5) } })).toBe(START);
      expect(await times()).toEqual([]);
      const again = await open({ model: "m", log: { id: "b", head: position(5) } });
      await write(again, event(1));
      expect(await openAs({ model: "n", log: { id: "b", head: position(5) } })).toBe(START);
      expect(emptied).toEqual(["another log", "another model"]);
    });

    test("a view of another model is kept on request until a rebuild replaces it", async () => {
      const openAs = (model: string, notified: unknown[] = [], bulk = false) =>
        open({
          ...{ model, bulk, log: { id: "a", head: position(9) } },
          onStale: (stale: boolean) => void notified.push(stale),
          onEmptied: (why: string) => void notified.push(why),
        });
      const first = await openAs("m1");
      await write(first, event(1));
      const notified: unknown[] = [];
      const second = await openAs("m2", notified);
      expect([await second.position(), new Set(notified)]).toEqual([1, new Set([true])]);
      // The process with the first model continues to project.
      await write(first, event(2));
      const rebuilt = await openAs("m2", [], true);
      await write(rebuilt, event(1), event(2));
      await rebuilt.close("keep");
      expect(await times()).toEqual([1, 2]);
      await expect(write(first, event(3))).rejects.toMatchObject({ code: "conflict" });
      await expect(write(second, event(3))).rejects.toMatchObject({ code: "conflict" });
      expect([await second.position(), notified.at(-1)]).toEqual([2, false]);
      expect([await first.position(), await (await openAs("m1", notified)).position()]).toEqual([
        2, 2,
      ]);
      expect(notified.at(-1)).toBe(true);
      // A view with records projected by both models belongs to neither.
      await write(first, event(3));
      for (const model of ["m1", "m2"]) {
        const again: unknown[] = [];
        expect(await (await openAs(model, again)).position()).toBe(3);
        expect(again.at(-1)).toBe(true);
      }
    });

    test("a view of another release is rejected, and can be rebuilt", async () => {
      await write(await open(), event(1));
      await place.client.update({
        ...{ index: `${place.place.name}.views`, id: "timeseries", doc: { version: 99 } },
      });
      await expect(open()).rejects.toThrow("built by a newer release");
      await expect(reader.list(range, { limit: 1 })).rejects.toThrow("built by a newer release");
      const staging = await open({ bulk: true });
      await write(staging, event(2));
      await staging.close("keep");
      expect(await times()).toEqual([2]);
    });

    test("events with very long keys are distinguished", async () => {
      const key = "k".repeat(40_000);
      const events = ["", "a", "b"].map((end, n) => event(n + 1, { time: 0, key: key + end }));
      await write(await open(), ...events, event(4, { time: 0, key: `${key}a` }));
      const rows = await Array.fromAsync(reader.dump());
      expect(new Set(rows.map((row) => row.key))).toEqual(new Set([key, `${key}a`, `${key}b`]));
      expect(rows.find((row) => row.key === `${key}a`)?.position).toBe(4);
    });

    test("the error of a view that is read-only names the fix", async () => {
      const sink = await open();
      await write(sink, event(1));
      const index = `${place.place.name}.timeseries.g1.dataset.dataset_profile`;
      await place.client.indices.putSettings({ index, settings: { "blocks.write": true } });
      const blocked = { code: "unavailable", hint: expect.stringContaining("read-only") };
      await expect(write(sink, event(2))).rejects.toMatchObject(blocked);
      await place.client.indices.putSettings({ index, settings: { "blocks.write": null } });
      expect(await sink.position()).toBe(1);
      await write(sink, event(2));
      expect(await times()).toEqual([1, 2]);
    });

    test("a view can be checked", async () => {
      const { version, findings } = await checkElasticsearch(place.place, timeseriesAsker);
      expect(version).toMatch(/^(elasticsearch|opensearch) \d+\.\d+/);
      expect(findings).toEqual([]);
      expect(await indices()).toEqual([]);
    });

    test("truncations run as tasks of the server, where it has them", async () => {
      const sink = await open();
      await write(sink, ...[1, 2, 3, 4, 5].map((at) => event(at)), truncate(6, 5));
      await tidied(sink);
      const { task } = (await reader.findTruncation(position(6))) ?? {};
      expect(await reader.findTask("nobody:1")).toBeUndefined();
      if (name === "elasticsearch") {
        expect(task).toBeUndefined();
        return;
      }
      const found = await reader.findTask(task ?? "");
      expect(found).toMatchObject({ id: task, completed: true, deleted: 4 });
      expect(JSON.parse(found?.status ?? "")).toMatchObject({ total: 4, deleted: 4, batches: 2 });
    });

    test("a truncation whose task was lost is done by another task", async () => {
      const sink = await open();
      await write(sink, event(1), event(2), truncate(3, 2));
      await sink.maintain?.();
      const index = `${place.place.name}.views`;
      const { _source } = await place.client.get<{ kept: { truncations: object[] } }>({
        ...{ index, id: "timeseries" },
      });
      const lost = _source?.kept.truncations.map((one) => ({
        ...{ ...one, task: "AAAAAAAAAAAAAAAAAAAAAA:7", done: false },
      }));
      await place.client.update({
        ...{ index, id: "timeseries", doc: { kept: { truncations: lost }, writer: "a test" } },
      });
      expect(await sink.position()).toBe(3);
      await tidied(sink);
      expect(await reader.findTruncation(position(3))).toMatchObject({ done: true });
      expect(await times()).toEqual([2]);
    });
  });
}
