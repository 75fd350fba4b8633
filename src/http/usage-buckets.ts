/**
 * The older way to tell usage, as buckets, in terms of the aspect that holds it now: each bucket is
 * one datasetUsageStatistics event of its resource. Pure.
 */
import { PLACE, type Proposal } from "../catalog/catalog.ts";
import { ownValue } from "../core/own-value.ts";

/** A bucket as clients send it. */
export interface UsageBucket {
  /** Begin of the bucket, epoch milliseconds. */
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

/** Each with the place of its bucket, which a refusal names. */
export function usageProposals(buckets: readonly UsageBucket[]): readonly Proposal[] {
  return buckets.map(({ bucket, duration, resource, metrics }, i) => ({
    entityType: "dataset",
    entityUrn: resource,
    changeType: "UPSERT",
    aspectName: "datasetUsageStatistics",
    [PLACE]: `buckets[${i}]`,
    aspect: {
      contentType: "application/json",
      value: JSON.stringify({
        timestampMillis: bucket,
        eventGranularity: { unit: duration, multiple: 1 },
        uniqueUserCount: metrics.uniqueUserCount,
        totalSqlQueries: metrics.totalSqlQueries,
        topSqlQueries: metrics.topSqlQueries,
        // The aspect counts by user: a count that names none has no place in it, and is still
        // part of the totals.
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

/**
 * How far each range reaches back. The bucket that is under way and the one that the range cuts
 * are both to be seen whole: a day is two days, a week of days eight.
 */
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

/** Where a range that ends now begins, epoch milliseconds; ALL and unknown ones begin at 0. */
export function startOfUsageRange(range: string, now: number): number {
  const millis = ownValue(reach, range);
  return millis === undefined ? 0 : now - millis - 1;
}
