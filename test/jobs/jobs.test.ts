/** Jobs (src/jobs/jobs.ts) over a real log. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { NOTHING } from "../../src/core/job-counts.ts";
import { JOBS, jobStream } from "../../src/core/stream.ts";
import {
  type Job,
  type JobRun,
  type Jobs,
  type JobWork,
  openJobs,
  runningMax,
} from "../../src/jobs/jobs.ts";
import type { ChangeLog } from "../../src/log/change-log.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { readWholeStream } from "../contract/change-log-driver.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

let directory: TemporaryDirectory;
let log: ChangeLog;
let opened: Jobs[];
const logged: string[] = [];
/** The work of each run of the kind "some". */
let some: JobWork;

beforeEach(async () => {
  directory = temporaryDirectory("annals-jobs");
  log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
  opened = [];
  logged.length = 0;
  some = async () => {};
});

afterEach(async () => {
  for (const jobs of opened) await jobs.close();
  await log.close();
  directory[Symbol.dispose]();
});

async function open(
  nodeId = "node",
  kinds: readonly string[] = ["some"],
  reportedMsMin?: number,
): Promise<Jobs> {
  const note = (_: object, message: string) => void logged.push(message);
  const jobs = await openJobs({
    log,
    nodeId,
    kinds: Object.fromEntries(kinds.map((kind) => [kind, (run) => some(run)])),
    systemActor: "urn:li:corpuser:system",
    now: () => 1_700_000_000_000,
    onAppended: () => {},
    reportedMsMin,
    logger: { info: note, error: note },
  });
  opened.push(jobs);
  return jobs;
}

/** A run that continues until `end` is called. */
function heldRun(): { readonly work: JobWork; readonly begun: Promise<JobRun>; end(): void } {
  const begun = Promise.withResolvers<JobRun>();
  const ending = Promise.withResolvers<void>();
  return {
    begun: begun.promise,
    end: () => ending.resolve(),
    async work(run) {
      begun.resolve(run);
      const aborted = new Promise<never>((_, reject) => {
        run.signal.addEventListener("abort", () => reject(run.signal.reason));
      });
      await Promise.race([ending.promise, aborted]);
    },
  };
}

const counts = (deleted: number) => ({ ...NOTHING, total: 9, deleted });
const rejectedWith = (code: string) => expect.objectContaining({ code });

describe("a job", () => {
  test("a job gets the next number, and returns its request and outcome", async () => {
    some = (run) => run.report(counts(4));
    const jobs = await open();
    const first = await jobs.start("some", { a: 1 }, { actor: "urn:li:corpuser:ada" });
    const second = await jobs.start("some", { a: 2 }, {});
    expect([first.id, second.id]).toEqual(["node:1", "node:2"]);
    const expected = {
      ...{ id: "node:1", kind: "some", state: "done", actor: "urn:li:corpuser:ada" },
      ...{ request: { a: 1 }, counts: counts(4), error: undefined },
      ...{ started: 1_700_000_000_000, ended: 1_700_000_000_000 },
    };
    const { job } = await first.ended;
    expect(job).toMatchObject(expected);
    expect(await jobs.find("node:1")).toEqual(job);
    expect((await second.ended).job).toMatchObject({ actor: "urn:li:corpuser:system" });
    expect(job.runNanos).toBeGreaterThan(0);
  });

  test("a running job reports its progress", async () => {
    const { work, begun, end } = heldRun();
    some = async (run) => {
      await run.report(counts(2));
      await work(run);
    };
    const jobs = await open();
    const { id, ended } = await jobs.start("some", null, {});
    await begun;
    const early = (await jobs.find(id)) as Job;
    expect(early).toMatchObject({ state: "running", ended: undefined, counts: counts(2) });
    const later = (await jobs.find(id)) as Job;
    expect(later.runNanos).toBeGreaterThan(early.runNanos);
    end();
    expect((await ended).job.state).toBe("done");
  });

  test.each([
    [
      new CatalogError("invalid", "no such thing", { hint: "Name another" }),
      "no such thing. Name another",
    ],
    [new Error("a secret"), "internal error"],
    [new CatalogError("internal", "a secret"), "internal error"],
  ])(
    'a job that throws fails with the error, or with "internal error" for an internal one: %s',
    async (thrown, error) => {
      some = async () => {
        throw thrown;
      };
      const jobs = await open();
      const { ended, id } = await jobs.start("some", null, {});
      const { job } = await ended;
      expect(job).toMatchObject({ state: "failed", error });
      expect(await jobs.find(id)).toEqual(job);
      expect(logged).toEqual(error === "internal error" ? ["a job failed"] : []);
    },
  );

  test("a job that the log cannot record does not start", async () => {
    const jobs = await open();
    await log.close();
    await expect(jobs.start("some", null, {})).rejects.toEqual(rejectedWith("unavailable"));
  });

  test("the number of running jobs is bounded", async () => {
    const held = heldRun();
    some = held.work;
    const jobs = await open();
    const all = [];
    for (let n = 0; n < runningMax; n++) all.push(await jobs.start("some", n, {}));
    await expect(jobs.start("some", 99, {})).rejects.toEqual(rejectedWith("rate_limited"));
    held.end();
    await Promise.all(all.map(({ ended }) => ended));
    some = async () => {};
    expect((await jobs.start("some", 99, {})).id).toBe(`node:${runningMax + 1}`);
  });

  test("a job writes a record when it starts and one when it ends", async () => {
    some = async (run) => {
      for (let n = 0; n < 100; n++) await run.report(counts(n));
    };
    const jobs = await open();
    const { id, position, ended } = await jobs.start("some", null, {});
    const end = await ended;
    const records = await readWholeStream(log, jobStream(id));
    expect(records.map((record) => record.position)).toEqual([position, end.position]);
    expect(await readWholeStream(log, JOBS)).toHaveLength(1);
  });
});

