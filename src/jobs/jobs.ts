/**
 * Jobs: work that outlives its request. The log holds the request, the progress and the result of
 * each job (job-records.ts).
 *
 *   (requested) → running    start: accepted when the log has it
 *   running → done           its work finished
 *   running → failed         its work threw, or the process ended too often
 *   running → cancelled      cancel was called, and its work stopped
 *   running → (interrupted)  the process ended; the next one resumes from the last checkpoint
 *
 * Work after the last checkpoint runs twice, so the work of every kind is idempotent.
 */
import type { Caller } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { doneOf, type JobCounts, NOTHING } from "../core/job-counts.ts";
import type { Position } from "../core/position.ts";
import { createConcurrencyLimit } from "../lib/concurrency-limit.ts";
import { minOf } from "../lib/lists.ts";
import type { JobRecord } from "../log/codecs/job-codec.ts";
import { type JobRecordsParts, numberOf, openJobRecords } from "./job-records.ts";

/** The result of an operation. */
export interface OperationResult {
  readonly text: string;
  /** Position of the last record written; absent when none was. */
  readonly position?: Position;
}

export interface Job {
  /** `<node>:<number>` */
  readonly id: string;
  readonly kind: string;
  readonly state: "running" | "done" | "failed" | "cancelled";
  readonly actor: string;
  readonly request: unknown;
  /** Epoch milliseconds. */
  readonly started: number;
  readonly ended: number | undefined;
  readonly runNanos: number;
  readonly counts: JobCounts;
  /** Counted items per second, over its whole run time. */
  readonly perSecond: number;
  /** Why it failed. */
  readonly error: string | undefined;
}

/** The input of a job's work. */
export interface JobRun {
  readonly id: string;
  readonly request: unknown;
  /** The last checkpoint that it reported before an interruption. */
  readonly checkpoint: unknown;
  /** True after an interruption. */
  readonly resumed: boolean;
  /** Counts at that checkpoint, or zeros. */
  readonly counts: JobCounts;
  /** Aborted by cancel and close; an error thrown after that is no failure. */
  readonly signal: AbortSignal;
  /** Reports progress; the log gets it at intervals. */
  report(counts: JobCounts, checkpoint?: unknown): Promise<void>;
  /** The job cannot be cancelled any more, for this reason. */
  commit(why: string): void;
}

export type JobWork = (run: JobRun) => Promise<void>;

interface Started {
  readonly id: string;
  /** Position of its first record. */
  readonly position: Position;
  /** Never rejects. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  /** The final state. */
  readonly job: Job;
  /** Position of its last record; undefined when the process ends or the append failed. */
  readonly position: Position | undefined;
}

export interface Jobs {
  /** Resolves when the log has it. */
  start(kind: string, request: unknown, caller: Caller): Promise<Started>;
  /** Undefined: no such job exists. */
  find(id: string): Promise<Job | undefined>;
  /** The newest first. */
  list(page: {
    readonly start: number;
    readonly count: number;
  }): Promise<{ readonly total: number; readonly jobs: readonly Job[] }>;
  /** Resolves when the job has ended; throws `conflict` if it cannot be cancelled. */
  cancel(id: string): Promise<Ended>;
  /** Number of jobs that run in this process. */
  running(): number;
  /** Interrupts running jobs; the next start resumes them. */
  close(): Promise<void>;
}

interface JobName {
  readonly id: string;
  readonly kind: string;
}

