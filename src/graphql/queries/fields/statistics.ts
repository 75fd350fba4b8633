/** Usage, profiles and operations of datasets and dashboards, from their timeseries. */
import type { Privilege } from "../../../auth/policies/privileges.ts";
import { checkedTimeZone } from "../../../core/query/time-zone.ts";
import { dayMs, startOfDayIn } from "../../../lib/calendar.ts";
import { type JsonObject, jsonObject, objectsIn } from "../../../lib/json.ts";
import type { Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { mayRead } from "../access/privilege-checks.ts";
import { eventsOf, type TimeRange } from "../assertions.ts";
import type { EntitySource } from "../entity-source.ts";

/** Length of the ranges in days; ALL has no bound. */
const daysOf: ReadonlyMap<string, number> = new Map([
  ["DAY", 2],
  ["WEEK", 8],
  ["MONTH", 31],
  ["QUARTER", 92],
  ["HALF_YEAR", 183],
  ["YEAR", 366],
]);

const startOf = (range: Maybe<string>, now: number): number => {
  const days = daysOf.get(range ?? "MONTH");
  return days === undefined ? 0 : now - days * dayMs;
};

const mayView = (privilege: Privilege, urn: string, viewer: Viewer): Promise<boolean> =>
  mayRead(viewer, [[privilege]], urn);

async function datasetProfiles({ urn }: EntitySource, range: TimeRange, viewer: Viewer) {
  if (!(await mayView("VIEW_DATASET_PROFILE", urn, viewer))) return [];
  return eventsOf({ urn, entity: "dataset", aspect: "datasetProfile" }, range, viewer);
}

interface UsageInput {
  readonly range?: Maybe<string>;
  readonly startTimeMillis?: Maybe<number>;
  readonly timeZone?: Maybe<string>;
}

interface UserCount {
  readonly user?: string;
  readonly count?: number;
}

interface Usage {
  readonly buckets: readonly JsonObject[];
  readonly aggregations: {
    readonly totalSqlQueries?: number;
    readonly uniqueUserCount?: number;
    readonly users?: readonly UserCount[];
  };
}

/** Buckets of a dataset that a month to half a year of usage has. */
const bucketsUsual = 200;

const usageOf = (urn: string, startTime: number, { catalog, loader }: Viewer): Promise<Usage> =>
  loader.list(
    bucketsUsual,
    async () => (await catalog.queryUsage({ resource: urn, duration: "DAY", startTime })) as Usage,
    () => 0,
  );

async function usageStats({ urn }: EntitySource, asked: UsageInput, viewer: Viewer) {
  // The buckets do not depend on it.
  checkedTimeZone(asked.timeZone ?? "UTC");
  if (!(await mayView("VIEW_DATASET_USAGE", urn, viewer))) return null;
  return usageOf(urn, asked.startTimeMillis ?? startOf(asked.range, viewer.now()), viewer);
}

const topMax = 5;

/** The users with the highest counts. */
const topUsers = (users: readonly UserCount[]): readonly string[] =>
  users
    .flatMap(({ user, count }) => (user === undefined ? [] : [{ user, count: count ?? 0 }]))
    .sort((a, b) => b.count - a.count || (a.user < b.user ? -1 : 1))
    .slice(0, topMax)
    .map(({ user }) => user);

async function datasetSummary({ urn }: EntitySource, _: never, viewer: Viewer) {
  if (!(await mayView("VIEW_DATASET_USAGE", urn, viewer))) return null;
  const { buckets, aggregations } = await usageOf(urn, startOf("MONTH", viewer.now()), viewer);
  if (buckets.length === 0) return null;
  return {
    queryCountLast30Days: aggregations.totalSqlQueries,
    uniqueUserCountLast30Days: aggregations.uniqueUserCount,
    topUsersLast30Days: topUsers(aggregations.users ?? []),
  };
}

/** Members of OperationsAggregationsResult by type of operation. */
const totals: ReadonlyMap<string, string> = new Map([
  ["INSERT", "totalInserts"],
  ["UPDATE", "totalUpdates"],
  ["DELETE", "totalDeletes"],
  ["CREATE", "totalCreates"],
  ["ALTER", "totalAlters"],
  ["DROP", "totalDrops"],
  ["CUSTOM", "totalCustoms"],
]);

function totalsOf(events: readonly JsonObject[]) {
  const counts = new Map([...totals.values()].map((member) => [member, 0]));
  const custom = new Map<string, number>();
  for (const { operationType, customOperationType } of events) {
    const member = totals.get(String(operationType));
    if (member !== undefined) counts.set(member, (counts.get(member) ?? 0) + 1);
    if (typeof customOperationType !== "string") continue;
    custom.set(customOperationType, (custom.get(customOperationType) ?? 0) + 1);
  }
  return {
    totalOperations: events.length,
    ...Object.fromEntries(counts),
    customOperationsMap: Array.from(custom, ([key, value]) => ({ key, value })),
  };
}

interface OperationsInput {
  readonly range?: Maybe<string>;
  readonly timeZone?: Maybe<string>;
}

async function operationsStats(
  { urn }: EntitySource,
  { input }: { input?: Maybe<OperationsInput> },
  viewer: Viewer,
) {
  const startOfDay = startOfDayIn(checkedTimeZone(input?.timeZone ?? "UTC"));
  if (!(await mayView("VIEW_DATASET_OPERATIONS", urn, viewer))) return {};
  const startTimeMillis = startOf(input?.range, viewer.now());
  const of = { urn, entity: "dataset", aspect: "operation" };
  const events = await eventsOf(of, { startTimeMillis }, viewer);
  const dayOf = ({ timestampMillis }: JsonObject) => startOfDay(Number(timestampMillis));
  const days = [...Map.groupBy(events, dayOf)].sort(([a], [b]) => a - b);
  return {
    buckets: days.map(([day, own]) => ({
      bucket: day,
      duration: "DAY",
      resource: urn,
      aggregations: totalsOf(own),
    })),
    aggregations: totalsOf(events),
  };
}

/** Members of AssetStatsResult, and the aspects whose oldest events they name. */
const statistics: readonly (readonly [member: string, aspect: string])[] = [
  ["oldestOperationTime", "operation"],
  ["oldestDatasetUsageTime", "datasetUsageStatistics"],
  ["oldestDatasetProfileTime", "datasetProfile"],
];

async function timeseriesCapabilities({ urn }: EntitySource, _: never, { catalog }: Viewer) {
  const oldest = await Promise.all(
    statistics.map(async ([member, aspect]) => {
      const sort = { field: "timestampMillis", order: "ASCENDING" as const };
      const asked = { urn, entity: "dataset", aspect, limit: 1, sort };
      const { json } = await catalog.getTimeseriesValues(asked);
      const [event] = JSON.parse(json).value.values as readonly { aspect: { value: string } }[];
      return [member, event && JSON.parse(event.aspect.value).timestampMillis];
    }),
  );
  return { assetStats: Object.fromEntries(oldest) };
}

/** Entity types whose views are counted, and the aspects with the counts. */
type Viewed = { readonly entity: string; readonly aspect: string };

const dashboard: Viewed = { entity: "dashboard", aspect: "dashboardUsageStatistics" };
const chart: Viewed = { entity: "chart", aspect: "chartUsageStatistics" };

/** True for an event with the counts of a window; others have the totals since the start. */
const isWindow = ({ eventGranularity }: JsonObject): boolean => jsonObject(eventGranularity);

const sumOf = (events: readonly JsonObject[], member: "viewsCount" | "executionsCount"): number =>
  events.reduce((sum, event) => sum + Number(event[member] ?? 0), 0);

function dashboardUsers(events: readonly JsonObject[]) {
  const users = new Map<
    string,
    { viewsCount: number; executionsCount: number; usageCount: number }
  >();
  for (const one of events.flatMap(({ userCounts }) => objectsIn(userCounts))) {
    const known = users.get(String(one.user)) ?? {
      viewsCount: 0,
      executionsCount: 0,
      usageCount: 0,
    };
    users.set(String(one.user), {
      viewsCount: known.viewsCount + Number(one.viewsCount ?? 0),
      executionsCount: known.executionsCount + Number(one.executionsCount ?? 0),
      usageCount: known.usageCount + Number(one.usageCount ?? one.viewsCount ?? 0),
    });
  }
  return Array.from(users, ([user, counts]) => ({ user, ...counts }));
}

async function dashboardUsageStats({ urn }: EntitySource, range: TimeRange, viewer: Viewer) {
  const events = await eventsOf({ urn, ...dashboard }, range, viewer);
  const windows = events.filter(isWindow);
  const users = dashboardUsers(windows);
  return {
    buckets: windows.toReversed().map((event) => ({
      bucket: event.timestampMillis,
      duration: jsonObject(event.eventGranularity) ? event.eventGranularity.unit : null,
      resource: urn,
      metrics: event,
    })),
    aggregations: {
      uniqueUserCount: users.length,
      users,
      viewsCount: sumOf(windows, "viewsCount"),
      executionsCount: sumOf(windows, "executionsCount"),
    },
    metrics: events
      .filter((event) => !isWindow(event))
      .map((event) => ({ ...event, lastViewed: event.lastViewedAt })),
  };
}

const viewSummary =
  (viewed: Viewed) =>
  async ({ urn }: EntitySource, _: never, viewer: Viewer) => {
    if (!(await mayView("VIEW_DATASET_USAGE", urn, viewer))) return null;
    const events = await eventsOf({ urn, ...viewed }, {}, viewer);
    if (events.length === 0) return null;
    const start = startOf("MONTH", viewer.now());
    const windows = events.filter(
      (event) => isWindow(event) && Number(event.timestampMillis) >= start,
    );
    const users = dashboardUsers(windows);
    return {
      viewCount: events.find((event) => !isWindow(event))?.viewsCount,
      viewCountLast30Days: sumOf(windows, "viewsCount"),
      uniqueUserCountLast30Days: users.length,
      topUsersLast30Days: topUsers(users.map(({ user, usageCount: count }) => ({ user, count }))),
    };
  };

export const statisticsFields = {
  Dataset: {
    datasetProfiles,
    usageStats,
    statsSummary: datasetSummary,
    operationsStats,
    timeseriesCapabilities,
  },
  Dashboard: {
    usageStats: dashboardUsageStats,
    statsSummary: viewSummary(dashboard),
  },
  Chart: { statsSummary: viewSummary(chart) },
};
