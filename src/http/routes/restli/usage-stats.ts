/** /usageStats: usage of datasets in buckets of time, in the form that older clients know. */
import { proposalsMax } from "../../../catalog/catalog.ts";
import {
  actionOf,
  complete,
  type Endpoint,
  integer,
  objectWith,
  type Resource,
  text,
  valueResponse,
} from "../../schemas/endpoint.ts";
import {
  startOfUsageRange,
  type UsageBucket,
  usageProposals,
  usageRanges,
} from "../../schemas/legacy-usage.ts";
import * as schemas from "../../schemas/schemas.ts";

export const usageStatsResource: Resource = {
  name: "usageStats",
  implementation: "usage.UsageStats",
  about: "Write and read the usage of datasets. The aspect datasetUsageStatistics holds it.",
};

const batchIngest: Endpoint = {
  ...actionOf("/usageStats"),
  name: "batchIngest",
  body: complete({
    buckets: { type: "array", items: schemas.usageAggregation, maxItems: proposalsMax },
  }),
  writes: true,
  proposals: ({ body }) => usageProposals((body as { buckets: readonly UsageBucket[] }).buckets),
  async handle(request, { catalog }) {
    const { buckets } = (request.body ?? {}) as { buckets: readonly UsageBucket[] };
    const proposals = request.proposals ?? usageProposals(buckets);
    const { position } = await catalog.ingest(proposals, request.caller);
    return { position };
  },
};

const query: Endpoint = {
  ...actionOf("/usageStats"),
  name: "query",
  body: objectWith(["resource", "duration"], {
    resource: schemas.urn,
    duration: schemas.windowDuration,
    startTime: integer("Start of the time range, in epoch milliseconds"),
    endTime: integer("End of the time range, in epoch milliseconds"),
    maxBuckets: {
      type: "integer",
      minimum: 0,
      description: "Maximum number of buckets, the latest first",
    },
    timeZone: text(
      "A time zone of the IANA database. Buckets keep the length with which they were written",
    ),
  }),
  reads: "timeseries",
  async handle(request, { catalog }) {
    return valueResponse(
      await catalog.queryUsage(request.body as { resource: string; duration: string }),
    );
  },
};

const queryRange: Endpoint = {
  ...actionOf("/usageStats"),
  name: "queryRange",
  body: objectWith(["resource", "duration", "rangeFromEnd"], {
    resource: schemas.urn,
    duration: schemas.windowDuration,
    rangeFromEnd: {
      type: "string",
      enum: usageRanges,
      description: "Length of the time range, which ends now",
    },
    startTime: integer("Start of the time range in epoch milliseconds, instead of `rangeFromEnd`"),
    timeZone: text(
      "A time zone of the IANA database. Buckets keep the length with which they were written",
    ),
  }),
  reads: "timeseries",
  async handle(request, { catalog, now }) {
    const { resource, duration, rangeFromEnd, startTime, timeZone } = request.body as {
      resource: string;
      duration: string;
      rangeFromEnd: string;
      startTime?: number;
      timeZone?: string;
    };
    const endTime = now();
    return valueResponse(
      await catalog.queryUsage({
        resource,
        duration,
        startTime: startTime ?? startOfUsageRange(rangeFromEnd, endTime),
        endTime,
        timeZone,
      }),
    );
  },
};

export const usageStatsRoutes: readonly Endpoint[] = [batchIngest, query, queryRange];
