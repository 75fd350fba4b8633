/** Buckets of usage between the first and the last one are complete: a window without usage is empty. */
import { expect, test } from "vitest";
import { createUsage } from "../../src/catalog/read/usage.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";
const DAY = 86_400_000;
const MONDAY = Date.UTC(2026, 10, 2);

/** A catalog with usage at these times, all of one granularity. */
function usageAt(times: readonly number[], unit: string) {
  const events = times
    .toSorted((a, b) => b - a)
    .map((timestampMillis) => ({
      value: JSON.stringify({
        ...{ timestampMillis, totalSqlQueries: 3 },
        eventGranularity: { unit, multiple: 1 },
      }),
    }));
  const { queryUsage } = createUsage({
    addresses: { readable: () => ({ urn }) } as never,
    reader: { list: async (_, { limit }) => events.slice(0, limit) as never },
    caughtUp: async () => {},
  });
  return async (more: object = {}) => {
    const found = await queryUsage({ resource: urn, duration: unit, ...more });
    const { buckets } = found as {
      readonly buckets: readonly {
        readonly bucket: number;
        readonly metrics: { readonly totalSqlQueries?: number };
      }[];
    };
    return buckets.map(({ bucket, metrics }) => [bucket, metrics.totalSqlQueries ?? 0]);
  };
}

test("days without usage are listed between days with usage", async () => {
  const query = usageAt([MONDAY, MONDAY + 3 * DAY + 5_000], "DAY");
  expect(await query()).toEqual([
    ...[
      [MONDAY, 3],
      [MONDAY + DAY, 0],
      [MONDAY + 2 * DAY, 0],
    ],
    [MONDAY + 3 * DAY + 5_000, 3],
  ]);
  expect(await query({ maxBuckets: 2 })).toEqual([
    [MONDAY + 2 * DAY, 0],
    [MONDAY + 3 * DAY + 5_000, 3],
  ]);
  expect(await usageAt([], "DAY")()).toEqual([]);
});

test.each([
  ["HOUR", [MONDAY, MONDAY + 3_600_000, MONDAY + 7_200_000]],
  ["WEEK", [MONDAY, MONDAY + 7 * DAY, MONDAY + 14 * DAY]],
  ["MONTH", [Date.UTC(2026, 11), Date.UTC(2027, 0), Date.UTC(2027, 1)]],
  ["YEAR", [Date.UTC(2024, 0), Date.UTC(2025, 0), Date.UTC(2026, 0)]],
])("a %s without usage is listed at its start", async (unit, [first = 0, empty = 0, last = 0]) => {
  expect(await usageAt([first, last], unit)()).toEqual([
    ...[
      [first, 3],
      [empty, 0],
      [last, 3],
    ],
  ]);
});

test("a gap of a century keeps the latest windows", async () => {
  const last = Date.UTC(2026, 0);
  const buckets = await usageAt([0, last], "HOUR")();
  expect(buckets).toHaveLength(10_000);
  expect(buckets.at(-1)).toEqual([last, 3]);
  expect(buckets.at(-2)).toEqual([last - 3_600_000, 0]);
});
