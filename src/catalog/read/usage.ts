/**
 * Usage of a dataset, summed up from its datasetUsageStatistics events: one bucket per event of the
 * requested duration, and the sums over all of them.
 */
import { CatalogError } from "../../core/errors.ts";
import { checkedTimeZone } from "../../core/query/time-zone.ts";
import { type JsonObject, jsonObject, objectsIn } from "../../lib/json.ts";
import type { TimeseriesReader } from "../../views/timeseries/timeseries-table.ts";
import type { Addresses } from "../address.ts";
import type { Catalog } from "../catalog.ts";
import { eventsMax } from "./read-timeseries.ts";

const USAGE = "datasetUsageStatistics";
const DURATIONS = ["YEAR", "MONTH", "WEEK", "DAY", "HOUR"];

interface Dependencies {
  readonly addresses: Addresses;
  readonly reader: Pick<TimeseriesReader, "list">;
  readonly caughtUp: () => Promise<void>;
}

export function createUsage({ addresses, reader, caughtUp }: Dependencies) {
  const queryUsage: Catalog["queryUsage"] = async (query) => {
    if (!DURATIONS.includes(query.duration)) {
      throw new CatalogError("malformed", `duration is "${query.duration}"`, {
        hint: `Send one of ${DURATIONS.join(", ")}`,
      });
    }
    // The buckets do not depend on it: they keep the length with which they were written.
    if (query.timeZone !== undefined) checkedTimeZone(query.timeZone);
    const { urn } = addresses.readable(query.resource);
    await caughtUp();
    const events = await reader.list(
      { urn, aspect: USAGE, from: query.startTime, to: query.endTime },
      {
        limit: Math.min(query.maxBuckets ?? eventsMax, eventsMax),
        accept: ({ value }) => durationOf(JSON.parse(value)) === query.duration,
      },
    );
    const values = events.map(({ value }) => JSON.parse(value) as JsonObject).reverse();
    const buckets = values.map((value) => bucketOf(urn, query.duration, value));
    const max = Math.min(query.maxBuckets ?? eventsMax, eventsMax);
    return {
      buckets: max === 0 ? [] : withEmptyBuckets(buckets, urn, query.duration).slice(-max),
      aggregations: aggregate(values),
    };
  };
  return { queryUsage };
}

/** An event without a granularity stands for a day, as producers of usage mean it. */
function durationOf(value: JsonObject): string {
  const granularity = value.eventGranularity;
  return jsonObject(granularity) ? String(granularity.unit) : "DAY";
}

/** Start of the window that contains the time, in UTC; weeks start on Monday. */
function windowStart(duration: string, time: number): number {
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (duration) {
    case "YEAR":
      return Date.UTC(year, 0);
    case "MONTH":
      return Date.UTC(year, month);
    case "WEEK":
      return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7));
    case "DAY":
      return Date.UTC(year, month, day);
    default:
      return Date.UTC(year, month, day, date.getUTCHours());
  }
}

/**
 * Adds an empty bucket for each window without usage between the first and the last bucket, as in a
 * histogram. Fills at most the latest `eventsMax` windows: the response has no more buckets.
 */
function withEmptyBuckets(
  buckets: readonly UsageBucket[],
  resource: string,
  duration: string,
): readonly UsageBucket[] {
  const filled: UsageBucket[] = [];
  let later: number | undefined;
  for (const bucket of buckets.toReversed()) {
    const start = windowStart(duration, bucket.bucket);
    const before = (window: number) => windowStart(duration, window - 1);
    let at = before(later ?? start);
    for (; at > start && filled.length < eventsMax; at = before(at)) {
      filled.push({ bucket: at, duration, resource, metrics: {} });
    }
    filled.push(bucket);
    later = start;
  }
  return filled.reverse();
}

interface UsageBucket {
  /** Start of the window, in epoch milliseconds. */
  readonly bucket: number;
  readonly duration: string;
  readonly resource: string;
  readonly metrics: JsonObject;
}

function bucketOf(resource: string, duration: string, value: JsonObject): UsageBucket {
  return {
    bucket: Number(value.timestampMillis),
    duration,
    resource,
    metrics: {
      uniqueUserCount: value.uniqueUserCount,
      totalSqlQueries: value.totalSqlQueries,
      topSqlQueries: value.topSqlQueries,
      users: objectsIn(value.userCounts).map(({ user, count, userEmail }) => ({
        user,
        count,
        userEmail,
      })),
      fields: objectsIn(value.fieldCounts).map(({ fieldPath, count }) => ({
        fieldName: fieldPath,
        count,
      })),
    },
  };
}

function aggregate(values: readonly JsonObject[]): JsonObject {
  const users = new Map<string, { user: unknown; count: number; userEmail: unknown }>();
  const fields = new Map<string, { fieldName: unknown; count: number }>();
  let totalSqlQueries = 0;
  for (const value of values) {
    totalSqlQueries += numberOf(value.totalSqlQueries);
    for (const { user, count, userEmail } of objectsIn(value.userCounts)) {
      const key = String(user);
      const sum = users.get(key) ?? { user, count: 0, userEmail };
      sum.count += numberOf(count);
      users.set(key, sum);
    }
    for (const { fieldPath, count } of objectsIn(value.fieldCounts)) {
      const key = String(fieldPath);
      const sum = fields.get(key) ?? { fieldName: fieldPath, count: 0 };
      sum.count += numberOf(count);
      fields.set(key, sum);
    }
  }
  const byCount = (a: { count: number }, b: { count: number }) => b.count - a.count;
  return {
    uniqueUserCount: users.size,
    totalSqlQueries,
    users: [...users.values()].sort(byCount),
    fields: [...fields.values()].sort(byCount),
  };
}

const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);
