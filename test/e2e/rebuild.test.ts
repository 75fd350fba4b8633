/**
 * Rebuilds while the service reads and writes: reads never return less than before, a rebuilt view
 * equals the log, and a kill at any time leaves either the old or the new generation live.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { caughtUp } from "../support/caught-up.ts";
import { proposal } from "../support/client.ts";
import { killableService } from "../support/killable-service.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { dataset, datasetProposals, shownCounts } from "./shown-counts.ts";

/** Kills during the build, and right after the first view has a new live generation. */
const kills = { building: 3, replacing: 2 };

const views = ["aspects", "timeseries", "graph", "search"];

const service = killableService("annals-rebuild");
const { start } = service;

type Started = Awaited<ReturnType<typeof start>>;

async function ingest({ client }: Started, from: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, i) => i + from);
  const proposals = numbers.flatMap((n) => datasetProposals(n));
  for (let at = 0; at < proposals.length; at += 1_500) {
    const reply = await client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals: proposals.slice(at, at + 1_500),
    });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  }
}

async function ended({ value }: Started, id: string) {
  for (;;) {
    const job = await value("getJob", { id });
    if (job.state !== "running") return job;
    await pause(20);
  }
}

/** Writes once more, and waits until every view has applied everything. */
async function writeLast({ client }: Started, urn: string): Promise<void> {
  expect((await client.upsert(urn, "status", { removed: false })).status).toBe(200);
  await caughtUp({ client, directory: service.directory });
}

const generationOf = (view: string): number => {
  const db = new DatabaseSync(join(service.directory, `${view}.sqlite`), { readOnly: true });
  try {
    return Number(db.prepare("SELECT generation FROM view").get()?.generation);
  } finally {
    db.close();
  }
};

const generations = () => views.map(generationOf);

/** Writes and reads until `stop`; fails when a read returns less than an earlier one. */
function load(started: Started, from: number) {
  let going = true;
  let reads = 0;
  let written = from;
  const writing = (async () => {
    for (; going; written += 2) {
      await ingest(started, written, 2);
      await pause(60);
    }
  })();
  const reading = (async () => {
    let before = await shownCounts(started.client);
    while (going) {
      const now = await shownCounts(started.client);
      for (const [name, count] of Object.entries(now)) {
        expect(count, name).toBeGreaterThanOrEqual(before[name as keyof typeof before]);
      }
      before = now;
      reads++;
      await pause(60);
    }
  })();
  // The method stop reports errors.
  for (const one of [writing, reading]) one.catch(() => {});
  return {
    reads: () => reads,
    written: () => written,
    /** Ends the load of a killed process and ignores its errors. */
    async gone() {
      going = false;
      await Promise.allSettled([writing, reading]);
    },
    async stop() {
      going = false;
      await Promise.all([writing, reading]);
    },
  };
}

/** Resolves when a new generation is live, or when no rebuild is running. */
async function changed(started: Started, before: readonly number[]): Promise<void> {
  for (;;) {
    for (let look = 0; look < 50; look++) {
      if (generations().join() !== before.join()) return;
      await pause(2);
    }
    const { jobs } = await started.value("listJobs", { count: 50 });
    if (!jobs.some(({ state }: { state: string }) => state === "running")) return;
  }
}

async function expectViewsEqualLog(): Promise<void> {
  const { differences } = await differencesFromRebuild(service.directory);
  expect(differences).toEqual([]);
}

