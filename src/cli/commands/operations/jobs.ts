/** `annals jobs`: lists, shows and cancels jobs of a running service, and follows one to its end. */
import { setTimeout as sleep } from "node:timers/promises";
import { doneOf } from "../../../core/job-counts.ts";
import { ownCommand } from "../../../lib/command-hint.ts";
import type { OperatorClient, ResultOf } from "../../client/operator-client.ts";
import { type ExitCode, exitCodes, Interrupted } from "../../failure.ts";
import type { CommandOutput } from "../../terminal/output.ts";
import { interrupted } from "../../terminal/signals.ts";

type Job = ResultOf<"getJob">;

/** The service to ask, and where the results go. */
export interface JobOperation extends CommandOutput {
  readonly client: OperatorClient;
}

/** Interval at which a job that is followed is read. */
const lookMs = 500;

export async function listJobs(
  count: number,
  { client, terminal, print }: JobOperation,
): Promise<ExitCode> {
  const listed = await client.act("listJobs", { count });
  const rows = listed.jobs.map((job) => [
    ...[job.id, job.kind, job.state, progressOf(job), isoTime(job.started)],
    job.error ?? "",
  ]);
  await print({
    value: listed,
    table: { heads: ["JOB", "KIND", "STATE", "PROGRESS", "STARTED", ""], rows },
    none: "there were no jobs yet",
  });
  const more = listed.total - listed.jobs.length;
  if (more > 0 && rows.length > 0) {
    terminal.note(`${more} older ones are shown with a larger --count`);
  }
  return exitCodes.done;
}

export async function showJob(id: string, { client, print }: JobOperation): Promise<ExitCode> {
  const job = await client.act("getJob", { id });
  await print({ value: job, table: jobText(job) });
  return exitCodes.done;
}

export async function cancelJob(id: string, { client, print }: JobOperation): Promise<ExitCode> {
  const job = await client.act("cancelJob", { id });
  await print({ value: job, table: jobText(job) });
  return exitCodes.done;
}

/** Follows a job to its end and prints it: `done` is a success, `failed` and `cancelled` are not. */
export async function watchJob(
  id: string,
  operation: JobOperation,
  signal?: AbortSignal,
): Promise<ExitCode> {
  return printEnded(await followJob(id, operation, signal), operation);
}

export async function printEnded(job: Job, { print }: JobOperation): Promise<ExitCode> {
  await print({ value: job, table: jobText(job) });
  return job.state === "done" ? exitCodes.done : exitCodes.failed;
}

/**
 * The job after its end. Throws Interrupted when the signal aborts, by default at SIGINT or SIGTERM; the
 * job continues.
 */
export async function followJob(
  id: string,
  { client, terminal }: Pick<JobOperation, "client" | "terminal">,
  signal: AbortSignal = interrupted(),
): Promise<Job> {
  const bar = terminal.startBar("{bar} {percentage}% | {value} of {total}");
  try {
    for (;;) {
      const job = await client.act("getJob", { id });
      bar.update(doneOf(job.counts), Math.max(1, job.counts.total ?? 0));
      if (job.state !== "running") return job;
      if (!(await paused(signal))) throw new Interrupted(jobContinues(id));
    }
  } finally {
    bar.stop();
  }
}

const jobContinues = (id: string): string =>
  `The job continues. Follow it with: ${ownCommand(`jobs watch ${id}`)}`;

/** False when the signal aborts. */
const paused = (signal: AbortSignal): Promise<boolean> =>
  sleep(lookMs, true, { signal }).catch(() => false);

/** A line for each member of the job. */
export function jobText(job: Job): string {
  const { started, ended, counts, perSecond, error } = job;
  const countTexts = Object.entries(counts).map(
    ([name, count]) => `${name} ${count.toLocaleString("en")}`,
  );
  const rows = [
    ...[
      ["job", job.id],
      ["kind", job.kind],
      ["state", job.state],
    ],
    ["asked", JSON.stringify(job.request)],
    ...[
      ["by", job.actor],
      ["started", isoTime(started)],
    ],
    ...(ended === undefined ? [] : [["ended", isoTime(ended)]]),
    ["counts", countTexts.join(", ")],
    ["rate", `${perSecond.toLocaleString("en")}/s`],
    ...(error === undefined ? [] : [["error", error]]),
  ];
  return rows.map(([name = "", text]) => `${name.padEnd(8)}${text}`).join("\n");
}

function progressOf(job: Job): string {
  const { total = 0 } = job.counts;
  const done = doneOf(job.counts).toLocaleString("en");
  return total === 0 ? done : `${done} of ${total.toLocaleString("en")}`;
}

const isoTime = (millis: number): string => new Date(millis).toISOString();
