/**
 * /openapi/operations/elasticSearch: operations in the form of DataHub's OpenAPI. The names are those of
 * its search engine; tasks are jobs.
 */
import { CatalogError } from "../../../core/errors.ts";
import type { Restored, RestoreRequest } from "../../../jobs/operations.ts";
import { restoredMembers } from "../../../jobs/restore/restore-response.ts";
import { groupDigits } from "../../../lib/format.ts";
import { atLeast } from "../../request/parameters.ts";
import {
  type ApiResponse,
  complete,
  type Endpoint,
  objectWith,
  type Parameter,
  type Schema,
} from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import { urn } from "../../schemas/schemas.ts";
import { text, tooManyJobs, unauthenticated, unavailable } from "../operations/operation-forms.ts";
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
  summary: "Read the status of a job",
  about: "Like `getEsTaskStatus` of `/operations`; 404 for an unknown job.",
  parameters: [query.string("task", "`<node>:<number>`", { required: true })],
  response: complete({
    completed: { type: "boolean" },
    taskId: { type: "string" },
    runTimeNanos: { type: "integer" },
    status: text("JSON text"),
  }),
  errors: [
    unauthenticated,
    { code: "malformed", when: "the task is not `<node>:<number>`" },
    { code: "not_found", when: "the job does not exist" },
  ],
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
  summary: "List the timeseries aspects of each entity type, with the size of their events",
  response: complete({
    sizes: {
      type: "array",
      items: complete({
        indexName: { type: "string" },
        entityName: { type: "string" },
        aspectName: { type: "string" },
        sizeMb: { type: "number", description: "Estimated size in millions of bytes" },
      }),
    },
  }),
  errors: [
    unauthenticated,
    { code: "malformed", when: "X-Annals-Min-Position is not a position" },
    unavailable,
  ],
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

const restored: Schema = {
  type: "array",
  description: "One result for each batch",
  items: objectWith(["rowsMigrated", "ignored", "lastUrn", "lastAspect", "taskId", "completed"], {
    rowsMigrated: { type: "integer" },
    ignored: {
      type: "integer",
      description: "Rows of aspects that the model lacks, or that a view rejected",
    },
    timeSqlQueryMs: { type: "integer" },
    sendMessageMs: { type: "integer" },
    defaultAspectsCreated: { type: "integer" },
    lastUrn: { type: "string" },
    lastAspect: { type: "string" },
    taskId: text("Id of the job, for getTaskStatus"),
    completed: { type: "boolean", description: "True if the job has ended" },
  }),
};

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
  response: restored,
  errors: [
    unauthenticated,
    { code: "malformed", when: "a parameter has the wrong type, or a urn does not parse" },
    { code: "invalid", when: "an aspect is unknown" },
    tooManyJobs,
    { code: "unavailable", when: "the projector does not run, or the job was cancelled meanwhile" },
  ],
} as const;

const goesOn =
  "After 10 seconds the response is 202 with the batches so far; the job continues, and `X-Annals-Task` has its id.";

const restoreIndices: Endpoint = {
  ...restoring,
  method: "GET",
  name: "openapiRestoreIndices",
  summary: "Restore entities in the views from the log",
  about: `As \`restoreIndices\` of \`/operations\`, with a batch size of 500. Without parameters: all there is. ${goesOn}`,
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
  summary: "Restore some entities in the views from the log",
  about: `The body is a list of urns, at most ${groupDigits(urnsMax)}. ${goesOn}`,
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
