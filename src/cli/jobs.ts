/** `annals jobs`: what the jobs of a running service are, and following one to its end. */
import { setTimeout as sleep } from "node:timers/promises";
import { doneOf } from "../core/job-counts.ts";
import { ownCommand } from "../core/own-command.ts";
import { type ExitCode, exitCodes, Interrupted } from "./failure.ts";
import type { OperatorClient } from "./operator-client.ts";
import { interrupted } from "./signals.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface ToldJob {
  readonly id: string;
  readonly kind: string;
  readonly state: "running" | "done" | "failed" | "cancelled";
  readonly actor: string;
  readonly request: unknown;
  /** Epoch milliseconds. */
  readonly started: number;
  readonly ended?: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Of what is counted. */
  readonly perSecond: number;
  readonly error?: string;
}

interface Around {
  readonly client: OperatorClient;
  readonly terminal: Terminal;
  /** Answers as JSON, one document in a line. */
  readonly json: boolean;
}

/** Between two looks at a job that is followed. */
const lookMs = 500;

export async function listJobs(count: number, around: Around): Promise<ExitCode> {
  const { client, terminal, json } = around;
  const listed = await client.act<{ total: number; jobs: readonly ToldJob[] }>("listJobs", {
    count,
  });
  if (json) {
    await terminal.print(JSON.stringify(listed));
    return exitCodes.done;
  }
  if (listed.jobs.length === 0) {
    terminal.tell("there were no jobs yet");
    return exitCodes.done;
  }
  const rows = listed.jobs.map((job) => [
    ...[job.id, job.kind, job.state, progressOf(job), isoTime(job.started)],
    job.error ?? "",
  ]);
  await terminal.print(
    table(["JOB", "KIND", "STATE", "PROGRESS", "STARTED", ""], rows, terminal.width),
  );
  const more = listed.total - listed.jobs.length;
  if (more > 0) terminal.tell(`${more} older ones are shown with a larger --count`);
  return exitCodes.done;
}

export async function showJob(id: string, around: Around): Promise<ExitCode> {
  await printJob(await around.client.act<ToldJob>("getJob", { id }), around);
  return exitCodes.done;
}

export async function cancelJob(id: string, around: Around): Promise<ExitCode> {
  await printJob(await around.client.act<ToldJob>("cancelJob", { id }), around);
  return exitCodes.done;
}

/**
 * Follows a job to its end: `done` is a success, `failed` and `cancelled` are not. Throws Interrupted when
 * the signal aborts, by default at SIGINT or SIGTERM; the job continues.
 */
export async function watchJob(
  id: string,
  around: Around,
  signal: AbortSignal = interrupted(),
): Promise<ExitCode> {
  const { client, terminal } = around;
  const bar = terminal.startBar("{bar} {percentage}% | {value} of {total}");
  try {
    for (;;) {
      const job = await client.act<ToldJob>("getJob", { id });
      bar.update(doneOf(job.counts), Math.max(1, job.counts.total ?? 0));
      if (job.state === "running") {
        if (!(await paused(signal))) throw new Interrupted(jobContinues(id));
        continue;
      }
      bar.stop();
      await printJob(job, around);
      return job.state === "done" ? exitCodes.done : exitCodes.failed;
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

async function printJob(job: ToldJob, { terminal, json }: Around): Promise<void> {
  if (json) {
    await terminal.print(JSON.stringify(job));
    return;
  }
  const { started, ended, counts, perSecond, error } = job;
  const told = Object.entries(counts).map(
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
    ["counts", told.join(", ")],
    ["rate", `${perSecond.toLocaleString("en")}/s`],
    ...(error === undefined ? [] : [["error", error]]),
  ];
  await terminal.print(rows.map(([name = "", text]) => `${name.padEnd(8)}${text}`).join("\n"));
}

function progressOf(job: ToldJob): string {
  const { total = 0 } = job.counts;
  const done = doneOf(job.counts).toLocaleString("en");
  return total === 0 ? done : `${done} of ${total.toLocaleString("en")}`;
}

const isoTime = (millis: number): string => new Date(millis).toISOString();
