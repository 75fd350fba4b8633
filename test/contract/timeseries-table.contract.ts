/**
 * The contract of every timeseries table (src/views/timeseries/timeseries-table.ts). The contract
 * of its sink is in sink.contract.ts.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import type {
  TimeseriesEvent,
  TimeseriesReader,
  TimeseriesSink,
  TimeseriesWrite,
} from "../../src/views/timeseries/timeseries-table.ts";
import type { Dump, TimeseriesRow } from "../support/dumped-readers.ts";
import { urns } from "./aspect-table-model.ts";
import { aspects, createTimeseriesModel, timeseriesHistories } from "./timeseries-table-model.ts";

export interface TimeseriesPlace {
  openSink(): Promise<TimeseriesSink>;
  openReader(): Promise<TimeseriesReader & Dump<TimeseriesRow>>;
  remove(): Promise<void>;
}

const [urn = "", other = ""] = urns;
const aspect = "datasetProfile";

export function timeseriesTableContract(
  name: string,
  harness: {
    createPlace(): Promise<TimeseriesPlace>;
    /** True if the store deletes truncated events itself, also between the parts of the sink. */
    readonly truncatesByItself?: boolean;
    /** True if emptying the view is slow: fewer histories, and more time. */
    readonly slow?: boolean;
  },
): void {
  const runs = { numRuns: harness.slow ? 3 : 20 };
  const time = harness.slow ? { timeout: 120_000 } : {};
  let place: TimeseriesPlace;
  let sink: TimeseriesSink;
  let reader: TimeseriesReader & Dump<TimeseriesRow>;
  let last: Position;

  /** Applies writes one after the other: by default, an event with its position as value. */
  async function write(...fields: readonly Partial<TimeseriesWrite>[]): Promise<void> {
    const writes = fields.map((one) => {
      last = position(last + 1);
      const event = { op: "event", urn, aspect, entityType: "dataset", time: 0, key: "" };
      return { ...event, value: String(last), system: "{}", position: last, ...one };
    });
    await sink.apply(writes as TimeseriesWrite[], last);
  }

  const remove = (range: { urn?: string; aspect?: string; from?: number; to?: number }) =>
    write({ op: "remove", aspect: undefined, ...range });

  const values = (events: readonly TimeseriesEvent[]) => events.map(({ value }) => value);

  async function listed(options: { limit?: number; ascending?: boolean } = {}) {
    return values(await reader.list({ urn, aspect }, { limit: 100, ...options }));
  }

  describe(`timeseries table: ${name}`, time, () => {
    beforeEach(async () => {
      place = await harness.createPlace();
      sink = await place.openSink();
      reader = await place.openReader();
      last = position(0);
    });

    afterEach(async () => {
      await reader.close();
      await sink.close();
      await place.remove();
    });

    describe("events", () => {
      test("events are returned with their time, value and system metadata", async () => {
        await write({ time: 5, value: '{"rowCount":1}', system: '{"runId":"r"}' });
        expect(await reader.list({ urn, aspect }, { limit: 10 })).toEqual([
          { time: 5, value: '{"rowCount":1}', system: '{"runId":"r"}' },
        ]);
      });

      test("events are returned latest first or earliest first, whatever the order of the writes", async () => {
        await write({ time: 2 }, { time: 3 }, { time: -1 }, { time: 10 });
        expect(await listed()).toEqual(["4", "2", "1", "3"]);
        expect(await listed({ ascending: true })).toEqual(["3", "1", "2", "4"]);
      });

      test("events of the same time are sorted by key", async () => {
        await write({ key: "b" }, { key: "a" }, { key: "c" }, { time: 1, key: "a" });
        expect(await listed({ ascending: true })).toEqual(["2", "1", "3", "4"]);
        expect(await listed()).toEqual(["4", "3", "1", "2"]);
      });

      test("an event that is written again replaces the earlier one", async () => {
        await write({ time: 1, key: "a" }, { time: 1, key: "b" }, { time: 1, key: "a" });
        expect(await listed()).toEqual(["2", "3"]);
        expect(await reader.count({ urn })).toBe(2);
      });

      test("events of other entities and aspects are separate", async () => {
        await write({}, { urn: other }, { aspect: "operation" }, { urn: `${urn} ` });
        expect(await listed()).toEqual(["1"]);
        expect(await reader.list({ urn: "nobody", aspect }, { limit: 9 })).toEqual([]);
        expect(await reader.list({ urn, aspect: "__proto__" }, { limit: 9 })).toEqual([]);
      });

      test("text is stored unchanged, also a megabyte of it, and any time that a number can hold", async () => {
        const value = JSON.stringify({ text: "☃\u{1F3D4}'\"\\%_".repeat(100_000) });
        const times = [9.2e18, 8_640_000_000_000_001, -9.2e18, 0];
        await write(...times.map((time) => ({ time, value, urn: 'it\'s "so" %' })));
        const events = await reader.list({ urn: 'it\'s "so" %', aspect }, { limit: 9 });
        expect(events.map(({ time }) => time)).toEqual(times.toSorted((a, b) => b - a));
        expect(values(events)).toEqual([value, value, value, value]);
      });
    });

    describe("the latest events", () => {
      test("the latest event of an aspect has the latest time, and among equal times the last key", async () => {
        await write(
          ...[{ time: 3 }, { time: 7, key: "a" }, { time: 7, key: "b" }, { time: 5 }],
          ...[{ urn: other, time: 9 }, { aspect: "operation", time: 1 }, { aspect: "usage" }],
        );
        const latest = await reader.latest([other, "nobody", urn], [aspect, "operation"]);
        const shown = latest.map((events) => [...events].map(([name, { value }]) => [name, value]));
        expect(shown.map((events) => events.sort())).toEqual([
          [[aspect, "5"]],
          [],
          [
            [aspect, "3"],
            ["operation", "6"],
          ],
        ]);
        expect(await reader.latest([], [aspect])).toEqual([]);
        expect(await reader.latest([urn], [])).toEqual([new Map()]);
        expect(await reader.position()).toBe(last);
      });

      test("the latest events are the first of a list, after any history", async () => {
        await fc.assert(
          fc.asyncProperty(timeseriesHistories(1, 60), async (writes) => {
            await sink.reset();
            await sink.apply(writes, position(writes.at(-1)?.position ?? 0));
            const latest = await reader.latest(urns, aspects);
            for (const [n, one] of urns.entries()) {
              for (const name of aspects) {
                const [event] = await reader.list({ urn: one, aspect: name }, { limit: 1 });
                const { position: at, ...newest } = latest[n]?.get(name) ?? {};
                expect(newest).toEqual(event ?? {});
                expect(at !== undefined).toBe(event !== undefined);
              }
            }
          }),
          { numRuns: Math.min(runs.numRuns, 10) },
        );
      });
    });

    describe("a range", () => {
      beforeEach(() => write(...[1, 2, 3, 4, 5].map((time) => ({ time }))));

      test.each([
        [{}, [5, 4, 3, 2, 1]],
        [{ from: 2, to: 4 }, [4, 3, 2]],
        [{ from: 4 }, [5, 4]],
        [{ to: 2 }, [2, 1]],
        [{ from: 3, to: 3 }, [3]],
        [{ from: 4, to: 2 }, []],
        [{ from: 2.5, to: 1e300 }, [5, 4, 3]],
      ])("the range %j includes both ends", async (bounds, times) => {
        const range = { urn, aspect, ...bounds };
        const events = await reader.list(range, { limit: 10 });
        expect(events.map(({ time }) => time)).toEqual(times);
        expect(await reader.count(range)).toBe(times.length);
        const turned = await reader.list(range, { limit: 10, ascending: true });
        expect(turned).toEqual(events.toReversed());
      });

      test("a list has at most the requested number of events", async () => {
        expect(await listed({ limit: 2 })).toEqual(["5", "4"]);
        expect(await listed({ limit: 2, ascending: true })).toEqual(["1", "2"]);
        expect(await listed({ limit: 5 })).toHaveLength(5);
        expect(await listed({ limit: 0 })).toEqual([]);
      });

      test("a filtered list returns the accepted events, and stops reading when it has enough", async () => {
        const asked: number[] = [];
        const accept = ({ time }: TimeseriesEvent) => {
          asked.push(time);
          return time % 2 === 0;
        };
        const options = { limit: 1, accept };
        expect(values(await reader.list({ urn, aspect }, options))).toEqual(["4"]);
        expect(asked).toEqual([5, 4]);
        const all = await reader.list({ urn, aspect, to: 3 }, { limit: 9, accept });
        expect(values(all)).toEqual(["2"]);
      });

      test("events in a range are counted, also for all aspects of an entity", async () => {
        await write({ aspect: "operation", time: 9 }, { urn: other });
        expect(await reader.count({ urn })).toBe(6);
        expect(await reader.count({ urn, from: 5 })).toBe(2);
        expect(await reader.count({ urn, aspect: "operation" })).toBe(1);
        expect(await reader.count({ urn: "nobody" })).toBe(0);
      });
    });

    test("pages return many events without gaps or repetitions, also among equal times", async () => {
      const many = Array.from({ length: 2_345 }, (_, n) => ({
        time: Math.floor(n / 7),
        key: `${n % 7}`,
      }));
      await write(...many);
      const numbers = many.map((_, n) => String(n + 1));
      expect(await listed({ limit: 10_000, ascending: true })).toEqual(numbers);
      expect(await listed({ limit: 10_000 })).toEqual(numbers.toReversed());
      const accept = ({ value }: TimeseriesEvent) => Number(value) % 1_000 === 1;
      const rare = await reader.list({ urn, aspect, from: 0, to: 1e9 }, { limit: 9, accept });
      expect(values(rare)).toEqual(["2001", "1001", "1"]);
    });

    describe("a removal", () => {
      beforeEach(() =>
        write(
          ...[1, 2, 3].map((time) => ({ time })),
          { aspect: "operation", time: 2 },
          { urn: other, time: 2 },
        ),
      );

      test("a removal deletes the events of a range, both ends included", async () => {
        await remove({ aspect, from: 2, to: 3 });
        expect(await listed()).toEqual(["1"]);
        expect(await reader.count({ urn })).toBe(2);
        expect(await reader.count({ urn: other })).toBe(1);
      });

      test("a removal may have only an end, or only a start", async () => {
        await remove({ aspect, to: 1 });
        expect(await listed()).toEqual(["3", "2"]);
        await remove({ aspect, from: 3 });
        expect(await listed()).toEqual(["2"]);
      });

      test("a removal without an aspect deletes the events of all aspects of the entity", async () => {
        await remove({});
        expect(await reader.count({ urn })).toBe(0);
        expect(await reader.count({ urn: other })).toBe(1);
      });

      test("a removal without matching events changes nothing", async () => {
        await remove({ urn: "nobody" });
        await remove({ aspect: "__proto__" });
        await remove({ aspect, from: 9, to: 0 });
        expect(await listed()).toEqual(["3", "2", "1"]);
      });

      test("an event that is written after a removal is stored", async () => {
        await remove({ aspect });
        await write({ time: 2 });
        expect(await listed()).toEqual(["7"]);
      });
    });

    describe("a truncation", () => {
      const elsewhere = "urn:li:tag:a";
      const odd = "urn:li:tag:dataset:a";
      const truncate = (before: number, more: { aspect?: string; batchSize?: number } = {}) =>
        write({ op: "truncate", entityType: "dataset", before, batchSize: 2, ...more });
      const counted = (before: number) =>
        reader.countOlder({ entityType: "dataset", aspect }, before);
      async function tidied(): Promise<number> {
        for (let steps = 0; ; steps++) if (!(await sink.maintain?.())) return steps;
      }

      beforeEach(async () => {
        const dataset = urns.find((one) => one.startsWith("urn:li:dataset:")) ?? "";
        for (const one of [dataset, elsewhere, odd]) {
          await write(...[1, 2, 3, 4, 5].map((time) => ({ urn: one, time })), {
            urn: one,
            aspect: "operation",
            time: 1,
          });
        }
      });

      const dataset = urns.find((one) => one.startsWith("urn:li:dataset:")) ?? "";
      const times = async (of: string, name = aspect) =>
        (await reader.list({ urn: of, aspect: name }, { limit: 9 })).map(({ time }) => time);

      test("a truncation deletes older events of its aspect and type at once", async () => {
        await truncate(3);
        const left = async () => {
          expect(await times(dataset)).toEqual([5, 4, 3]);
          expect(await reader.count({ urn: dataset })).toBe(4);
          expect(await reader.count({ urn: dataset, aspect, to: 3 })).toBe(1);
          expect(await times(dataset, "operation")).toEqual([1]);
          expect(await times(elsewhere)).toEqual([5, 4, 3, 2, 1]);
          expect(await times(odd)).toEqual([5, 4, 3, 2, 1]);
          expect(await counted(4)).toMatchObject({ events: 3, older: 1 });
        };
        await left();
        await tidied();
        await left();
      });

      test("reads return all events of a truncation or none, also reads of many events meanwhile", async () => {
        const many = Array.from({ length: 1_200 }, (_, n) => ({ urn: dataset, time: 10 + n }));
        await write(...many);
        const [all, left] = [5 + many.length, 3];
        const counts: number[] = [];
        let writing = true;
        const reading = (async () => {
          while (writing) {
            // Reads the events that the truncation deletes, page by page.
            const range = { urn: dataset, aspect };
            const events = await reader.list(range, { limit: 10_000, ascending: true });
            counts.push(events.length);
          }
        })();
        await truncate(10 + many.length - left);
        writing = false;
        await reading;
        expect(counts.filter((count) => count !== all && count !== left)).toEqual([]);
        expect(await reader.list({ urn: dataset, aspect }, { limit: 9 })).toHaveLength(left);
      });

      test("a truncation keeps events that are written or repeated after it, however old", async () => {
        await truncate(9);
        await write({ urn: dataset, time: 2 }, { urn: dataset, time: 0 });
        expect(await times(dataset)).toEqual([2, 0]);
        await tidied();
        expect(await times(dataset)).toEqual([2, 0]);
      });

      test("a truncation deletes at most a batch at a time, and reports its progress", async () => {
        await truncate(9);
        const at = last;
        expect(await reader.findTruncation(at)).toMatchObject({ deleted: 0, done: false });
        let before = 0;
        for (let more = true; more; ) {
          more = (await sink.maintain?.()) ?? false;
          const { deleted = 0 } = (await reader.findTruncation(at)) ?? {};
          if (!harness.truncatesByItself) expect(deleted - before).toBeLessThanOrEqual(2);
          before = deleted;
        }
        expect(await reader.findTruncation(at)).toMatchObject({
          deleted: 5,
          batches: 3,
          done: true,
        });
        expect(await reader.findTruncation(position(at + 1))).toBeUndefined();
      });

      test("a truncation resumes when the sink is reopened", async () => {
        await truncate(9);
        const at = last;
        await sink.maintain?.();
        await sink.close();
        sink = await place.openSink();
        expect(await times(dataset)).toEqual([]);
        await tidied();
        expect(await reader.findTruncation(at)).toMatchObject({
          deleted: 5,
          batches: 3,
          done: true,
        });
      });

      test("a second truncation deletes what the first one left", async () => {
        await truncate(3);
        await truncate(5);
        expect(await times(dataset)).toEqual([5]);
        await tidied();
        expect(await times(dataset)).toEqual([5]);
        expect(await reader.findTruncation(last)).toMatchObject({ deleted: 2, done: true });
      });

      test("the counts of an empty aspect are zero", async () => {
        const nothing = { events: 0, older: 0 };
        for (const index of [
          { entityType: "dashboard", aspect },
          { entityType: "dataset", aspect: "__proto__" },
        ]) {
          expect(await reader.countOlder(index, 9)).toEqual(nothing);
          expect(await reader.weigh([index])).toEqual([0]);
        }
        expect(await reader.weigh([])).toEqual([]);
      });

      test("the sizes of several aspects are returned in the order of the request", async () => {
        const indexes = [
          { entityType: "tag", aspect: "operation" },
          { entityType: "dashboard", aspect },
          { entityType: "dataset", aspect },
          { entityType: "tag", aspect },
        ];
        await write({ urn: elsewhere, aspect: "operation", time: 9, value: "☃".repeat(100_000) });
        const [large = 0, absent, few = 0, more = 0] = await reader.weigh(indexes);
        expect(absent).toBe(0);
        expect(few).toBeGreaterThan(5 * 2);
        expect(more).toBeGreaterThan(few);
        expect(large).toBeGreaterThan(more);
      });

      test("the size of an aspect is zero after a truncation of all its events", async () => {
        await truncate(9);
        const types = ["dataset", "tag"].map((entityType) => ({ entityType, aspect }));
        const sizes = await reader.weigh(types);
        expect(sizes).toEqual([0, expect.any(Number)]);
        expect(sizes[1]).toBeGreaterThan(10 * 2);
        await tidied();
        expect((await reader.weigh(types))[0]).toBe(0);
      });

      test("the counts of each type and aspect are separate", async () => {
        const count = (entityType: string, name: string) =>
          reader.countOlder({ entityType, aspect: name }, 3);
        expect(await count("tag", aspect)).toEqual({ events: 10, older: 4 });
        expect(await count("dataset", aspect)).toEqual({ events: 5, older: 2 });
        expect(await count("dataset", "operation")).toEqual({ events: 1, older: 1 });
        expect(await count("data", aspect)).toEqual({ events: 0, older: 0 });
        expect(await count("%", aspect)).toEqual({ events: 0, older: 0 });
      });

      test("the counts are right for many events and for many series", async () => {
        const many = Array.from({ length: 12_000 }, (_, n) => ({ urn: dataset, time: 10 + n }));
        const series = Array.from({ length: 3_000 }, (_, n) => ({
          ...{ urn: `urn:li:dataset:s${n}`, time: n },
        }));
        await write(...many, ...series);
        const all = { events: 15_005, older: 5 + 100 + 110 };
        expect(await counted(110)).toEqual(all);
        const [size] = await reader.weigh([{ entityType: "dataset", aspect }]);
        expect(size).toBeGreaterThan(all.events);
        await truncate(110);
        expect(await counted(111)).toEqual({ events: all.events - all.older, older: 2 });
      });
    });

    test("the table equals a simple model after any history", async () => {
      const bounds = fc.option(fc.integer({ min: -2, max: 11 }), { nil: undefined });
      await fc.assert(
        fc.asyncProperty(timeseriesHistories(1, 150), bounds, bounds, async (history, from, to) => {
          await sink.reset();
          const model = createTimeseriesModel();
          for (const write of history) model.apply(write);
          await sink.apply(history, position(history.at(-1)?.position ?? 0));

          expect(await Array.fromAsync(reader.dump())).toEqual(model.rows());
          for (const one of new Set(history.map((write) => ("urn" in write ? write.urn : "")))) {
            expect(await reader.count({ urn: one, from, to })).toBe(
              model.count({ urn: one, from, to }),
            );
            for (const name of aspects) {
              const range = { urn: one, aspect: name, from, to };
              const expected = model.list(range);
              expect(await reader.list(range, { limit: 4, ascending: true })).toEqual(
                expected.slice(0, 4),
              );
              expect(await reader.list(range, { limit: 4 })).toEqual(
                expected.toReversed().slice(0, 4),
              );
            }
          }
        }),
        runs,
      );
    });

    test("a closed table is unavailable, and closing twice is allowed", async () => {
      await reader.close();
      await reader.close();
      const unavailable = expect.objectContaining({ code: "unavailable" });
      await expect(reader.list({ urn, aspect }, { limit: 1 })).rejects.toEqual(unavailable);
      await expect(reader.count({ urn })).rejects.toEqual(unavailable);
    });
  });
}
