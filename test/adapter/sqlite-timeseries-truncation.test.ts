/** A truncation deletes from two tables: writes between its parts leave both consistent. */
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Position, position } from "../../src/core/position.ts";
import { openSqliteTimeseriesSink } from "../../src/views/timeseries/sqlite/sqlite-timeseries-sink.ts";
import type {
  TimeseriesReader,
  TimeseriesSink,
  TimeseriesWrite,
} from "../../src/views/timeseries/timeseries-table.ts";
import { createTimeseriesModel, timeseriesHistories } from "../contract/timeseries-table-model.ts";
import {
  type Dump,
  openDumpedTimeseriesReader,
  type TimeseriesRow,
} from "../support/dumped-readers.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteTimeseriesSink,
  openReader: openDumpedTimeseriesReader,
});
const index = { entityType: "dataset", aspect: "datasetProfile" };
const urn = "urn:li:dataset:a";

let place: Awaited<ReturnType<typeof createPlace>>;
let sink: TimeseriesSink;
let reader: TimeseriesReader & Dump<TimeseriesRow>;

beforeEach(async () => {
  place = await createPlace();
  sink = await place.openSink();
  reader = await place.openReader();
});

afterEach(async () => {
  await reader.close();
  await sink.close();
  await place.remove();
});

const eventAt = (at: number, time: number, of = urn): TimeseriesWrite => ({
  ...{ op: "event", ...index, urn: of, position: position(at), time, key: "" },
  ...{ value: String(at), system: "{}" },
});
const truncateAt = (at: number, before: number): TimeseriesWrite => ({
  ...{ op: "truncate", ...index, position: position(at), before, batchSize: 10_000 },
});

async function tidied(): Promise<void> {
  while (await sink.maintain?.());
}

/** Row counts of events, of their places, and of both joined. */
async function rowsIn() {
  const [counts] = await place.ask(`
    SELECT (SELECT count(*) FROM event) AS events, (SELECT count(*) FROM place) AS places,
      (SELECT count(*) FROM event JOIN place USING (series, time, key, position)) AS fitting`);
  return { ...counts };
}

const allOf = (count: number) => ({ events: count, places: count, fitting: count });

test("a truncation deletes a series in parts, and keeps repeated events", async () => {
  const count = 45_000;
  const writes = Array.from({ length: count }, (_, n) => eventAt(n + 1, n));
  await sink.apply(writes, position(count));
  const other = eventAt(count + 1, 3, "urn:li:tag:a");
  await sink.apply([other, truncateAt(count + 2, count - 5)], position(count + 2));
  let last = count + 2;
  const writeEvent = async (time: number) => {
    last++;
    await sink.apply([eventAt(last, time)], position(last));
  };
  // While events are deleted; when the place of the event is deleted; and while only the place is
  // left.
  const again: Readonly<Record<number, readonly number[]>> = { 2: [100], 5: [200, 44_000] };
  let left = 5;
  for (let steps = 0; steps < 7; steps++) {
    expect(await sink.maintain?.()).toBe(true);
    for (const time of again[steps] ?? []) {
      await writeEvent(time);
      left++;
    }
    expect(await reader.count({ urn })).toBe(left);
  }
  await tidied();
  expect(await reader.findTruncation(position(count + 2))).toMatchObject({ done: true });
  const times = (await reader.list({ urn, aspect: index.aspect }, { limit: 20 })).map(
    ({ time }) => time,
  );
  expect(times).toEqual([44_999, 44_998, 44_997, 44_996, 44_995, 44_000, 200, 100]);
  expect(await rowsIn()).toEqual(allOf(9));
});

test("deleted events are counted once, whatever is restored meanwhile", async () => {
  const writes = Array.from({ length: 30 }, (_, n) => eventAt(n + 1, n));
  const truncation = { ...truncateAt(31, 20), batchSize: 7 } as TimeseriesWrite;
  await sink.apply([...writes, truncation], position(31));
  for (let more = true; more; ) {
    more = (await sink.maintain?.()) ?? false;
    await sink.restore(urn, [...writes, truncation]);
    expect(await reader.count({ urn })).toBe(10);
  }
  expect(await reader.findTruncation(position(31))).toMatchObject({ deleted: 7, done: true });
  expect(await rowsIn()).toEqual(allOf(10));
});

test("a truncation gives the same view however its parts and other writes interleave, reopened or not", async () => {
  const history = timeseriesHistories(1, 60);
  const steps = fc.array(fc.constantFrom("tidy", "none", "reopen"), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(history, steps, async (writes, between) => {
      await sink.reset();
      const model = createTimeseriesModel();
      let last: Position = position(0);
      for (const [n, write] of writes.entries()) {
        model.apply(write);
        last = write.position;
        await sink.apply([write], last);
        const step = between[n % between.length];
        if (step === "tidy") await sink.maintain?.();
        if (step !== "reopen" || n % 10 !== 0) continue;
        await sink.close();
        sink = await place.openSink();
      }
      expect(await Array.fromAsync(reader.dump())).toEqual(model.rows());
      await tidied();
      expect(await Array.fromAsync(reader.dump())).toEqual(model.rows());
      expect(await rowsIn()).toEqual(allOf(model.rows().length));
    }),
    { numRuns: 30 },
  );
});
