/** /usageStats: usage of datasets in buckets of time, in the form that older clients know. */
import { proposalsMax } from "../../../catalog/catalog.ts";
import {
  complete,
  type Endpoint,
  objectWith,
  type Resource,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import {
  startOfUsageRange,
  type UsageBucket,
  usageProposals,
  usageRanges,
} from "../../schemas/legacy-usage.ts";
import * as schemas from "../../schemas/schemas.ts";
import { writeErrors } from "./write-errors.ts";

export const usageStatsResource: Resource = {
  name: "usageStats",
  implementation: "usage.UsageStats",
  about: "Write and read the usage of datasets. The aspect datasetUsageStatistics holds it.",
};

const batchIngest: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/usageStats",
  name: "batchIngest",
  summary: "Write usage buckets",
  about:
    "Each bucket becomes an event of datasetUsageStatistics. All buckets are written, or none.",
  body: complete({
    buckets: { type: "array", items: schemas.usageAggregation, maxItems: proposalsMax },
  }),
  writes: true,
  errors: writeErrors,
  proposals: ({ body }) => usageProposals((body as { buckets: readonly UsageBucket[] }).buckets),
  async handle(request, { catalog }) {
    const { buckets } = (request.body ?? {}) as { buckets: readonly UsageBucket[] };
    const proposals = request.proposals ?? usageProposals(buckets);
    const { position } = await catalog.ingest(proposals, request.caller);
    return { position };
  },
};

const queryErrors = [
  {
    code: "malformed",
    when: "a parameter is missing or of the wrong type, the time zone is unknown, or the urn does not parse",
  },
] as const;

const query: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/usageStats",
  name: "query",
  summary: "Read usage between two times",
  body: objectWith(["resource", "duration"], {
    resource: schemas.urn,
    duration: schemas.windowDuration,
    startTime: { type: "integer", description: "Start of the time range, in epoch milliseconds" },
    endTime: { type: "integer", description: "End of the time range, in epoch milliseconds" },
    maxBuckets: {
      type: "integer",
      minimum: 0,
      description: "Maximum number of buckets, the latest first",
    },
    timeZone: {
      type: "string",
      description:
        "A time zone of the IANA database. Buckets keep the length with which they were written",
    },
  }),
  response: valueSchema(schemas.usageResult),
  reads: "timeseries",
  errors: queryErrors,
  async handle(request, { catalog }) {
    return valueResponse(
      await catalog.queryUsage(request.body as { resource: string; duration: string }),
    );
  },
};

const queryRange: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/usageStats",
  name: "queryRange",
  summary: "Read recent usage",
  body: objectWith(["resource", "duration", "rangeFromEnd"], {
    resource: schemas.urn,
    duration: schemas.windowDuration,
    rangeFromEnd: {
      type: "string",
      enum: usageRanges,
      description: "Length of the time range, which ends now",
    },
    startTime: {
      type: "integer",
      description: "Start of the time range in epoch milliseconds, instead of `rangeFromEnd`",
    },
    timeZone: {
      type: "string",
      description:
        "A time zone of the IANA database. Buckets keep the length with which they were written",
    },
  }),
  response: valueSchema(schemas.usageResult),
  reads: "timeseries",
  errors: queryErrors,
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
