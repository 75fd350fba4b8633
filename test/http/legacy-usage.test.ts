import { describe, expect, test } from "vitest";
import {
  startOfUsageRange,
  usageProposals,
  usageRanges,
} from "../../src/http/schemas/legacy-usage.ts";

const resource = "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";

describe("usageProposals", () => {
  test("creates one event for each bucket, with all its counts", () => {
    const [proposal, ...others] = usageProposals([
      {
        bucket: 1_772_323_200_000,
        duration: "DAY",
        resource,
        metrics: {
          uniqueUserCount: 2,
          totalSqlQueries: 57,
          topSqlQueries: ["select 1"],
          users: [
            { user: "urn:li:corpuser:mira", count: 40, userEmail: "mira@example.com" },
            { count: 17, userEmail: "gone@example.com" },
          ],
          fields: [{ fieldName: "order_id", count: 57 }],
        },
      },
    ]);
    expect(others).toEqual([]);
    expect(proposal).toMatchObject({
      entityType: "dataset",
      entityUrn: resource,
      changeType: "UPSERT",
      aspectName: "datasetUsageStatistics",
    });
    expect(JSON.parse(String(proposal?.aspect?.value))).toEqual({
      timestampMillis: 1_772_323_200_000,
      eventGranularity: { unit: "DAY", multiple: 1 },
      uniqueUserCount: 2,
      totalSqlQueries: 57,
      topSqlQueries: ["select 1"],
      userCounts: [{ user: "urn:li:corpuser:mira", count: 40, userEmail: "mira@example.com" }],
      fieldCounts: [{ fieldPath: "order_id", count: 57 }],
    });
  });

  test("omits absent counts, and keeps the order", () => {
    const bucket = { duration: "HOUR", resource, metrics: {} };
    const values = usageProposals([
      { ...bucket, bucket: 2 },
      { ...bucket, bucket: 1 },
    ]).map(({ aspect }) => aspect?.value);
    expect(values).toEqual([
      '{"timestampMillis":2,"eventGranularity":{"unit":"HOUR","multiple":1}}',
      '{"timestampMillis":1,"eventGranularity":{"unit":"HOUR","multiple":1}}',
    ]);
  });
});

test("a usage range extends a whole bucket beyond its name", () => {
  const now = 1_772_409_600_000;
  const day = 86_400_000;
  expect(now - startOfUsageRange("HOUR", now)).toBe(2 * 3_600_000 + 1);
  expect(now - startOfUsageRange("DAY", now)).toBe(2 * day + 1);
  expect(now - startOfUsageRange("YEAR", now)).toBe(366 * day + 1);
  expect(startOfUsageRange("ALL", now)).toBe(0);
  expect(usageRanges).toEqual([
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "HALF_YEAR",
    "YEAR",
    "ALL",
  ]);
});