describe("cancelling a job", () => {
  test("a running job can be cancelled", async () => {
    some = heldRun().work;
    const jobs = await open();
    const { id, ended } = await jobs.start("some", null, {});
    const { job, position } = await jobs.cancel(id);
    expect(job).toMatchObject({ id, state: "cancelled", error: undefined });
    expect(job).toEqual(await jobs.find(id));
    expect(position).toBe(await log.head());
    expect(await ended).toEqual({ job, position });
  });

  test("a committed job cannot be cancelled, and the error has the reason", async () => {
    const { work, begun, end } = heldRun();
    some = async (run) => {
      run.commit("It is in the log");
      await work(run);
    };
    const jobs = await open();
    const { id, ended } = await jobs.start("some", null, {});
    await begun;
    await expect(jobs.cancel(id)).rejects.toMatchObject({
      ...{ code: "conflict", hint: "It is in the log" },
    });
    end();
    expect((await ended).job.state).toBe("done");
    await expect(jobs.cancel(id)).rejects.toEqual(rejectedWith("conflict"));
    await expect(jobs.cancel("node:9")).rejects.toEqual(rejectedWith("not_found"));
  });
});

describe("finding jobs", () => {
  test("jobs of earlier processes and of other nodes are found", async () => {
    const { ended } = await (await open("older")).start("some", 1, {});
    const { job } = await ended;
    const jobs = await open("newer");
    expect(await jobs.find("older:1")).toEqual(job);
    expect((await jobs.start("some", 2, {})).id).toBe("newer:2");
    for (const id of ["newer:1", "older:2", "older:0", "older:-1", "older:x", "older", "", "x:1e9"])
      expect(await jobs.find(id), id).toBeUndefined();
    expect(await jobs.find(`older:${"9".repeat(40)}`)).toBeUndefined();
  });

  test("jobs are listed page by page, newest first", async () => {
    const jobs = await open();
    for (let n = 1; n <= 5; n++) await (await jobs.start("some", n, {})).ended;
    const ids = async (start: number, count: number) =>
      (await jobs.list({ start, count })).jobs.map(({ id }) => id);
    expect(await ids(0, 2)).toEqual(["node:5", "node:4"]);
    expect(await ids(3, 9)).toEqual(["node:2", "node:1"]);
    expect(await ids(5, 9)).toEqual([]);
    expect(await ids(0, 0)).toEqual([]);
    expect((await jobs.list({ start: 0, count: 1 })).total).toBe(5);
  });
});

