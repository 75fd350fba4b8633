/** `annals restore`, `annals truncate` and `annals scavenge`: operations of a running service that are jobs. */
import { CatalogError } from "../../../core/errors.ts";
import { doneOf } from "../../../core/job-counts.ts";
import { parseTime } from "../../../lib/calendar.ts";
import { type ExitCode, exitCodes } from "../../failure.ts";
import { followJob, type JobOperation, printEnded, watchJob } from "./jobs.ts";

interface StartedOperation extends JobOperation {
  /** Follow the job to its end; otherwise print its id. */
  readonly wait: boolean;
}

interface RestoreOptions {
  readonly urn?: string | undefined;
  readonly urnLike?: string | undefined;
  readonly aspectNames?: readonly string[] | undefined;
  readonly start?: number | undefined;
  readonly batchSize?: number | undefined;
  readonly limit?: number | undefined;
}

export async function restore(
  options: RestoreOptions,
  operation: StartedOperation,
): Promise<ExitCode> {
  const answer = await operation.client.act("restoreIndices", options);
  const id = /taskId=([\w-]+:\d+)/.exec(answer)?.[1];
  if (id === undefined) throw new CatalogError("internal", `"${answer}" does not name a job`);
  if (!operation.wait) return printId(id, operation);
  const job = await followJob(id, operation);
  if (job.state === "done" && doneOf(job.counts) === 0) {
    const { urn, urnLike } = options;
    const entities = urn === undefined ? `an entity like "${urnLike}"` : `"${urn}"`;
    operation.terminal.note(`no row of ${entities} matches: nothing was restored`);
  }
  return printEnded(job, operation);
}

interface TruncateOptions {
  readonly entityType: string;
  readonly aspect: string;
  /** Epoch milliseconds; events that are strictly older go. */
  readonly endTimeMillis: number;
  /** False: count only. */
  readonly run: boolean;
}

export async function truncate(
  { run, ...asked }: TruncateOptions,
  operation: StartedOperation,
): Promise<ExitCode> {
  const { client, terminal, print } = operation;
  const answer = await client.act("truncateTimeseriesAspect", { ...asked, dryRun: !run });
  if (run) return follow(answer, operation);
  const found = answer.split(" Reindexing ")[0] ?? answer;
  await print({ value: { dryRun: true, found }, table: found });
  terminal.note("nothing was deleted; --run does it");
  return exitCodes.done;
}

/** `run`: false to count only. */
export async function scavenge(run: boolean, operation: StartedOperation): Promise<ExitCode> {
  const { client, terminal, print } = operation;
  const answer = await client.act("scavengeLog", { dryRun: !run });
  if (run) return follow(answer, operation);
  const found = answer.split(" This was a dry run.")[0] ?? answer;
  await print({ value: { dryRun: true, found }, table: found });
  terminal.note("nothing was taken out; --run does it, for good");
  return exitCodes.done;
}

async function follow(id: string, operation: StartedOperation): Promise<ExitCode> {
  return operation.wait ? watchJob(id, operation) : printId(id, operation);
}

async function printId(id: string, { print }: StartedOperation): Promise<ExitCode> {
  await print({ value: { id }, table: id });
  return exitCodes.done;
}

/** `2026-01-01`, `2026-01-01T12:00:00Z`, or epoch milliseconds. Undefined for what is none. */
export function instantOf(given: string): number | undefined {
  if (/^-?\d{5,15}$/.test(given)) return Number(given);
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(given)
    ? parseTime(given)
    : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
