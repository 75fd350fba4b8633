/** `annals restore`, `annals truncate` and `annals scavenge`: operations of a running service that are jobs. */
import { parseTime } from "../core/calendar.ts";
import { CatalogError } from "../core/errors.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import { watchJob } from "./jobs.ts";
import type { OperatorClient } from "./operator-client.ts";
import type { Terminal } from "./terminal.ts";

interface Around {
  readonly client: OperatorClient;
  readonly terminal: Terminal;
  readonly json: boolean;
  /** Follow the job to its end; otherwise its id is all. */
  readonly wait: boolean;
}

export interface RestoreOptions {
  readonly urn?: string | undefined;
  readonly urnLike?: string | undefined;
  readonly aspectNames?: readonly string[] | undefined;
  readonly start?: number | undefined;
  readonly batchSize?: number | undefined;
  readonly limit?: number | undefined;
}

export async function restore(options: RestoreOptions, around: Around): Promise<ExitCode> {
  const told = await around.client.act<string>("restoreIndices", options);
  const id = /taskId=([\w-]+:\d+)/.exec(told)?.[1];
  if (id === undefined) throw new CatalogError("internal", `no job is told in "${told}"`);
  return follow(id, around);
}

export interface TruncateOptions {
  readonly entityType: string;
  readonly aspect: string;
  /** Epoch milliseconds; events that are strictly older go. */
  readonly endTimeMillis: number;
  /** False: count only. */
  readonly run: boolean;
}

export async function truncate(
  { run, ...asked }: TruncateOptions,
  around: Around,
): Promise<ExitCode> {
  const { client, terminal, json } = around;
  const told = await client.act<string>("truncateTimeseriesAspect", { ...asked, dryRun: !run });
  if (run) return follow(told, around);
  const found = told.split(" Reindexing ")[0] ?? told;
  await terminal.print(json ? JSON.stringify({ dryRun: true, found }) : found);
  if (!json) terminal.tell("nothing was deleted; --run does it");
  return exitCodes.done;
}

/** `run`: false to count only. */
export async function scavenge(run: boolean, around: Around): Promise<ExitCode> {
  const { client, terminal, json } = around;
  const told = await client.act<string>("scavengeLog", { dryRun: !run });
  if (run) return follow(told, around);
  const found = told.split(" This was a dry run.")[0] ?? told;
  await terminal.print(json ? JSON.stringify({ dryRun: true, found }) : found);
  if (!json) terminal.tell("nothing was taken out; --run does it, for good");
  return exitCodes.done;
}

async function follow(id: string, around: Around): Promise<ExitCode> {
  if (around.wait) return watchJob(id, around);
  await around.terminal.print(around.json ? JSON.stringify({ id }) : id);
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
