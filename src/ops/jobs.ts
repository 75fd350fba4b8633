/**
 * Jobs: work that outlives its request. What a job was asked and what became of it is in the log
 * (job-records.ts).
 *
 *   (asked) → running     start: accepted when the log has it
 *   running → done        its work came to its end
 *   running → failed      its work threw; or it was cut off too often
 *   running → cancelled   somebody asked for that, and its work agreed to end
 *   running → (cut off)   the process ended; the next one takes it up where it last said it was
 *
 * A job's work may be done again from that place, so it must come to the same when it is.
 */
import type { Caller } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { doneOf, type JobCounts, NOTHING } from "../core/job-counts.ts";
import type { Position } from "../core/position.ts";
import type { JobRecord } from "../log/job-codec.ts";
import { type JobRecordsParts, numberOf, openJobRecords } from "./job-records.ts";

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
  /** Of what is counted, a second, over all the time that it has run. */
  readonly perSecond: number;
  /** Why it failed. */
  readonly error: string | undefined;
}

/** What a job's work is given. */
export interface JobRun {
  readonly id: string;
  readonly request: unknown;
  /** What it last said of where it was, when it was cut off there. */
  readonly place: unknown;
  /** Whether it was cut off. */
  readonly resumed: boolean;
  /** How far it had come then, or zeros. */
  readonly counts: JobCounts;
  /** Aborted when it is to end; what it throws then is no failure. */
  readonly signal: AbortSignal;
  /** Tells how far it is; from time to time that is written down. */
  report(counts: JobCounts, place?: unknown): Promise<void>;
  /** From now on it cannot be cancelled, for this reason. */
  commit(why: string): void;
}

export type JobWork = (run: JobRun) => Promise<void>;

export interface Started {
  readonly id: string;
  /** Where the log holds that it started. */
  readonly position: Position;
  /** Never rejects. */
  readonly ended: Promise<Ended>;
}

export interface Ended {
  /** As it ended. */
  readonly job: Job;
  /** Where the log holds that; undefined when it does not: the process ends, or it was not written. */
  readonly position: Position | undefined;
}

export interface Jobs {
  /** Resolves when the log has it. */
  start(kind: string, request: unknown, caller: Caller): Promise<Started>;
  /** Undefined: there is no such job. */
  find(id: string): Promise<Job | undefined>;
  /** The newest first. */
  list(page: {
    readonly start: number;
    readonly count: number;
  }): Promise<{ readonly total: number; readonly jobs: readonly Job[] }>;
  /** Resolves when it has ended; throws `conflict` when it cannot be cancelled. */
  cancel(id: string): Promise<Ended>;
  /** How many run here now. */
  running(): number;
  /** Jobs that run end here and go on with the next start. */
  close(): Promise<void>;
}

export interface JobName {
  readonly id: string;
  readonly kind: string;
}

export interface JobsParts extends JobRecordsParts {
  readonly kinds: Readonly<Record<string, JobWork>>;
  readonly systemActor: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Does the work of a job, and may watch it. */
  readonly around?: ((job: JobName, work: () => Promise<void>) => Promise<void>) | undefined;
  /** Called with each job that ended, as it ended. */
  readonly onEnded?: ((job: Job) => void) | undefined;
  /** Milliseconds between two records of how far a job is; 2,000 when absent. */
  readonly reportedMsMin?: number | undefined;
  readonly logger: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** Jobs at a time: each may hold a page of rows in memory. */
export const runningMax = 16;
/** How often a job is taken up again that ends with the process. */
const resumedMax = 3;
/** Between two records of how far a job is. */
const REPORTED_MS_MIN = 2_000;

interface Running {
  readonly number: number;
  readonly controller: AbortController;
  readonly first: JobRecord;
  readonly ended: Promise<Ended>;
  now(): Job;
  committed: string | undefined;
}

/** Takes up what the last process left. */
export async function openJobs(parts: JobsParts): Promise<Jobs> {
  const { now, logger, reportedMsMin = REPORTED_MS_MIN } = parts;
  const { around = (_, work) => work() } = parts;
  const records = await openJobRecords(parts);
  const running = new Map<string, Running>();
  let closing = false;
  let starting: Promise<unknown> = Promise.resolve();

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
    return records.register(asked, Math.min(...[...running.values()].map((one) => one.number)));
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
      place: latest.place === null ? undefined : JSON.parse(latest.place),
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
        logger.error({ err, job: first.id }, "the end of a job could not be written down");
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
        const told = error instanceof CatalogError && error.code !== "internal";
        if (!told) logger.error({ err: error, job: first.id }, "a job failed");
        return end({ state: "failed", error: told ? error.text : "internal error" });
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
    logger.info({ job: first.id, kind: first.kind }, "a job goes on that was cut off");
    await records.write({ ...resumed, state: "running" });
    void run(first, resumed);
  }

  for await (const first of records.unfinished()) await resume(first);
  return {
    find,

    start(kind, request, caller) {
      const started = starting.then(async () => {
        if (closing) throw new CatalogError("unavailable", "the service is stopping");
        if (running.size >= runningMax) {
          throw new CatalogError("rate_limited", `${running.size} jobs are running`, {
            hint: "Wait until one of them has ended, or cancel one; listJobs names them",
          });
        }
        const actor = caller.actor ?? parts.systemActor;
        const { first, position } = await register(kind, request, actor);
        return { id: first.id, position, ended: run(first, first) };
      });
      starting = started.catch(() => {});
      return started;
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
      await starting;
      const all = [...running.values()];
      for (const { controller } of all) {
        controller.abort(new CatalogError("unavailable", "the service is stopping"));
      }
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}

export const unknownJob = (id: string): CatalogError =>
  new CatalogError("not_found", `there is no job "${id.slice(0, 120)}"`, {
    hint: "POST /operations?action=listJobs lists them",
  });

const runsElsewhere = (id: string): CatalogError =>
  new CatalogError("conflict", `job "${id}" runs in another process: it cannot be cancelled here`, {
    hint: "Ask the node whose id it begins with; what ended with its process goes on when that starts",
  });

const unknownKind: JobWork = async () => {
  throw new CatalogError("unavailable", "this release knows no jobs of that kind", {
    hint: "Start the release that began it, or start the work anew",
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
