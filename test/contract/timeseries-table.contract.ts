/**
 * What every timeseries table promises (src/views/timeseries/timeseries-table.ts), whatever keeps it. Its
 * sink's own promises are in sink.contract.ts.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import type { Dump } from "../../src/storage/compare.ts";
import type {
  TimeseriesEvent,
  TimeseriesReader,
  TimeseriesRow,
  TimeseriesSink,
  TimeseriesWrite,
} from "../../src/views/timeseries/timeseries-table.ts";
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
    /** The store itself deletes what truncations take, between the sink's parts too. */
    readonly truncatesByItself?: boolean;
    /** Emptying the view costs much: fewer histories, and more time. */
    readonly slow?: boolean;
  },
): void {
  const runs = { numRuns: harness.slow ? 3 : 20 };
  const time = harness.slow ? { timeout: 120_000 } : {};
  let place: TimeseriesPlace;
  let sink: TimeseriesSink;
  let reader: TimeseriesReader & Dump<TimeseriesRow>;
  let last: Position;

  /** Writes one after the other: an event by default, its value its position. */
  async function tell(...told: readonly Partial<TimeseriesWrite>[]): Promise<void> {
    const writes = told.map((one) => {
      last = position(last + 1);
      const event = { op: "event", urn, aspect, entityType: "dataset", time: 0, key: "" };
      return { ...event, value: String(last), system: "{}", position: last, ...one };
    });
    await sink.apply(writes as TimeseriesWrite[], last);
  }

  const remove = (range: { urn?: string; aspect?: string; from?: number; to?: number }) =>
    tell({ op: "remove", aspect: undefined, ...range });

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
      test("are told with their time, value and system metadata", async () => {
        await tell({ time: 5, value: '{"rowCount":1}', system: '{"runId":"r"}' });
        expect(await reader.list({ urn, aspect }, { limit: 10 })).toEqual([
          { time: 5, value: '{"rowCount":1}', system: '{"runId":"r"}' },
        ]);
      });

      test("come latest first, or earliest first, whatever the order of telling", async () => {
        await tell({ time: 2 }, { time: 3 }, { time: -1 }, { time: 10 });
        expect(await listed()).toEqual(["4", "2", "1", "3"]);
        expect(await listed({ ascending: true })).toEqual(["3", "1", "2", "4"]);
      });

      test("of one time come in the order of their keys", async () => {
        await tell({ key: "b" }, { key: "a" }, { key: "c" }, { time: 1, key: "a" });
        expect(await listed({ ascending: true })).toEqual(["2", "1", "3", "4"]);
        expect(await listed()).toEqual(["4", "3", "1", "2"]);
      });

      test("that are told again are one event: the last telling", async () => {
        await tell({ time: 1, key: "a" }, { time: 1, key: "b" }, { time: 1, key: "a" });
        expect(await listed()).toEqual(["2", "3"]);
        expect(await reader.count({ urn })).toBe(2);
      });

      test("of other entities and aspects are others", async () => {
        await tell({}, { urn: other }, { aspect: "operation" }, { urn: `${urn} ` });
        expect(await listed()).toEqual(["1"]);
        expect(await reader.list({ urn: "nobody", aspect }, { limit: 9 })).toEqual([]);
        expect(await reader.list({ urn, aspect: "__proto__" }, { limit: 9 })).toEqual([]);
      });

      test("keep text as it is, a megabyte of it too, and any time a number can tell", async () => {
        const value = JSON.stringify({ text: "☃\u{1F3D4}'\"\\%_".repeat(100_000) });
        const times = [9.2e18, 8_640_000_000_000_001, -9.2e18, 0];
        await tell(...times.map((time) => ({ time, value, urn: 'it\'s "so" %' })));
        const events = await reader.list({ urn: 'it\'s "so" %', aspect }, { limit: 9 });
        expect(events.map(({ time }) => time)).toEqual(times.toSorted((a, b) => b - a));
        expect(values(events)).toEqual([value, value, value, value]);
      });
    });

    describe("the latest events", () => {
      test("are those of the latest time, and of the last key, by aspect", async () => {
        await tell(
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

      test("are the first that are listed, after any history", async () => {
        await fc.assert(
          fc.asyncProperty(timeseriesHistories(1, 60), async (writes) => {
            await sink.reset();
            await sink.apply(writes, position(writes.at(-1)?.position ?? 0));
            const latest = await reader.latest(urns, aspects);
            for (const [n, one] of urns.entries()) {
              for (const name of aspects) {
                const [event] = await reader.list({ urn: one, aspect: name }, { limit: 1 });
                const { position: at, ...told } = latest[n]?.get(name) ?? {};
                expect(told).toEqual(event ?? {});
                expect(at !== undefined).toBe(event !== undefined);
              }
            }
          }),
          { numRuns: Math.min(runs.numRuns, 10) },
        );
      });
    });

    describe("a range", () => {
      beforeEach(() => tell(...[1, 2, 3, 4, 5].map((time) => ({ time }))));

      test.each([
        [{}, [5, 4, 3, 2, 1]],
        [{ from: 2, to: 4 }, [4, 3, 2]],
        [{ from: 4 }, [5, 4]],
        [{ to: 2 }, [2, 1]],
        [{ from: 3, to: 3 }, [3]],
        [{ from: 4, to: 2 }, []],
        [{ from: 2.5, to: 1e300 }, [5, 4, 3]],
      ])("%j has both its ends", async (bounds, times) => {
        const range = { urn, aspect, ...bounds };
        const events = await reader.list(range, { limit: 10 });
        expect(events.map(({ time }) => time)).toEqual(times);
        expect(await reader.count(range)).toBe(times.length);
        const turned = await reader.list(range, { limit: 10, ascending: true });
        expect(turned).toEqual(events.toReversed());
      });

      test("gives at most as many as are asked for", async () => {
        expect(await listed({ limit: 2 })).toEqual(["5", "4"]);
        expect(await listed({ limit: 2, ascending: true })).toEqual(["1", "2"]);
        expect(await listed({ limit: 5 })).toHaveLength(5);
        expect(await listed({ limit: 0 })).toEqual([]);
      });

      test("gives those that are accepted, and asks no further than it must", async () => {
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

      test("is counted for all aspects of the entity, too", async () => {
        await tell({ aspect: "operation", time: 9 }, { urn: other });
        expect(await reader.count({ urn })).toBe(6);
        expect(await reader.count({ urn, from: 5 })).toBe(2);
        expect(await reader.count({ urn, aspect: "operation" })).toBe(1);
        expect(await reader.count({ urn: "nobody" })).toBe(0);
      });
    });

    test("pages through many events, ties and all, without a gap or a repeat", async () => {
      const many = Array.from({ length: 2_345 }, (_, n) => ({
        time: Math.floor(n / 7),
        key: `${n % 7}`,
      }));
      await tell(...many);
      const numbers = many.map((_, n) => String(n + 1));
      expect(await listed({ limit: 10_000, ascending: true })).toEqual(numbers);
      expect(await listed({ limit: 10_000 })).toEqual(numbers.toReversed());
      const accept = ({ value }: TimeseriesEvent) => Number(value) % 1_000 === 1;
      const rare = await reader.list({ urn, aspect, from: 0, to: 1e9 }, { limit: 9, accept });
      expect(values(rare)).toEqual(["2001", "1001", "1"]);
    });

    describe("a removal", () => {
      beforeEach(() =>
        tell(
          ...[1, 2, 3].map((time) => ({ time })),
          { aspect: "operation", time: 2 },
          { urn: other, time: 2 },
        ),
      );

      test("takes the events of a range, both ends included", async () => {
        await remove({ aspect, from: 2, to: 3 });
        expect(await listed()).toEqual(["1"]);
        expect(await reader.count({ urn })).toBe(2);
        expect(await reader.count({ urn: other })).toBe(1);
      });

      test("takes up to an end, or from one", async () => {
        await remove({ aspect, to: 1 });
        expect(await listed()).toEqual(["3", "2"]);
        await remove({ aspect, from: 3 });
        expect(await listed()).toEqual(["2"]);
      });

      test("without an aspect takes all of the entity's", async () => {
        await remove({});
        expect(await reader.count({ urn })).toBe(0);
        expect(await reader.count({ urn: other })).toBe(1);
      });

      test("of nothing changes nothing", async () => {
        await remove({ urn: "nobody" });
        await remove({ aspect: "__proto__" });
        await remove({ aspect, from: 9, to: 0 });
        expect(await listed()).toEqual(["3", "2", "1"]);
      });

      test("leaves room for what is told after it", async () => {
        await remove({ aspect });
        await tell({ time: 2 });
        expect(await listed()).toEqual(["7"]);
      });
    });

    describe("a truncation", () => {
      const elsewhere = "urn:li:tag:a";
      const odd = "urn:li:tag:dataset:a";
      const truncate = (before: number, more: { aspect?: string; batchSize?: number } = {}) =>
        tell({ op: "truncate", entityType: "dataset", before, batchSize: 2, ...more });
      const counted = (before: number) =>
        reader.countOlder({ entityType: "dataset", aspect }, before);
      async function tidied(): Promise<number> {
        for (let steps = 0; ; steps++) if (!(await sink.tidy?.())) return steps;
      }

      beforeEach(async () => {
        const dataset = urns.find((one) => one.startsWith("urn:li:dataset:")) ?? "";
        for (const one of [dataset, elsewhere, odd]) {
          await tell(...[1, 2, 3, 4, 5].map((time) => ({ urn: one, time })), {
            urn: one,
            aspect: "operation",
            time: 1,
          });
        }
      });

      const dataset = urns.find((one) => one.startsWith("urn:li:dataset:")) ?? "";
      const times = async (of: string, name = aspect) =>
        (await reader.list({ urn: of, aspect: name }, { limit: 9 })).map(({ time }) => time);

      test("takes what is strictly older, of that aspect and type alone, at once", async () => {
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

      test("shows all of what it takes or nothing, also to who reads many events meanwhile", async () => {
        const many = Array.from({ length: 1_200 }, (_, n) => ({ urn: dataset, time: 10 + n }));
        await tell(...many);
        const [all, left] = [5 + many.length, 3];
        const counts: number[] = [];
        let telling = true;
        const reading = (async () => {
          while (telling) {
            // Asked for what it would take, a page at a time.
            const range = { urn: dataset, aspect };
            const events = await reader.list(range, { limit: 10_000, ascending: true });
            counts.push(events.length);
          }
        })();
        await truncate(10 + many.length - left);
        telling = false;
        await reading;
        expect(counts.filter((count) => count !== all && count !== left)).toEqual([]);
        expect(await reader.list({ urn: dataset, aspect }, { limit: 9 })).toHaveLength(left);
      });

      test("leaves what is told after it, and what is told again, however old", async () => {
        await truncate(9);
        await tell({ urn: dataset, time: 2 }, { urn: dataset, time: 0 });
        expect(await times(dataset)).toEqual([2, 0]);
        await tidied();
        expect(await times(dataset)).toEqual([2, 0]);
      });

      test("takes no more at a time than it was told, and tells how far it is", async () => {
        await truncate(9);
        const at = last;
        expect(await reader.findTruncation(at)).toMatchObject({ deleted: 0, done: false });
        let before = 0;
        for (let more = true; more; ) {
          more = (await sink.tidy?.()) ?? false;
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

      test("goes on where it was when it is opened again", async () => {
        await truncate(9);
        const at = last;
        await sink.tidy?.();
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

      test("after another one takes what that left", async () => {
        await truncate(3);
        await truncate(5);
        expect(await times(dataset)).toEqual([5]);
        await tidied();
        expect(await times(dataset)).toEqual([5]);
        expect(await reader.findTruncation(last)).toMatchObject({ deleted: 2, done: true });
      });

      test("measures nothing where there is nothing", async () => {
        const nothing = { events: 0, older: 0 };
        for (const index of [
          { entityType: "dashboard", aspect },
          { entityType: "dataset", aspect: "__proto__" },
        ]) {
          expect(await reader.countOlder(index, 9)).toEqual(nothing);
          expect(await reader.weigh(index)).toBe(0);
        }
        expect(await reader.weigh({ entityType: "dataset", aspect })).toBeGreaterThan(5 * 2);
      });

      test("measures many events and series alike", async () => {
        const many = Array.from({ length: 12_000 }, (_, n) => ({ urn: dataset, time: 10 + n }));
        const series = Array.from({ length: 3_000 }, (_, n) => ({
          ...{ urn: `urn:li:dataset:s${n}`, time: n },
        }));
        await tell(...many, ...series);
        const all = { events: 15_005, older: 5 + 100 + 110 };
        expect(await counted(110)).toEqual(all);
        expect(await reader.weigh({ entityType: "dataset", aspect })).toBeGreaterThan(all.events);
        await truncate(110);
        expect(await counted(111)).toEqual({ events: all.events - all.older, older: 2 });
      });
    });

    test("gives the answers of a simple model after any history", async () => {
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

    test("is unavailable when it is closed, which may be said twice", async () => {
      await reader.close();
      await reader.close();
      const unavailable = expect.objectContaining({ code: "unavailable" });
      await expect(reader.list({ urn, aspect }, { limit: 1 })).rejects.toEqual(unavailable);
      await expect(reader.count({ urn })).rejects.toEqual(unavailable);
    });
  });
}