describe("an interrupted job", () => {
  /** Starts a job that has reached a checkpoint when the process ends. */
  async function cutOff(checkpoint?: unknown): Promise<string> {
    const { work, begun } = heldRun();
    some = async (run) => {
      if (checkpoint !== undefined) await run.report(counts(3), checkpoint);
      await work(run);
    };
    const jobs = await open("node", ["some"], 0);
    const { id } = await jobs.start("some", { a: 1 }, { actor: "urn:li:corpuser:ada" });
    await begun;
    await jobs.close();
    return id;
  }

  async function endOf(jobs: Jobs, id: string): Promise<Job> {
    for (;;) {
      const job = await jobs.find(id);
      if (job !== undefined && job.state !== "running") return job;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  test("an interrupted job resumes in the next process with its request", async () => {
    const id = await cutOff();
    const runs: JobRun[] = [];
    some = async (run) => void runs.push(run);
    const jobs = await open();
    expect(await endOf(jobs, id)).toMatchObject({ state: "done", actor: "urn:li:corpuser:ada" });
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({
      id,
      request: { a: 1 },
      checkpoint: undefined,
      counts: NOTHING,
    });
    expect(logged).toEqual(["an interrupted job resumes"]);
  });

  test("an interrupted job resumes at its last reported checkpoint", async () => {
    const id = await cutOff({ at: 7 });
    const runs: JobRun[] = [];
    some = async (run) => void runs.push(run);
    const job = await endOf(await open(), id);
    expect(runs).toMatchObject([{ checkpoint: { at: 7 }, counts: counts(3) }]);
    expect(job).toMatchObject({ state: "done", counts: counts(3), request: { a: 1 } });
  });

  test("a job that has ended is not resumed, and the end of the process does not cancel it", async () => {
    const id = await cutOff();
    some = async () => {};
    await endOf(await open(), id);
    let runs = 0;
    some = async () => void runs++;
    await open();
    expect(runs).toBe(0);
  });

  test("a job that is interrupted four times fails", async () => {
    const id = await cutOff();
    for (let n = 0; n < 3; n++) {
      const { work, begun } = heldRun();
      some = work;
      const jobs = await open();
      await begun;
      await jobs.close();
    }
    some = async () => {};
    const jobs = await open();
    expect(await jobs.find(id)).toMatchObject({
      ...{ state: "failed", error: "the process ended 4 times while it ran" },
    });
  });

  test("an interrupted job of an unknown kind fails", async () => {
    const id = await cutOff();
    const job = await endOf(await open("node", []), id);
    expect(job).toMatchObject({ state: "failed", error: expect.stringContaining("kind") });
  });

  test("an interrupted job is found among many later ones", async () => {
    const { work, begun } = heldRun();
    some = (run) => (run.request === 0 ? work(run) : Promise.resolve());
    const jobs = await open();
    const { id } = await jobs.start("some", 0, {});
    await begun;
    for (let n = 1; n <= 20; n++) await (await jobs.start("some", n, {})).ended;
    await jobs.close();
    const again: unknown[] = [];
    some = async (run) => void again.push(run.request);
    await endOf(await open(), id);
    expect(again).toEqual([0]);
  });
});

test("no job starts while the service stops", async () => {
  const jobs = await open();
  await jobs.close();
  await expect(jobs.start("some", null, {})).rejects.toEqual(rejectedWith("unavailable"));
});

describe("nodes that share a log", () => {
  test("jobs of several nodes have consecutive numbers and are visible to each node", async () => {
    const [one, other] = [await open("one"), await open("other")];
    const started = [];
    for (const jobs of [one, other, other, one]) started.push(await jobs.start("some", {}, {}));
    await Promise.all(started.map(({ ended }) => ended));
    expect(started.map(({ id }) => id)).toEqual(["one:1", "other:2", "other:3", "one:4"]);
    const { total, jobs } = await one.list({ start: 0, count: 10 });
    expect(total).toBe(4);
    expect(jobs.map(({ id }) => id)).toEqual(["one:4", "other:3", "other:2", "one:1"]);
    expect((await one.find("other:3"))?.state).toBe("done");
  });

  test("a node does not resume or cancel the jobs of another node", async () => {
    const held = heldRun();
    some = held.work;
    const one = await open("one");
    const { id } = await one.start("some", {}, {});
    await held.begun;
    const other = await open("other");
    expect(other.running()).toBe(0);
    expect(await other.find(id)).toMatchObject({ state: "running" });
    await expect(other.cancel(id)).rejects.toMatchObject({
      code: "conflict",
      hint: expect.stringContaining("node"),
    });
    // The job was interrupted, and other nodes started jobs since: its own node resumes it.
    await one.close();
    some = async () => {};
    await (await other.start("some", {}, {})).ended;
    const again = await open("one");
    await expect.poll(async () => (await again.find(id))?.state).toBe("done");
    held.end();
  });
});
