/** /runs: lists ingestion runs and their writes, and rolls runs back. */

import type { RollbackRequest } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import {
  type ApiContext,
  type ApiRequest,
  type ApiResponse,
  complete,
  type Endpoint,
  objectWith,
  type Resource,
  type Schema,
  valueResponse,
  valueSchema,
} from "../../schemas/endpoint.ts";
import * as schemas from "../../schemas/schemas.ts";
import { writeErrors } from "./write-errors.ts";

export const runsResource: Resource = {
  name: "runs",
  implementation: "com.linkedin.metadata.resources.entity.BatchIngestionRunResource",
  about: "Runs of ingestion, and their rollback",
};

const action = { method: "POST", kind: "action", path: "/runs" } as const;

const runId: Schema = {
  type: "string",
  minLength: 1,
  description: "Run id, as in `systemMetadata`",
};
const count = (description: string): Schema => ({ type: "integer", minimum: 0, description });
const flag = (description: string): Schema => ({ type: "boolean", description });

const row: Schema = objectWith(
  ["runId", "urn", "aspectName", "timestamp", "metadata", "version", "keyAspect"],
  {
    runId: { type: "string" },
    urn: schemas.urn,
    aspectName: { type: "string" },
    timestamp: { type: "integer", description: "Time of the write, in epoch milliseconds" },
    version: { type: "integer", description: "Version of the aspect; 0 for an event" },
    keyAspect: { type: "boolean", description: "True if the write created the entity" },
    metadata: { type: "string", description: "Always empty" },
    aspect: { type: "object", description: "The written value, on request" },
  },
);

const listRuns: Endpoint = {
  ...action,
  name: "list",
  summary: "List the runs of ingestion, latest write first",
  about:
    "`rows` counts the records of a run, also those that changed nothing, without those of entities that were hard-deleted since. A run that was rolled back is listed only if it has written again, or with `includeSoft`.",
  body: {
    type: "object",
    properties: {
      pageOffset: count("Number of items to skip. 0 when absent"),
      pageSize: count("At most so many: 100 when absent, 10,000 at most"),
      includeSoft: flag(
        "List runs that were rolled back, too, and count what they wrote of what was not deleted since",
      ),
    },
  },
  response: valueSchema({
    type: "array",
    items: complete({
      runId: { type: "string" },
      rows: { type: "integer", description: "Number of records of the run" },
      timestamp: {
        type: "integer",
        description: "Time of its last record, in epoch milliseconds",
      },
    }),
  }),
  reads: "entities",
  errors: [
    { code: "malformed", when: "a parameter is negative or of the wrong type" },
    { code: "forbidden", when: "the caller may not see all entities" },
  ],
  handle: async ({ body }, { catalog }) => valueResponse(await catalog.listRuns(body ?? {})),
};

const describeRun: Endpoint = {
  ...action,
  name: "describe",
  summary: "List the writes of a run",
  about:
    "In the order of the log, without writes from before an entity was hard-deleted. Without `includeSoft` also without soft-deleted entities and rolled-back writes. An unknown run has no writes.",
  body: objectWith(["runId"], {
    runId,
    start: count("Number of items to skip. 0 when absent"),
    count: count("At most so many: 100 when absent, 10,000 at most"),
    includeSoft: flag("Include soft-deleted entities and rolled-back writes"),
    includeAspect: flag("Include the written values"),
  }),
  response: valueSchema({ type: "array", items: row }),
  reads: "entities",
  errors: [
    {
      code: "malformed",
      when: "runId is missing, or a parameter is negative or of the wrong type",
    },
    { code: "forbidden", when: "the caller may not see all entities" },
    { code: "too_large", when: "the values exceed the maximum size of a response" },
  ],
  async handle({ body }, { catalog }) {
    const asked = body as { readonly runId: string };
    const rows = await catalog.describeRun({ start: 0, count: 100, ...asked });
    return valueResponse(rows.map(shown));
  },
};

/** Result of rolling back a run, or all writes with a registry. */
export const rollbackSchema: Schema = valueSchema(
  objectWith(["aspectRowSummaries", "entitiesAffected", "aspectsReverted", "unsafeEntitiesCount"], {
    aspectRowSummaries: { type: "array", description: "At most 100 entities", items: row },
    entitiesAffected: { type: "integer" },
    entitiesDeleted: {
      type: "integer",
      description: "Number of entities that were deleted or hidden",
    },
    aspectsReverted: { type: "integer", description: "Aspects and events that are rolled back" },
    aspectsAffected: {
      type: "integer",
      description: "Aspects of other runs that were deleted with their entities",
    },
    unsafeEntitiesCount: {
      type: "integer",
      description: "Entities that the run created and that others changed",
    },
    unsafeEntities: {
      type: "array",
      description: "At most 1,000 entities",
      items: complete({ urn: schemas.urn }),
    },
  }),
);

/** Rolls back the writes and returns a summary. */
export async function rolledBack(
  request: RollbackRequest,
  { caller }: Pick<ApiRequest, "caller">,
  { catalog }: Pick<ApiContext, "catalog">,
): Promise<ApiResponse> {
  const { position, aspectRowSummaries, ...counts } = await catalog.rollbackRun(request, caller);
  const value = { ...counts, aspectRowSummaries: aspectRowSummaries.map(shown) };
  return { ...valueResponse(value), position };
}

const rollback: Endpoint = {
  ...action,
  access: "watcher",
  name: "rollback",
  summary: "Roll back a run",
  about:
    "Every entity becomes as if the run had written nothing: earlier values of others are restored, later ones stay, events of timeseries are deleted. Entities that the run created are hidden (`status`), or deleted with `safe: false` or `hardDelete: true`; those that others wrote to as well (`unsafeEntities`) are only deleted, never hidden. A rollback appends records: the log keeps the run's writes, and version numbers continue.",
  body: objectWith(["runId"], {
    runId,
    dryRun: flag("Required: true only counts the changes, false makes them"),
    safe: flag("Hide entities instead of deleting them. True when absent, unless hardDelete"),
    hardDelete: flag("The opposite of `safe`, over which it takes precedence"),
  }),
  response: rollbackSchema,
  writes: true,
  errors: [
    ...writeErrors.filter(({ code }) => code !== "malformed" && code !== "forbidden"),
    {
      code: "malformed",
      when: 'runId or dryRun is missing, or runId is "no-run-id-provided", which is no single run',
    },
    {
      code: "forbidden",
      when: "the caller may not see all entities, or may not write some of them",
    },
  ],
  handle(apiRequest, context) {
    const asked = apiRequest.body as { runId: string; dryRun?: boolean } & Parameters<
      typeof isHard
    >[0];
    const { runId, dryRun } = asked;
    // Otherwise a misspelt dry run, whose name requests in DataHub's form ignore, would roll back.
    if (dryRun === undefined) {
      throw new CatalogError("malformed", "Parameter 'dryRun' is required", {
        hint: "Send true to count the changes, or false to make them",
      });
    }
    return rolledBack({ runId, dryRun, hardDelete: isHard(asked) }, apiRequest, context);
  },
};

const isHard = ({ safe, hardDelete }: { safe?: boolean; hardDelete?: boolean }): boolean =>
  safe === undefined ? (hardDelete ?? false) : !safe;

/** The reference's record has this member, and clients expect those that it has. */
const shown = <T extends object>(summary: T) => ({ ...summary, metadata: "" });

export const runsRoutes: readonly Endpoint[] = [listRuns, describeRun, rollback];
