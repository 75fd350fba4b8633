/**
 * /openapi/operations/elasticSearch: operations in the form of DataHub's OpenAPI. The names are those of
 * its search engine; tasks are jobs.
 */
import { CatalogError } from "../../../core/errors.ts";
import type { Restored, RestoreRequest } from "../../../jobs/operations.ts";
import { restoredMembers } from "../../../jobs/restore/restore-response.ts";
import { atLeast } from "../../request/parameters.ts";
import type { ApiResponse, Endpoint, Parameter } from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import { urn } from "../../schemas/schemas.ts";
import { indexSizesOf } from "../operations/operations.ts";

const row = { kind: "page", group: "OpenAPI" } as const;
const search = "/openapi/operations/elasticSearch";

/** Of one request: all of them are in the record of its job. */
const urnsMax = 1_000;
const batchDefault = { query: 500, urns: 100 };

const getTaskStatus: Endpoint = {
  ...row,
  method: "GET",
  path: `${search}/getTaskStatus`,
  name: "openapiGetTaskStatus",
  access: "operator",
  parameters: [query.string("task", "`<node>:<number>`", { required: true })],
  async handle({ parameters }, { operations }) {
    const json = await operations.getTaskStatus(parameters as { task: string });
    const job: { taskId?: string; error?: string } = JSON.parse(json);
    if (job.taskId !== undefined) return { json };
    throw new CatalogError("not_found", job.error ?? "the job does not exist", {
      hint: "listJobs of /operations lists all jobs",
    });
  },
};

const getIndexSizes: Endpoint = {
  ...row,
  method: "GET",
  path: `${search}/getIndexSizes`,
  name: "openapiGetIndexSizes",
  access: "operator",
  reads: "timeseries",
  async handle(_, { operations }) {
    const sizes = indexSizesOf(await operations.getIndexSizes());
    return { json: JSON.stringify({ sizes }) };
  },
};

const aspectNames: Parameter = query.strings("aspectNames", "Only rows of these aspects");

const createDefaultAspects: Parameter = query.boolean(
  "createDefaultAspects",
  "Write default aspects that are missing. False when absent",
);

/** 202: the job continues. */
const restoredResponse = ({ batches, id, completed, position }: Restored): ApiResponse => ({
  json: JSON.stringify(
    batches.map((batch) => ({ ...restoredMembers(batch), taskId: id, completed })),
  ),
  position,
  ...(!completed && { status: 202, headers: { "X-Annals-Task": id } }),
});

const restoring = {
  ...row,
  path: `${search}/restoreIndices`,
  access: "operator",
  writes: true,
} as const;

const restoreIndices: Endpoint = {
  ...restoring,
  method: "GET",
  name: "openapiRestoreIndices",
  parameters: [
    query.string("urn", "This entity"),
    query.string(
      "urnLike",
      "Only entities whose urn is LIKE this pattern: `%` is any text, `_` one character",
    ),
    query.string("aspectName", "Only rows of this aspect"),
    aspectNames,
    query.long("start", "Rows to leave out at the beginning. 0 when absent"),
    query.long("batchSize", `Rows of one batch. ${batchDefault.query} when absent`),
    query.long("limit", "Rows in all. 0, as when absent, for no limit"),
    query.long("gePitEpochMs", "Rows that were made at this time or later, in epoch milliseconds"),
    query.long("lePitEpochMs", "Rows that were made at this time or earlier"),
    createDefaultAspects,
  ],
  async handle({ parameters, caller }, { operations }) {
    const { aspectName, ...asked } = parameters as Partial<RestoreRequest> & {
      aspectName?: string;
    };
    const { start, batchSize = batchDefault.query, limit = 0 } = asked;
    const { gePitEpochMs, lePitEpochMs } = asked;
    atLeast({ start, limit, gePitEpochMs, lePitEpochMs }, 0);
    atLeast({ batchSize }, 1);
    const request = { ...asked, aspect: aspectName, batchSize, limit };
    return restoredResponse(await operations.restoreIndices(request, caller));
  },
};

const restoreIndicesOf: Endpoint = {
  ...restoring,
  method: "POST",
  name: "openapiRestoreIndicesOf",
  parameters: [
    aspectNames,
    query.long("batchSize", `Rows of one batch. ${batchDefault.urns} when absent`),
    createDefaultAspects,
  ],
  body: { type: "array", maxItems: urnsMax, items: urn },
  async handle({ parameters, body, caller }, { operations }) {
    const asked = parameters as Partial<RestoreRequest>;
    const { batchSize = batchDefault.urns } = asked;
    atLeast({ batchSize }, 1);
    const urns = body as readonly string[];
    const request = { ...asked, urns, batchSize, limit: 0 };
    return restoredResponse(await operations.restoreIndices(request, caller));
  },
};

export const openApiOperations: readonly Endpoint[] = [
  getTaskStatus,
  getIndexSizes,
  restoreIndices,
  restoreIndicesOf,
];