export interface JobsParts extends JobRecordsParts {
  readonly kinds: Readonly<Record<string, JobWork>>;
  readonly systemActor: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Wraps the work of each job, for traces. */
  readonly around?: ((job: JobName, work: () => Promise<void>) => Promise<void>) | undefined;
  /** Called with each job when it ends. */
  readonly onEnded?: ((job: Job) => void) | undefined;
  /** Milliseconds between two progress records of a job; 2,000 when absent. */
  readonly reportedMsMin?: number | undefined;
  readonly logger: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** Maximum number of concurrent jobs: each may hold a page of rows in memory. */
export const runningMax = 16;
/** Maximum number of resumptions of a job; then it fails. */
const resumedMax = 3;
const REPORTED_MS_MIN = 2_000;

interface Running {
  readonly number: number;
  readonly controller: AbortController;
  readonly first: JobRecord;
  readonly ended: Promise<Ended>;
  now(): Job;
  committed: string | undefined;
}

/** Resumes the jobs that the last process left unfinished. */
export async function openJobs(parts: JobsParts): Promise<Jobs> {
  const { now, logger, reportedMsMin = REPORTED_MS_MIN } = parts;
  const { around = (_, work) => work() } = parts;
  const records = await openJobRecords(parts);
  const running = new Map<string, Running>();
  let closing = false;
  const serially = createConcurrencyLimit(1);

  function register(kind: string, request: unknown, actor: string) {
    const asked = {
      kind,
      state: "started" as const,
      time: now(),
      actor,
      request: JSON.stringify(request),
      place: null,
      resumed: 0,
      runNanos: 0,
      counts: NOTHING,
      error: null,
    };
    return records.register(asked, minOf([...running.values()].map((one) => one.number)));
  }

  function run(first: JobRecord, latest: JobRecord): Promise<Ended> {
    const begun = performance.now();
    const controller = new AbortController();
    let counts = latest.counts;
    let place = latest.place;
    let written = performance.now();
    const record = (over: Partial<JobRecord>): JobRecord => ({
      ...latest,
      time: now(),
      request: null,
      unfinishedFrom: null,
      place,
      counts,
      runNanos: latest.runNanos + Math.round((performance.now() - begun) * 1e6),
      ...over,
    });

    const self: JobRun = {
      id: first.id,
      request: JSON.parse(first.request ?? "null"),
      checkpoint: latest.place === null ? undefined : JSON.parse(latest.place),
      resumed: latest.resumed > 0,
      counts,
      signal: controller.signal,
      async report(next, at) {
        counts = next;
        if (at !== undefined) place = JSON.stringify(at);
        if (performance.now() - written < reportedMsMin) return;
        written = performance.now();
        await records.write(record({ state: "running" }));
      },
      commit(why) {
        entry.committed = why;
      },
    };

    async function end(over: Partial<JobRecord>): Promise<Ended> {
      const final = record(over);
      let position: Position | undefined;
      try {
        position = await records.write(final);
      } catch (err) {
        logger.error({ err, job: first.id }, "the end of a job could not be recorded");
      }
      running.delete(first.id);
      const job = jobOf(first, final);
      parts.onEnded?.(job);
      return { job, position };
    }

    async function work(): Promise<Ended> {
      try {
        const kind = parts.kinds[first.kind] ?? unknownKind;
        await around(first, () => kind(self));
        return await end({ state: "done" });
      } catch (error) {
        if (closing) {
          running.delete(first.id);
          return { job: jobOf(first, record({ state: "running" })), position: undefined };
        }
        if (controller.signal.aborted) return end({ state: "cancelled" });
        const expected = error instanceof CatalogError && error.code !== "internal";
        if (!expected) logger.error({ err: error, job: first.id }, "a job failed");
        return end({ state: "failed", error: expected ? error.text : "internal error" });
      }
    }

    const entry: Running = {
      number: numberOf(first.id),
      controller,
      first,
      now: () => jobOf(first, record({ state: "running" })),
      committed: undefined,
      ended: Promise.resolve().then(work),
    };
    running.set(first.id, entry);
    return entry.ended;
  }

  async function find(id: string): Promise<Job | undefined> {
    const known = running.get(id);
    if (known !== undefined) return known.now();
    const first = await records.first(id);
    return first && jobOf(first, await records.latest(first));
  }

  async function resume(first: JobRecord): Promise<void> {
    const latest = await records.latest(first);
    if (latest.state !== "started" && latest.state !== "running") return;
    const resumed = { ...latest, resumed: latest.resumed + 1, time: now(), request: null };
    if (latest.resumed >= resumedMax) {
      const error = `the process ended ${resumedMax + 1} times while it ran`;
      await records.write({ ...resumed, state: "failed", error });
      return;
    }
    logger.info({ job: first.id, kind: first.kind }, "an interrupted job resumes");
    await records.write({ ...resumed, state: "running" });
    void run(first, resumed);
  }

  for await (const first of records.unfinished()) await resume(first);
  return {
    find,

    start(kind, request, caller) {
      return serially(async () => {
        if (closing) throw new CatalogError("unavailable", "the service is stopping");
        if (running.size >= runningMax) {
          throw new CatalogError("rate_limited", `${running.size} jobs are running`, {
            hint: "Wait until one of them has ended, or cancel one; annals jobs (listJobs) names them",
          });
        }
        const actor = caller.actor ?? parts.systemActor;
        const { first, position } = await register(kind, request, actor);
        return { id: first.id, position, ended: run(first, first) };
      });
    },

    async list(page) {
      const { total, firsts } = await records.list(page);
      const jobs: Job[] = [];
      for (const first of firsts) {
        jobs.push(running.get(first.id)?.now() ?? jobOf(first, await records.latest(first)));
      }
      return { total, jobs };
    },

    async cancel(id) {
      const entry = running.get(id);
      if (entry === undefined) {
        const job = await find(id);
        if (job === undefined) throw unknownJob(id);
        if (job.state === "running") throw runsElsewhere(id);
        throw new CatalogError("conflict", `job "${id}" is ${job.state}: it cannot be cancelled`);
      }
      if (entry.committed !== undefined) {
        throw new CatalogError("conflict", `job "${id}" cannot be cancelled`, {
          hint: entry.committed,
        });
      }
      entry.controller.abort(new CatalogError("conflict", "the job was cancelled"));
      return entry.ended;
    },

    running: () => running.size,

    async close() {
      closing = true;
      await serially(async () => {});
      const all = [...running.values()];
      for (const { controller } of all) {
        controller.abort(new CatalogError("unavailable", "the service is stopping"));
      }
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

export const unknownJob = (id: string): CatalogError =>
  new CatalogError("not_found", `job "${id.slice(0, 120)}" does not exist`, {
    hint: "annals jobs, or POST /operations?action=listJobs, lists them",
  });

const runsElsewhere = (id: string): CatalogError =>
  new CatalogError("conflict", `job "${id}" runs in another process: it cannot be cancelled here`, {
    hint: "Ask the node named by the id's prefix; the job resumes when that node restarts",
  });

const unknownKind: JobWork = async () => {
  throw new CatalogError("unavailable", "this release has no jobs of that kind", {
    hint: "Start the release that started the job, or start a new job",
  });
};

function jobOf(first: JobRecord, latest: JobRecord): Job {
  const { state, time, runNanos, counts, error } = latest;
  const ends = state !== "started" && state !== "running";
  return {
    id: first.id,
    kind: first.kind,
    state: ends ? state : "running",
    actor: first.actor,
    request: JSON.parse(first.request ?? "null"),
    started: first.time,
    ended: ends ? time : undefined,
    runNanos,
    counts,
    perSecond: runNanos === 0 ? 0 : Math.round((doneOf(counts) * 1e10) / runNanos) / 10,
    error: error ?? undefined,
  };
}
