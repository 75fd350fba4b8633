/** A model of the timeseries table, and random writes in the form of the projection. */
import fc from "fast-check";
import { position } from "../../src/core/position.ts";
import type {
  TimeseriesEvent,
  TimeseriesRange,
  TimeseriesWrite,
} from "../../src/views/timeseries/timeseries-table.ts";
import type { TimeseriesRow } from "../support/dumped-readers.ts";
import { byteOrder, typeOf, urns } from "./aspect-table-model.ts";

const few = [0, 1, 4, 7, 10, 13].map((n) => urns[n] ?? "");
export const aspects: readonly string[] = ["datasetProfile", "operation", "toString"];

const times = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 9 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 1_700_000_000_000, 9.2e18) },
);
const keys = fc.constantFrom("[null,null,null]", '["\u{1D49C}"]', '["\uFF5E"]', "[1]", "it's");

const truncation = fc.record({
  op: fc.constant("truncate" as const),
  entityType: fc.constantFrom(...new Set(few.map(typeOf))),
  aspect: fc.constantFrom(...aspects),
  before: times,
  batchSize: fc.integer({ min: 1, max: 3 }),
  gap: fc.integer({ min: 0, max: 2 }),
});

const step = fc.oneof(
  { weight: 1, arbitrary: truncation },
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant("event" as const),
      urn: fc.constantFrom(...few),
      aspect: fc.constantFrom(...aspects),
      time: times,
      key: keys,
      gap: fc.integer({ min: 0, max: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("remove" as const),
      urn: fc.constantFrom(...few),
      aspect: fc.constantFrom(undefined, ...aspects),
      from: fc.option(times, { nil: undefined }),
      to: fc.option(times, { nil: undefined }),
      gap: fc.integer({ min: 0, max: 2 }),
    }),
  },
);

/** Writes for a log with the given number of records. */
export const timeseriesHistories = (
  minLength: number,
  maxLength: number,
): fc.Arbitrary<readonly TimeseriesWrite[]> =>
  fc.array(step, { minLength, maxLength, size: "max" }).map((steps) => {
    let last = 0;
    return steps.map(({ gap, ...write }): TimeseriesWrite => {
      last += 1 + gap;
      const at = position(last);
      if (write.op !== "event") return { ...write, position: at };
      const value = JSON.stringify({ at, text: "☃ \u{1F3D4} 'quoted\" \\ % _" });
      const system = JSON.stringify({ lastObserved: at });
      return { ...write, entityType: "dataset", position: at, value, system };
    });
  });

export interface TimeseriesModel {
  apply(write: TimeseriesWrite): void;
  /** Earliest first. */
  list(range: TimeseriesRange): readonly TimeseriesEvent[];
  count(range: Omit<TimeseriesRange, "aspect"> & { readonly aspect?: string }): number;
  rows(): readonly TimeseriesRow[];
}

export function createTimeseriesModel(): TimeseriesModel {
  let rows: TimeseriesRow[] = [];

  const within = (row: TimeseriesRow, { urn, aspect, from, to }: Partial<TimeseriesRange>) =>
    row.urn === urn &&
    (aspect === undefined || row.aspect === aspect) &&
    row.time >= (from ?? -Infinity) &&
    row.time <= (to ?? Infinity);

  const sorted = (): readonly TimeseriesRow[] =>
    rows.toSorted(
      (a, b) =>
        byteOrder(a.urn, b.urn) ||
        byteOrder(a.aspect, b.aspect) ||
        a.time - b.time ||
        byteOrder(a.key, b.key),
    );

  return {
    apply(write) {
      if (write.op === "truncate") {
        const { entityType, aspect, before } = write;
        rows = rows.filter(
          (row) => typeOf(row.urn) !== entityType || row.aspect !== aspect || row.time >= before,
        );
        return;
      }
      if (write.op === "remove") {
        rows = rows.filter((row) => !within(row, write));
        return;
      }
      const { urn, aspect, time, key, position, value, system } = write;
      rows = rows.filter(
        (row) => row.urn !== urn || row.aspect !== aspect || row.time !== time || row.key !== key,
      );
      rows.push({ urn, aspect, time, key, position, value, system });
    },
    list: (range) =>
      sorted()
        .filter((row) => within(row, range))
        .map(({ time, value, system }) => ({ time, value, system })),
    count: (range) => rows.filter((row) => within(row, range)).length,
    rows: sorted,
  };
}
