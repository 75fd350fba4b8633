/**
 * getEsTaskStatus: a job in the form of an Elasticsearch task, as DataHub returns it: JSON text whose
 * `status` is JSON text again. Counts that jobs do not have are 0. A real task of Elasticsearch is
 * returned unchanged.
 */
import { CatalogError } from "../core/errors.ts";
import type { StoreTask } from "../views/timeseries/timeseries-table.ts";
import type { Job } from "./jobs.ts";

export interface TaskQuery {
  readonly task?: string | undefined;
  readonly nodeId?: string | undefined;
  readonly taskId?: number | undefined;
}

const TASK = /^[\w-]+:\d+$/;
const taskCharactersMax = 200;

/** The id that a query names, in either of its forms. Throws `malformed`. */
export function taskIdOf({ task, nodeId, taskId }: TaskQuery): string {
  const parts = nodeId !== undefined && taskId ? `${nodeId}:${taskId}` : undefined;
  if (task === undefined && parts === undefined) {
    throw new CatalogError(
      "malformed",
      "Please specify either Node ID + task ID OR composite task parameters",
    );
  }
  if (task !== undefined && (nodeId !== undefined || taskId)) {
    throw new CatalogError(
      "malformed",
      "Please specify only one of Node ID + task ID OR composite task parameters",
    );
  }
  const id = task ?? parts ?? "";
  if (!TASK.test(id) || id.length > taskCharactersMax) {
    throw new CatalogError(
      "malformed",
      `Task should be in the form nodeId:taskId e.g. aB1cdEf2GHIJKLMnoPQr3S:123456 (got ${id.slice(0, taskCharactersMax)})`,
    );
  }
  return id;
}

export const unknownTask = (id: string): string =>
  JSON.stringify({ error: `Could not get task status for ${id}` });

export function taskStatus({ id, state, runNanos, counts, error }: Job): string {
  const { total, updated, created, deleted, batches, noops } = counts;
  const status = JSON.stringify({
    total,
    updated,
    created,
    deleted,
    batches,
    version_conflicts: 0,
    noops,
    retries: { bulk: 0, search: 0 },
    throttled_millis: 0,
    requests_per_second: -1,
    throttled_until_millis: 0,
  });
  const completed = state !== "running";
  return JSON.stringify({
    completed,
    taskId: id,
    runTimeNanos: runNanos,
    // Elasticsearch writes this number with a fraction; -1.0 means no limit.
    status: status.replace('"requests_per_second":-1,', '"requests_per_second":-1.0,'),
    ...(completed && state !== "done" && { state, error: error ?? "it was cancelled" }),
  });
}

export const storeTaskStatus = ({ id, completed, runNanos, status, failure }: StoreTask): string =>
  JSON.stringify({
    completed,
    taskId: id,
    runTimeNanos: runNanos,
    status,
    ...(failure !== undefined && { state: "failed", error: failure }),
  });
