/** /runs: lists ingestion runs and their writes, and rolls runs back. */

import type { RollbackRequest } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import {
  type ApiContext,
  type ApiRequest,
  type ApiResponse,
  type Endpoint,
  flag,
  objectWith,
  type Resource,
  type Schema,
  valueResponse,
} from "../../schemas/endpoint.ts";

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

const listRuns: Endpoint = {
  ...action,
  name: "list",
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
  reads: "entities",
  handle: async ({ body }, { catalog }) => valueResponse(await catalog.listRuns(body ?? {})),
};

const describeRun: Endpoint = {
  ...action,
  name: "describe",
  body: objectWith(["runId"], {
    runId,
    start: count("Number of items to skip. 0 when absent"),
    count: count("At most so many: 100 when absent, 10,000 at most"),
    includeSoft: flag("Include soft-deleted entities and rolled-back writes"),
    includeAspect: flag("Include the written values"),
  }),
  reads: "entities",
  async handle({ body }, { catalog }) {
    const asked = body as { readonly runId: string };
    const rows = await catalog.describeRun({ start: 0, count: 100, ...asked });
    return valueResponse(rows.map(shown));
  },
};

/** Rolls back the writes and returns a summary. */
export async function rolledBack(
  request: RollbackRequest,
  { caller }: Pick<ApiRequest, "caller">,
  { catalog }: Pick<ApiContext, "catalog">,
): Promise<ApiResponse> {
  const { position, aspectRowSummaries, ...counts } = await catalog.rollbackRun(request, caller);
  const value = { ...counts, aspectRowSummaries: aspectRowSummaries.map(shown) };
  return valueResponse(value, position);
}

const rollback: Endpoint = {
  ...action,
  access: "watcher",
  name: "rollback",
  body: objectWith(["runId"], {
    runId,
    dryRun: flag("Required: true only counts the changes, false makes them"),
    safe: flag("Hide entities instead of deleting them. True when absent, unless hardDelete"),
    hardDelete: flag("The opposite of `safe`, over which it takes precedence"),
  }),
  writes: true,
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
