/**
 * /operations: maintenance of views, timeseries and jobs. Requests need the admin token, or an access
 * token of a user with the privilege of the operation.
 */
import type {
  IndexSize,
  OperationResult,
  RestoreRequest,
  TruncateRequest,
} from "../../../jobs/operations.ts";
import type { WireForm } from "../../request/protocol.ts";
import {
  type ApiResponse,
  complete,
  type Endpoint,
  objectWith,
  type Resource,
  type Schema,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import { urn } from "../../schemas/schemas.ts";
import {
  action,
  count,
  flag,
  malformed,
  pageForm,
  pageSchema,
  text,
  tooManyJobs,
  unauthenticated,
  unavailable,
} from "./operation-forms.ts";
import { parkedRoutes } from "./parked.ts";
import { rebuildViews } from "./rebuild.ts";
import { scavengeLog } from "./scavenge.ts";
import { verifyRoutes } from "./verify.ts";

export const operationsResource: Resource = {
  name: "operations",
  implementation: "operations.OperationsResource",
  about:
    "Maintenance of views, timeseries and jobs. Requests need `Authorization: Bearer <token>` with the admin token, which the first start writes to the file `operator.token` of the data directory, or with an access token of a user with the privilege of the operation.",
};

const getEsTaskStatus: Endpoint = {
  ...action,
  name: "getEsTaskStatus",
  summary: "Read the status of a job in DataHub's form",
  about:
    "The task is named as a whole or in two parts. The response is JSON text: `completed`, `taskId`, `runTimeNanos` and `status`, which is JSON text again. A job that failed or was cancelled also has `state` and `error`. An unknown job is JSON text with `error`.",
  body: {
    type: "object",
    properties: {
      task: text("`<node>:<number>`"),
      nodeId: text("The part before the colon"),
      taskId: count("The number after it"),
    },
  },
  response: valueSchema(text("JSON text")),
  errors: [
    unauthenticated,
    {
      code: "malformed",
      when: "`task` is missing, repeated, or not `<node>:<number>`",
    },
  ],
  handle: async ({ body }, { operations }) =>
    valueResponse(await operations.getTaskStatus(body as object)),
};

const truncateTimeseriesAspect: Endpoint = {
  ...action,
  name: "truncateTimeseriesAspect",
  summary: "Delete the events of a timeseries aspect that are older than a time",
  about:
    "A dry run, unless `dryRun` is false, counts and changes nothing. Otherwise the response is the id of a job, for getEsTaskStatus. The truncation is a record of the log: readers see none of the events from the moment the view has it, and neither a restore nor a rebuild brings them back. Later writes stay, however old their time.",
  body: objectWith(["entityType", "aspect", "endTimeMillis"], {
    entityType: text("`dataset`, in any letter case"),
    aspect: text("`datasetProfile`, in any letter case; getIndexSizes lists all"),
    endTimeMillis: {
      type: "integer",
      minimum: -Number.MAX_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Epoch milliseconds: strictly older events are deleted",
    },
    dryRun: flag("True when absent"),
    batchSize: count("Events of one transaction: 10,000 when absent, and at most", 1),
    timeoutSeconds: count(
      "After this time the job fails; the store continues to delete events in the background. No limit when absent",
      1,
    ),
    forceDeleteByQuery: flag("Only changes the text of a dry run: there is one way to delete"),
    forceReindex: flag("The same; not together with forceDeleteByQuery"),
  }),
  response: valueSchema(text("Result of the dry run, or the id of the job")),
  errors: [
    unauthenticated,
    malformed,
    { code: "invalid", when: "the entity type is unknown, or has no such timeseries aspect" },
    tooManyJobs,
    unavailable,
  ],
  handle: async ({ body, caller }, { operations }) =>
    outcomeResponse(await operations.truncateTimeseries(body as TruncateRequest, caller)),
};

const outcomeResponse = ({ text, position }: OperationResult): ApiResponse => ({
  ...valueResponse(text),
  position,
});

const restoreIndices: Endpoint = {
  ...action,
  name: "restoreIndices",
  writes: true,
  summary: "Restore entities in the views from the log",
  about:
    "Restores one urn, all urns that match a pattern, or all entities. Rows are the current aspects, sorted by urn and then by aspect. A restore covers the whole entity in every view, timeseries included: it adds missing data and removes data that does not belong there. It also restores edges that `DELETE /relationships` removed, if the entity's own aspects state them: it appends a record, so that a rebuild gives the same edges. Writes are accepted meanwhile. The response names the job, waits for it up to 10 seconds and lists each batch; after `completed=false` the job continues, and getEsTaskStatus returns its state. With `createDefaultAspects`, entities get the default aspects that they lack, because these were deleted or are newer than the entity; otherwise only the first write of an entity adds them. `numThreads` is accepted and has no effect.",
  body: {
    type: "object",
    properties: {
      urn: {
        ...urn,
        description: "Only this entity: all its rows, unless batchSize or limit is lower",
      },
      urnLike: text(
        "Only entities whose urn is LIKE this pattern: `%` is any text, `_` one character",
      ),
      aspect: text("Only rows of this aspect"),
      aspectNames: {
        type: "array",
        items: { type: "string" },
        description: "Only rows of these aspects; a timeseries aspect counts as one row",
      },
      start: count("Rows to leave out at the beginning. 0 when absent"),
      batchSize: count(
        "Rows in all, 10 when absent; of a request with X-RestLi-Protocol-Version, rows of one batch, 500 when absent",
        1,
      ),
      limit: count("Maximum number of rows; 0 or absent: no limit"),
      gePitEpochMs: count(
        "Only rows that were written at this time or later, in epoch milliseconds",
      ),
      lePitEpochMs: count(
        "Only rows that were written at this time or earlier, in epoch milliseconds",
      ),
      createDefaultAspects: flag("Write default aspects that are missing. False when absent"),
      numThreads: count("Accepted and ignored", 1),
      batchDelayMs: { ...count("Pause between batches. 0 when absent"), maximum: 60_000 },
      urnBasedPagination: flag("Start after the row of lastUrn and lastAspect"),
      lastUrn: text("`lastUrn` of the previous response"),
      lastAspect: text("`lastAspect` of the previous response"),
    },
  },
  response: valueSchema(text("The request and its result, in DataHub's form")),
  errors: [
    unauthenticated,
    malformed,
    { code: "invalid", when: "an aspect is unknown" },
    { code: "too_large", when: "urnLike, lastUrn or lastAspect has more than 16,384 characters" },
    tooManyJobs,
    {
      code: "unavailable",
      when: "the projector does not run; try again later. Or the job was cancelled meanwhile",
    },
  ],
  handle: async ({ body, caller, wireForm }, { operations }) => {
    const request = body as Omit<RestoreRequest, "batchSize" | "limit">;
    const rows = rowsOf(body as Paging, wireForm);
    return outcomeResponse(await operations.restoreIndices({ ...request, ...rows }, caller));
  },
};

interface Paging {
  readonly urn?: string;
  readonly batchSize?: number;
  readonly limit?: number;
}

const rowsPerBatch = 500;
const rowsInAll = 10;

/** Mutually exclusive: batchSize counts the rows of one batch, the others those of the request. */
function rowsOf({ urn, batchSize, limit = 0 }: Paging, wireForm: WireForm) {
  if (wireForm === "datahub") return { batchSize: batchSize ?? rowsPerBatch, limit };
  const all = batchSize ?? (urn === undefined && limit === 0 ? rowsInAll : 0);
  const smaller = all === 0 || (limit > 0 && limit < all) ? limit : all;
  return { batchSize: Math.min(batchSize ?? rowsPerBatch, 10_000), limit: smaller };
}

const getIndexSizes: Endpoint = {
  ...action,
  name: "getIndexSizes",
  reads: "timeseries",
  summary: "List the timeseries aspects of each entity type, with the size of their events",
  body: { type: "object", properties: {} },
  response: valueSchema(
    complete({
      indexSizes: {
        type: "array",
        items: complete({
          indexName: text("DataHub's name of the index"),
          entityName: text("Name in lower case, as truncateTimeseriesAspect accepts it"),
          aspectName: text("Name of the aspect in lower case, too"),
          sizeInMb: { type: "number", description: "Estimated size in millions of bytes" },
          sizeMb: { type: "number", description: "The same under its older name" },
        }),
      },
    }),
  ),
  errors: [unauthenticated, malformed, unavailable],
  async handle(_, { operations }) {
    const sizes = indexSizesOf(await operations.getIndexSizes());
    const indexSizes = sizes.map((size) => ({ ...size, sizeInMb: size.sizeMb }));
    return valueResponse({ indexSizes });
  },
};

/** DataHub's names of the indexes. */
export const indexSizesOf = (sizes: readonly IndexSize[]) =>
  sizes.map(({ entityType, aspect, bytes }) => {
    const entityName = entityType.toLowerCase();
    const aspectName = aspect.toLowerCase();
    const indexName = `${entityName}_${aspectName}aspect_v1`;
    return { indexName, entityName, aspectName, sizeMb: bytes / 1e6 };
  });

const jobSchema: Schema = objectWith(
  ["id", "kind", "state", "actor", "request", "started", "runNanos", "counts", "perSecond"],
  {
    id: text("`<node>:<number>`"),
    kind: text("`truncate`, `scavenge`, `restore`, `rebuild` or `verify`"),
    state: { enum: ["running", "done", "failed", "cancelled"] },
    actor: urn,
    request: { type: "object", description: "Its request" },
    started: { type: "integer", description: "Start in epoch milliseconds" },
    ended: { type: "integer", description: "End in epoch milliseconds; absent while the job runs" },
    runNanos: { type: "integer", description: "Duration so far, in nanoseconds" },
    counts: {
      type: "object",
      description:
        "`total`: known amount of work, an estimate during a restore. `deleted`: deleted events. `updated`: restored rows; `noops`: rows without changes; `created`: default aspects",
      additionalProperties: { type: "integer" },
    },
    perSecond: {
      type: "number",
      description: "Average of `completed` per second since the job started",
    },
    error: text("Error of a failed job"),
  },
);

const listJobs: Endpoint = {
  ...action,
  name: "listJobs",
  summary: "List jobs, the newest first",
  body: {
    type: "object",
    properties: {
      ...pageForm("200"),
    },
  },
  response: pageSchema({
    jobs: { type: "array", items: jobSchema },
  }),
  errors: [unauthenticated, malformed],
  async handle({ body }, { operations }) {
    const { start = 0, count: wanted = 20 } = body as { start?: number; count?: number };
    const { total, jobs } = await operations.listJobs({ start, count: wanted });
    return valueResponse({ start, count: jobs.length, total, jobs });
  },
};

const oneJob = {
  body: complete({ id: text("`<node>:<number>`") }),
  response: valueSchema(jobSchema),
} as const;

const getJob: Endpoint = {
  ...action,
  ...oneJob,
  name: "getJob",
  summary: "Read a job: its request, progress and result",
  errors: [unauthenticated, malformed, { code: "not_found", when: "the job does not exist" }],
  handle: async ({ body }, { operations }) =>
    valueResponse(await operations.getJob((body as { id: string }).id)),
};

const cancelJob: Endpoint = {
  ...action,
  ...oneJob,
  name: "cancelJob",
  writes: true,
  summary: "Cancel a job",
  about:
    "The response is the job as it ended. What it had done stays done. A truncation can be cancelled until it is in the log.",
  errors: [
    unauthenticated,
    malformed,
    { code: "not_found", when: "the job does not exist" },
    { code: "conflict", when: "the job has ended, or can no longer be cancelled" },
  ],
  async handle({ body }, { operations }) {
    const { job, position } = await operations.cancelJob((body as { id: string }).id);
    return { ...valueResponse(job), position };
  },
};

/** The same action at the path where DataHub has it, too. */
const restoreIndicesOfAspects: Endpoint = {
  ...restoreIndices,
  path: "/aspects",
};

export const operationRoutes: readonly Endpoint[] = [
  getEsTaskStatus,
  truncateTimeseriesAspect,
  restoreIndices,
  restoreIndicesOfAspects,
  getIndexSizes,
  listJobs,
  getJob,
  cancelJob,
  rebuildViews,
  scavengeLog,
  ...parkedRoutes,
  ...verifyRoutes,
];
