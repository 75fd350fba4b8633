/** Verification as a job, over simulated views (src/jobs/verify.ts). */
import { afterEach, expect, test, vi } from "vitest";
import { NOTHING } from "../../src/core/job-counts.ts";
import { position } from "../../src/core/position.ts";
import type { JobRun } from "../../src/jobs/jobs.ts";
import { createVerifications, type VerifyParts } from "../../src/jobs/verify.ts";
import type { Unrestored } from "../../src/projector/parking/restore.ts";
import type { Difference } from "../../src/projector/verify/differences.ts";

const urn = "urn:li:tag:sick";
const missing: Difference = { view: "graph", urn, aspect: "ownership", kind: "missing" };

/** A view that differs until a restore succeeds. */
function verifications(
  restore: (urns: readonly string[]) => readonly Unrestored[],
  over: Partial<VerifyParts> = {},
) {
  let differences: readonly Difference[] = [missing];
  const logged: unknown[] = [];
  const rebuilt: string[] = [];
  const found = () => ({
    ...{ view: "graph", position: position(7), rows: 1, time: 0, full: undefined },
    ...{ count: differences.length, differences },
  });
  const parts = {
    views: ["graph"],
    verify: async () => ({ views: [found()], records: 7 }),
    openState: () => ({
      load: () => ({}),
      save: () => {},
      list: () => ({ total: differences.length, differences }),
      close: () => {},
    }),
    restoration: {
      async restore(urns: readonly string[]) {
        const unrestored = restore(urns);
        if (unrestored.length === 0) differences = [];
        return unrestored;
      },
    },
    rebuild: async (views: readonly string[]) => void rebuilt.push(...views),
    findStuckViews: async () => [],
    checkIndexes: async () => {},
    intervalSeconds: 0,
    logger: { info: () => {}, error: (fields: object) => void logged.push(fields) },
    ...over,
  };
  const { work, watch } = createVerifications(parts as unknown as VerifyParts);
  const run = {
    ...{ id: "n:1", request: { repair: true }, checkpoint: undefined, counts: NOTHING },
    resumed: false,
    ...{ signal: new AbortController().signal, report: async () => {}, commit: () => {} },
  } satisfies JobRun;
  return {
    work: (signal = run.signal) => work({ ...run, signal }),
    ...{ watch, logged, rebuilt },
  };
}

test("entities that differ are restored", async () => {
  const asked: string[] = [];
  const { work } = verifications((urns) => {
    asked.push(...urns);
    return [];
  });
  await work();
  expect(asked).toEqual([urn]);
});

test("a difference that a rebuild does not remove is an error, and its reason is logged", async () => {
  const { work, logged, rebuilt } = verifications(() => [
    { urn, view: "graph", reason: "the disk is full" },
  ]);
  await expect(work()).rejects.toMatchObject({ code: "conflict" });
  expect(logged).toContainEqual({ urn, view: "graph", reason: "the disk is full" });
  expect(rebuilt).toEqual(["graph"]);
});

test("views of other processes are not repaired without a projector, and the error has the reason", async () => {
  const { work, logged, rebuilt } = verifications(() => [
    { urn, view: "graph", reason: "another process feeds it", elsewhere: true },
  ]);
  await expect(work()).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("no projector runs for the views graph"),
    hint: expect.stringContaining("with the role projector"),
  });
  expect(logged).toContainEqual({ urn, view: "graph", reason: "another process feeds it" });
  expect(rebuilt).toEqual([]);
});

/** Counts verifications; each ends when `next` is called. */
function slowVerifications(over: Partial<VerifyParts> = {}) {
  const running: (() => void)[] = [];
  let begun = 0;
  const found = verifications(() => [], {
    async verify() {
      begun++;
      const { promise, resolve } = Promise.withResolvers<void>();
      running.push(resolve);
      await promise;
      return { views: [], records: 7 };
    },
    ...over,
  });
  return {
    ...found,
    begun: () => begun,
    async next() {
      running.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      return { running: running.length, begun };
    },
  };
}

test("one verification runs at a time, and the others wait", async () => {
  const checks: number[] = [];
  const { work, next, begun } = slowVerifications({
    checkIndexes: async () => void checks.push(begun()),
  });
  const works = [work(), work(), work()];
  expect(await next()).toEqual({ running: 1, begun: 1 });
  expect(await next()).toEqual({ running: 1, begun: 2 });
  expect(await next()).toEqual({ running: 1, begun: 3 });
  expect(await next()).toEqual({ running: 0, begun: 3 });
  await Promise.all(works);
  // The indexes are checked at the beginning of each verification.
  expect(checks).toEqual([0, 1, 2]);
});

test("a verification that is cancelled while it waits ends at once and is left out", async () => {
  const { work, next } = slowVerifications();
  const cancelled = new AbortController();
  const first = work();
  const second = work(cancelled.signal);
  const third = work();
  await next();
  cancelled.abort(new Error("cancelled"));
  await expect(second).rejects.toThrow("cancelled");
  expect(await next()).toEqual({ running: 1, begun: 2 });
  await next();
  await Promise.all([first, third]);
});

test("a verification waits for one in the background, which starts no other meanwhile", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  const { work, watch, next, begun } = slowVerifications({ intervalSeconds: 10 });
  const end = watch();
  await vi.advanceTimersByTimeAsync(10_000);
  const job = work();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(begun()).toBe(1);
  expect(await next()).toEqual({ running: 1, begun: 2 });
  expect(await next()).toEqual({ running: 0, begun: 2 });
  await job;
  await end();
});

afterEach(() => {
  vi.useRealTimers();
});

test("background verification compares every view in full, logs differences and repairs nothing", async () => {
  vi.useFakeTimers();
  const grades: string[] = [];
  const restored: string[] = [];
  const restore = (urns: readonly string[]) => {
    restored.push(...urns);
    return [];
  };
  const { watch, logged } = verifications(restore, {
    intervalSeconds: 10,
    async verify({ views }) {
      grades.push(`${views}`);
      if (grades.length === 2) throw new Error("the log cannot be read");
      const found = { position: position(7), rows: 1, time: 0, full: undefined, whole: undefined };
      const differing = { view: "graph", ...found, count: 1, differences: [missing] };
      return { views: [differing], records: 7 };
    },
  });
  const end = watch();
  await vi.advanceTimersByTimeAsync(45_000);
  await end();
  expect(grades).toEqual(Array.from({ length: 4 }, () => "graph"));
  expect(logged).toContainEqual({ view: "graph", found: 1 });
  // A failed verification is logged and does not end the others.
  expect(logged).toContainEqual({
    err: expect.objectContaining({ message: "the log cannot be read" }),
  });
  expect(restored).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(grades).toHaveLength(4);
});

test("a verification fails for a view that makes no progress although the log is ahead", async () => {
  const why = "function is not iterable";
  const stuck = { view: "graph", position: position(65), head: position(77), why };
  const differing = verifications(() => [], { findStuckViews: async () => [stuck] });
  await expect(differing.work()).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining(
      'view "graph" is stuck at position 65, and the log ends at 77',
    ),
  });
  expect(differing.rebuilt).toEqual(["graph"]);
});

test("a repair rebuilds a stuck view, and succeeds when the view then follows the log", async () => {
  let found = [{ view: "graph", position: position(65), head: position(77), why: "" }];
  const { work, rebuilt } = verifications(() => [], {
    findStuckViews: async () => {
      const now = found;
      found = [];
      return now;
    },
  });
  await work();
  expect(rebuilt).toEqual(["graph"]);
});
