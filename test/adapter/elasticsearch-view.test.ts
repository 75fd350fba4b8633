import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { position, START } from "../../src/core/position.ts";
import { checkElasticsearch } from "../../src/storage/elasticsearch/check.ts";
import type { ServerView } from "../../src/storage/view-origin.ts";
import { timeseriesAsker } from "../../src/views/timeseries/elasticsearch/documents.ts";
import {
  type ElasticsearchTimeseriesReader,
  openElasticsearchTimeseriesReader,
} from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-reader.ts";
import { openElasticsearchTimeseriesSink } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-sink.ts";
import type {
  TimeseriesSink,
  TimeseriesWrite,
} from "../../src/views/timeseries/timeseries-table.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { addressOf, createElasticsearchPlace } from "./elasticsearch-place.ts";

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

/** Indices take a while to be made on a busy machine. */
const time = { timeout: 120_000 };

for (const name of ["elasticsearch", "opensearch"] as const) {
  const store = await reachStore(name);
  // There is nothing to test without a server.
  describe.skipIf("skipped" in store)(`views on ${storeTitle(name, store)}`, time, () => {
    const createPlace = createElasticsearchPlace(
      "skipped" in store ? "" : addressOf(name, store.url),
      {
        openSink: openElasticsearchTimeseriesSink,
        openReader: openElasticsearchTimeseriesReader,
        change: async () => {},
      },
    );
    let place: Awaited<ReturnType<typeof createPlace>>;
    let reader: ElasticsearchTimeseriesReader;
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

    const tell = (sink: TimeseriesSink, ...writes: readonly TimeseriesWrite[]) =>
      sink.apply(writes, writes.at(-1)?.position ?? START);

    const times = async () =>
      (await reader.list(range, { limit: 100, ascending: true })).map(({ time }) => time);

    async function indices(): Promise<readonly string[]> {
      const found = await place.client.indices.getAlias({ index: `${place.place.name}.*` });
      return Object.keys(found).sort();
    }

    async function tidied(sink: TimeseriesSink): Promise<void> {
      while (await sink.tidy?.());
    }

    test("are empty to a reader that comes before them", async () => {
      expect(await reader.list(range, { limit: 1 })).toEqual([]);
      expect(await reader.count({ urn })).toBe(0);
      expect(await reader.findTruncation(position(1))).toBeUndefined();
      expect(await Array.fromAsync(reader.dump())).toEqual([]);
    });

    test("learn of a second projector, and where it is", async () => {
      const [first, second] = [await open(), await open()];
      await tell(first, event(1), event(2));
      const conflict = expect.objectContaining({ code: "conflict" });
      await expect(tell(second, event(1))).rejects.toEqual(conflict);
      await expect(tell(second, event(1), event(2), event(3))).rejects.toEqual(conflict);
      expect(await second.position()).toBe(2);
      await tell(second, event(2), event(3));
      await expect(tell(first, event(3))).rejects.toThrow("moved to position 3");
      expect(await first.position()).toBe(3);
      expect(await times()).toEqual([1, 2, 3]);
    });

    test("that another projector truncated stay truncated", async () => {
      const [first, second] = [await open(), await open()];
      await tell(first, event(1), event(2), event(3), event(4));
      expect(await second.position()).toBe(4);
      await tell(first, truncate(5, 2), truncate(6, 4));
      expect(await times()).toEqual([4]);
      await expect(tell(second, truncate(5, 2))).rejects.toThrow("by another projector");
      expect(await second.position()).toBe(6);
      expect(await times()).toEqual([4]);
      await tidied(second);
      expect(await times()).toEqual([4]);
      expect(await reader.findTruncation(position(6))).toMatchObject({ deleted: 2, done: true });
    });

    test("that came back empty say so once, and begin anew", async () => {
      const sink = await open();
      await tell(sink, event(1), event(2));
      await place.client.indices.delete({ index: [...(await indices())] });
      await expect(tell(sink, event(3))).rejects.toMatchObject({ code: "conflict" });
      expect(await sink.position()).toBe(START);
      await tell(sink, event(1), event(2), event(3));
      expect(await times()).toEqual([1, 2, 3]);
    });

    test.each(["while it is open", "while it is closed"])(
      "that lost an index %s begin anew",
      async (when) => {
        let sink = await open();
        await tell(sink, event(1), event(2, { aspect: "operation" }));
        const [lost = ""] = (await indices()).filter((one) => one.includes("profile"));
        await place.client.indices.delete({ index: lost });
        if (when === "while it is open") {
          await expect(tell(sink, event(3))).rejects.toMatchObject({ code: "conflict" });
        } else {
          sink = await open();
        }
        expect(await sink.position()).toBe(START);
        expect(await reader.count({ urn })).toBe(0);
        await tell(sink, event(1), event(2, { aspect: "operation" }), event(3));
        expect(await times()).toEqual([1, 3]);
      },
    );

    test("are regrown beside those that are read, and take their place at once", async () => {
      const sink = await open();
      await tell(sink, event(1), event(2));
      const growing = await open({ bulk: true, log: { id: "log", head: position(9) } });
      await tell(growing, event(1), event(2, { value: "new" }), event(3), event(4));
      await tell(growing, truncate(5, 2));
      expect(await growing.position()).toBe(5);
      expect(await times()).toEqual([1, 2]);
      await growing.close("keep");
      expect(await times()).toEqual([2, 3, 4]);
      const [{ value } = {}] = await reader.list({ ...range, to: 2 }, { limit: 1 });
      expect(value).toBe("new");
      await expect(tell(sink, event(3))).rejects.toMatchObject({ code: "conflict" });
      expect(await sink.position()).toBe(5);
      expect(await indices()).toEqual([
        `${place.place.name}.timeseries.g2.dataset.dataset_profile`,
        `${place.place.name}.views.1`,
      ]);
      await tidied(sink);
      expect(await reader.findTruncation(position(5))).toMatchObject({ deleted: 1, done: true });
    });

    test("are read without an error or a gap while they are swapped", async () => {
      const writes = Array.from({ length: 50 }, (_, n) => event(n + 1));
      await tell(await open(), ...writes);
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
          const growing = await open({ bulk: true });
          await tell(growing, ...writes);
          await growing.close("keep");
        }
        done = true;
      }
      await Promise.all([swap().finally(() => (done = true)), readOn(), readOn()]);
      expect(reads).toBeGreaterThan(3);
    });

    test("that are discarded, or were left half grown, leave nothing behind", async () => {
      await tell(await open(), event(1));
      const before = await indices();
      const discarded = await open({ bulk: true });
      await tell(discarded, event(7));
      await discarded.close("discard");
      expect(await indices()).toEqual(before);
      const died = await open({ bulk: true });
      await tell(died, event(8));
      expect(await indices()).not.toEqual(before);
      await (await open({ bulk: true })).close("discard");
      expect(await indices()).toEqual(before);
      await expect(tell(died, event(9))).rejects.toThrow("dropped while it grew");
      expect(await times()).toEqual([1]);
    });

    test("replace a view that covers records beyond the end of the log", async () => {
      await tell(await open(), event(1), event(2), event(3));
      const growing = await open({ bulk: true });
      await tell(growing, event(1));
      const conflict = { code: "conflict" };
      await expect(growing.publish?.(position(3))).rejects.toMatchObject(conflict);
      await growing.publish?.(position(1));
      await growing.close("keep");
      expect(await times()).toEqual([1]);
    });

    test("whose swap was cut off are read as their metadata say", async () => {
      const sink = await open();
      await tell(sink, event(1));
      const growing = await open({ bulk: true });
      await tell(growing, event(2));
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

    test("that another model or log made are emptied, unless that log ends before them", async () => {
      const log = { id: "a", head: position(9) };
      const emptied: string[] = [];
      const onEmptied = (why: string) => emptied.push(why);
      const openAs = async (origin: Partial<ServerView>) =>
        (await open({ model: "m", log, onEmptied, ...origin })).position();
      await tell(await open({ model: "m", log }), event(1), event(2));
      expect(await openAs({})).toBe(2);
      expect(await openAs({ log: { id: "b", head: position(1) } })).toBe(2);
      expect(await times()).toEqual([1, 2]);
      expect(emptied).toEqual([]);
      expect(await openAs({ log: { id: "b", head: position(5) } })).toBe(START);
      expect(await times()).toEqual([]);
      const again = await open({ model: "m", log: { id: "b", head: position(5) } });
      await tell(again, event(1));
      expect(await openAs({ model: "n", log: { id: "b", head: position(5) } })).toBe(START);
      expect(emptied).toEqual(["another log", "another model"]);
    });

    test("that another model made are kept where that is wanted, until others take their place", async () => {
      const openAs = (model: string, told: unknown[] = [], bulk = false) =>
        open({
          ...{ model, bulk, log: { id: "a", head: position(9) } },
          onStale: (stale: boolean) => void told.push(stale),
          onEmptied: (why: string) => void told.push(why),
        });
      const first = await openAs("m1");
      await tell(first, event(1));
      const told: unknown[] = [];
      const second = await openAs("m2", told);
      expect([await second.position(), new Set(told)]).toEqual([1, new Set([true])]);
      // Its own process goes on with it.
      await tell(first, event(2));
      const grown = await openAs("m2", [], true);
      await tell(grown, event(1), event(2));
      await grown.close("keep");
      expect(await times()).toEqual([1, 2]);
      await expect(tell(first, event(3))).rejects.toMatchObject({ code: "conflict" });
      await expect(tell(second, event(3))).rejects.toMatchObject({ code: "conflict" });
      expect([await second.position(), told.at(-1)]).toEqual([2, false]);
      expect([await first.position(), await (await openAs("m1", told)).position()]).toEqual([2, 2]);
      expect(told.at(-1)).toBe(true);
      // What both have fed is of neither.
      await tell(first, event(3));
      for (const model of ["m1", "m2"]) {
        const again: unknown[] = [];
        expect(await (await openAs(model, again)).position()).toBe(3);
        expect(again.at(-1)).toBe(true);
      }
    });

    test("of another release are refused, and can be regrown", async () => {
      await tell(await open(), event(1));
      await place.client.update({
        ...{ index: `${place.place.name}.views`, id: "timeseries", doc: { version: 99 } },
      });
      await expect(open()).rejects.toThrow("made by a newer release");
      await expect(reader.list(range, { limit: 1 })).rejects.toThrow("made by a newer release");
      const growing = await open({ bulk: true });
      await tell(growing, event(2));
      await growing.close("keep");
      expect(await times()).toEqual([2]);
    });

    test("tell events with very long keys apart", async () => {
      const key = "k".repeat(40_000);
      const told = ["", "a", "b"].map((end, n) => event(n + 1, { time: 0, key: key + end }));
      await tell(await open(), ...told, event(4, { time: 0, key: `${key}a` }));
      const rows = await Array.fromAsync(reader.dump());
      expect(new Set(rows.map((row) => row.key))).toEqual(new Set([key, `${key}a`, `${key}b`]));
      expect(rows.find((row) => row.key === `${key}a`)?.position).toBe(4);
    });

    test("that may not be written say what to do", async () => {
      const sink = await open();
      await tell(sink, event(1));
      const index = `${place.place.name}.timeseries.g1.dataset.dataset_profile`;
      await place.client.indices.putSettings({ index, settings: { "blocks.write": true } });
      const blocked = { code: "unavailable", hint: expect.stringContaining("read-only") };
      await expect(tell(sink, event(2))).rejects.toMatchObject(blocked);
      await place.client.indices.putSettings({ index, settings: { "blocks.write": null } });
      expect(await sink.position()).toBe(1);
      await tell(sink, event(2));
      expect(await times()).toEqual([1, 2]);
    });

    test("can be checked", async () => {
      const { version, findings } = await checkElasticsearch(place.place, timeseriesAsker);
      expect(version).toMatch(/^(elasticsearch|opensearch) \d+\.\d+/);
      expect(findings).toEqual([]);
      expect(await indices()).toEqual([]);
    });

    test("truncate in tasks of the server where it has them", async () => {
      const sink = await open();
      await tell(sink, ...[1, 2, 3, 4, 5].map((at) => event(at)), truncate(6, 5));
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

    test("whose task was lost are truncated by another", async () => {
      const sink = await open();
      await tell(sink, event(1), event(2), truncate(3, 2));
      await sink.tidy?.();
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
