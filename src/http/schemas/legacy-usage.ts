/**
 * Converts DataHub's older usage buckets to datasetUsageStatistics events, one event of the resource per
 * bucket. Pure.
 */
import { type Proposal, REQUEST_PATH } from "../../catalog/catalog.ts";
import { ownValue } from "../../lib/own-value.ts";

/** A bucket as sent by clients. */
export interface UsageBucket {
  /** Start of the bucket, epoch milliseconds. */
  readonly bucket: number;
  readonly duration: string;
  readonly resource: string;
  readonly metrics: {
    readonly uniqueUserCount?: number;
    readonly totalSqlQueries?: number;
    readonly topSqlQueries?: readonly string[];
    readonly users?: readonly {
      readonly user?: string;
      readonly count: number;
      readonly userEmail?: string;
    }[];
    readonly fields?: readonly { readonly fieldName: string; readonly count: number }[];
  };
}

/** Each with the location of its bucket, for messages. */
export function usageProposals(buckets: readonly UsageBucket[]): readonly Proposal[] {
  return buckets.map(({ bucket, duration, resource, metrics }, i) => ({
    entityType: "dataset",
    entityUrn: resource,
    changeType: "UPSERT",
    aspectName: "datasetUsageStatistics",
    [REQUEST_PATH]: `buckets[${i}]`,
    aspect: {
      contentType: "application/json",
      value: JSON.stringify({
        timestampMillis: bucket,
        eventGranularity: { unit: duration, multiple: 1 },
        uniqueUserCount: metrics.uniqueUserCount,
        totalSqlQueries: metrics.totalSqlQueries,
        topSqlQueries: metrics.topSqlQueries,
        // The aspect counts by user: a count without a user is only part of the totals.
        userCounts: metrics.users?.filter((count) => count.user !== undefined),
        fieldCounts: metrics.fields?.map(({ fieldName, count }) => ({
          fieldPath: fieldName,
          count,
        })),
      }),
    },
  }));
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Length of each range, including the current bucket and the one that the range cuts: a day is two. */
const reach: Readonly<Record<string, number>> = {
  HOUR: 2 * HOUR,
  DAY: 2 * DAY,
  WEEK: 8 * DAY,
  MONTH: 31 * DAY,
  QUARTER: 92 * DAY,
  HALF_YEAR: 184 * DAY,
  YEAR: 366 * DAY,
};

export const usageRanges = [...Object.keys(reach), "ALL"];

/** Start of a range that ends now, epoch milliseconds; 0 for ALL and unknown ranges. */
export function startOfUsageRange(range: string, now: number): number {
  const millis = ownValue(reach, range);
  return millis === undefined ? 0 : now - millis - 1;
}
