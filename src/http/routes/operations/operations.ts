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
  flag,
  objectWith,
  type Resource,
  text,
  valueResponse,
} from "../../schemas/endpoint.ts";
import { urn } from "../../schemas/schemas.ts";
import { action, count, pageForm } from "./operation-forms.ts";
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
  body: {
    type: "object",
    properties: {
      task: text("`<node>:<number>`"),
      nodeId: text("The part before the colon"),
      taskId: count("The number after it"),
    },
  },
  handle: async ({ body }, { operations }) =>
    valueResponse(await operations.getTaskStatus(body as object)),
};

const truncateTimeseriesAspect: Endpoint = {
  ...action,
  name: "truncateTimeseriesAspect",
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
  handle: async ({ body, caller }, { operations }) =>
    outcomeResponse(await operations.truncateTimeseries(body as TruncateRequest, caller)),
};

const outcomeResponse = ({ text, position }: OperationResult): ApiResponse =>
  valueResponse(text, position);

const restoreIndices: Endpoint = {
  ...action,
  name: "restoreIndices",
  writes: true,
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
  body: { type: "object", properties: {} },
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

const listJobs: Endpoint = {
  ...action,
  name: "listJobs",
  body: {
    type: "object",
    properties: {
      ...pageForm("200"),
    },
  },
  async handle({ body }, { operations }) {
    const { start = 0, count: wanted = 20 } = body as { start?: number; count?: number };
    const { total, jobs } = await operations.listJobs({ start, count: wanted });
    return valueResponse({ start, count: jobs.length, total, jobs });
  },
};

const oneJob = { ...action, body: complete({ id: text("`<node>:<number>`") }) } as const;

const getJob: Endpoint = {
  ...oneJob,
  name: "getJob",
  handle: async ({ body }, { operations }) =>
    valueResponse(await operations.getJob((body as { id: string }).id)),
};

const cancelJob: Endpoint = {
  ...oneJob,
  name: "cancelJob",
  writes: true,
  async handle({ body }, { operations }) {
    const { job, position } = await operations.cancelJob((body as { id: string }).id);
    return valueResponse(job, position);
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