describe("rebuilds while the service runs", () => {
  test("reads return no less at any time, and the next generation equals the log", async () => {
    const started = await start();
    await ingest(started, 0, 700);
    const under = load(started, 700);
    for (let round = 1; round <= 2; round++) {
      const id = await started.value("rebuildViews", {});
      const conflict = await started.act("rebuildViews", { views: ["graph"] });
      expect(conflict.status).toBe(409);
      const job = await ended(started, id);
      expect(job, JSON.stringify(job)).toMatchObject({ state: "done", kind: "rebuild" });
      expect(job.counts.updated).toBe(job.counts.total);
      expect(job.counts.updated).toBeGreaterThan(4_000);
      expect(generations()).toEqual([1 + round, 1 + round, 1 + round, 1 + round]);
    }
    await under.stop();
    expect(under.reads()).toBeGreaterThan(10);
    const last = under.written() - 1;
    await writeLast(started, dataset(last));
    await service.stop();
    await expectViewsEqualLog();
    const again = await start();
    expect(await shownCounts(again.client)).toMatchObject({ entities: under.written() });
    expect(readdirSync(service.directory).filter((name) => name.endsWith(".link"))).toEqual([]);
  });

  test("a finished job reports the number of records that it read", async () => {
    const started = await start();
    await ingest(started, 0, 760);
    await writeLast(started, dataset(0));
    for (const names of [...views.map((view) => [view]), []]) {
      const { log } = await started.value("getStatus", {});
      const job = await ended(started, await started.value("rebuildViews", { views: names }));
      expect(job.state).toBe("done");
      const { updated, total } = job.counts;
      expect(updated).toBe(total);
      expect(updated % log.position, JSON.stringify(job.counts)).toBeLessThan(20);
      expect(updated).toBeGreaterThanOrEqual(log.position);
    }
  });

  test("a kill at any time leaves every view with one complete generation", async () => {
    let started = await start();
    await ingest(started, 0, 600);
    let written = 600;
    const begun = performance.now();
    const first = load(started, written);
    expect(await ended(started, await started.value("rebuildViews", {}))).toMatchObject({
      state: "done",
    });
    const rebuildMs = performance.now() - begun;
    await first.stop();
    written = first.written();
    const seen = new Set<string>();
    for (let kill = 0; kill < kills.building + kills.replacing; kill++) {
      const before = generations();
      const under = load(started, written);
      // The job of the killed process may resume.
      await started.act("rebuildViews", {});
      // The first kill is at the start of a build, later ones at random times, and those of the
      // second kind after a new generation is live.
      if (kill > 0 && kill < kills.building) {
        await pause((rebuildMs * (kill + Math.random())) / kills.building);
      } else if (kill > 0) {
        await changed(started, before);
      }
      const acknowledged = under.written();
      await service.stop("SIGKILL");
      await under.gone();
      const after = generations();
      for (const [n, view] of views.entries()) {
        expect([0, 1, 2], view).toContain((after[n] ?? 0) - (before[n] ?? 0));
      }
      seen.add(after.map((one, n) => one - (before[n] ?? 0)).join(""));
      started = await start();
      expect((await shownCounts(started.client)).entities).toBeGreaterThanOrEqual(acknowledged);
      // The last writes may or may not be in the log: they are written again.
      written = under.written();
    }
    const { jobs } = await started.value("listJobs", { count: 50 });
    for (const { id } of jobs) {
      const { state, error } = await ended(started, id);
      // A job that was interrupted too often fails with that error.
      expect([state, error?.slice(0, 27)]).toEqual(
        state === "done" ? ["done", undefined] : ["failed", "the process ended 4 times w"],
      );
    }
    await writeLast(started, dataset(0));
    await service.stop();
    await expectViewsEqualLog();
    const files = readdirSync(service.directory).filter((name) => /\.(link|regrown)/.test(name));
    expect(files).toEqual([]);
    // Kills came before and after new generations were live.
    expect(seen.size).toBeGreaterThan(1);
  }, 480_000);

  test("rebuilt views equal the log while their sources are written to", async () => {
    const started = await start();
    await ingest(started, 0, 300);
    let going = true;
    const writing = Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let n = writer; going; n += 7) {
          const urn = dataset(n % 300);
          const proposals = [
            proposal(urn, "datasetProperties", { description: `ordinary, written ${n}` }),
            proposal(urn, "datasetProfile", {
              timestampMillis: 1_700_000_000_000 + n,
              rowCount: n,
            }),
          ];
          const path = "/aspects?action=ingestProposalBatch";
          expect((await started.client.call("POST", path, { proposals })).status).toBe(200);
        }
      }),
    );
    try {
      for (const some of [["aspects", "search"], ["search"], ["timeseries", "search"]]) {
        const job = await ended(started, await started.value("rebuildViews", { views: some }));
        expect(job, JSON.stringify(job)).toMatchObject({ state: "done" });
      }
    } finally {
      going = false;
      await writing;
    }
    await writeLast(started, dataset(0));
    await service.stop();
    await expectViewsEqualLog();
  }, 240_000);
});
