/**
 * The result of restoreIndices in DataHub's forms: the text of a map, which its command line prints,
 * and members of JSON. Times that exist only in DataHub are 0.
 */
import type { RestoreRequest } from "./operations.ts";

export interface RestoredBatch {
  readonly rowsMigrated: number;
  /** Rows of aspects outside the model, or that a view could not project. */
  readonly ignored: number;
  /** Missing default aspects that were written. */
  readonly defaultAspects: number;
  readonly readMs: number;
  readonly restoreMs: number;
  readonly lastUrn: string;
  readonly lastAspect: string;
}

export function restoredText(
  request: RestoreRequest,
  batches: readonly RestoredBatch[],
  job: { readonly id: string; readonly completed: boolean },
): string {
  const result = batches.map(batchText).join("\n");
  return `{args=${argsText(request)}, result=${result}, taskId=${job.id}, completed=${job.completed}}`;
}

const argsText = (request: RestoreRequest): string =>
  record("RestoreIndicesArgs", {
    start: request.start ?? 0,
    batchSize: request.batchSize,
    limit: request.limit,
    numThreads: 1,
    batchDelayMs: request.batchDelayMs ?? 0,
    gePitEpochMs: request.gePitEpochMs ?? 0,
    lePitEpochMs: request.lePitEpochMs ?? 0,
    createDefaultAspects: request.createDefaultAspects ?? false,
    aspectName: request.aspect ?? null,
    aspectNames: `[${(request.aspectNames ?? []).join(", ")}]`,
    urn: request.urn ?? null,
    urnLike: request.urnLike ?? null,
    urnBasedPagination: request.urnBasedPagination ?? false,
    lastUrn: request.lastUrn ?? "",
    lastAspect: request.lastAspect ?? "",
  });

const batchText = (batch: RestoredBatch): string =>
  record("RestoreIndicesResult", restoredMembers(batch));

/** A batch in DataHub's members. */
export const restoredMembers = (batch: RestoredBatch) => ({
  ignored: batch.ignored,
  rowsMigrated: batch.rowsMigrated,
  timeSqlQueryMs: Math.round(batch.readMs),
  timeGetRowMs: 0,
  timeUrnMs: 0,
  timeEntityRegistryCheckMs: 0,
  aspectCheckMs: 0,
  createRecordMs: 0,
  sendMessageMs: Math.round(batch.restoreMs),
  defaultAspectsCreated: batch.defaultAspects,
  lastUrn: batch.lastUrn,
  lastAspect: batch.lastAspect,
});

const record = (name: string, members: Readonly<Record<string, unknown>>): string =>
  `${name}(${Object.entries(members)
    .map(([member, value]) => `${member}=${value}`)
    .join(", ")})`;
