/**
 * The result of restoreIndices in DataHub's forms: the text of a map, which its command line prints,
 * and members of JSON. Times that exist only in DataHub are 0.
 */

/** Rows are the current aspects of entities, by urn and then by aspect. */
export interface RestoreRequest {
  readonly urn?: string | undefined;
  /** These entities. */
  readonly urns?: readonly string[] | undefined;
  /** SQL LIKE. */
  readonly urnLike?: string | undefined;
  readonly aspect?: string | undefined;
  readonly aspectNames?: readonly string[] | undefined;
  /** Number of rows to skip. */
  readonly start?: number | undefined;
  /** Rows of one batch. */
  readonly batchSize: number;
  /** Rows in all; 0: no limit. */
  readonly limit: number;
  /** Rows written in this range, both ends inclusive. Epoch milliseconds. */
  readonly gePitEpochMs?: number | undefined;
  readonly lePitEpochMs?: number | undefined;
  readonly createDefaultAspects?: boolean | undefined;
  /** Between two batches. */
  readonly batchDelayMs?: number | undefined;
  /** With urnBasedPagination: rows after this one. */
  readonly urnBasedPagination?: boolean | undefined;
  readonly lastUrn?: string | undefined;
  readonly lastAspect?: string | undefined;
}

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
