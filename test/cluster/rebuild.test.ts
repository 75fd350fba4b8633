/**
 * Views in servers that are rebuilt while several nodes read and write: reads never return less
 * than before, a killed node leaves no traces, and nodes with two models do not undo each other's
 * rebuilds.
 */
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { datasetProposals, shownCounts } from "../e2e/shown-counts.ts";
import { type Cluster, type ClusterNode, reachCluster, startCluster } from "../support/cluster.ts";
import { operatorOf } from "../support/operator.ts";

const extension = fileURLToPath(new URL("../data/model/extension", import.meta.url));
const stores = await reachCluster(["postgres", "neo4j", "elasticsearch"]);
const views = ["aspects", "timeseries", "graph", "search"];
const entities = 100;
/** Rebuilds yield to all other work of the machine. */
const endedMsMax = 300_000;

async function ingest({ client }: ClusterNode, from: number, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, i) => i + from);
  const proposals = numbers.flatMap((n) => datasetProposals(n, 0));
  const reply = await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
}

const counts = async ({ client }: ClusterNode): Promise<readonly number[]> =>
  Object.values(await shownCounts(client));

async function ended(node: ClusterNode, id: string) {
  const { value } = operatorOf(node);
  const until = Date.now() + endedMsMax;
  for (;;) {
    const job = await value("getJob", { id });
    if (job.state === "failed") throw new Error(`job ${id} failed: ${job.error}`);
    if (job.state !== "running") return job;
    if (Date.now() > until) throw new Error(`job ${id} goes on: ${JSON.stringify(job)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** The generation of each view, from a metric. */
async function figures({ client }: ClusterNode, name: string): Promise<Record<string, number>> {
  const { body } = await client.get("/metrics");
  const lines = String(body).matchAll(
    new RegExp(`^annals_view_${name}{view="(\\w+)"} (\\d+)`, "gm"),
  );
  return Object.fromEntries([...lines].map(([, view, at]) => [view, Number(at)]));
}

const soon = (what: () => Promise<unknown>) =>
  expect.poll(what, { timeout: endedMsMax, interval: 200 });

// The test needs all servers; the end of the run lists the missing ones.
describe.skipIf("skipped" in stores)("views in servers", { timeout: 600_000 }, () => {
  let cluster: Cluster;
  beforeEach(async () => {
    if ("skipped" in stores) return;
    cluster = await startCluster(stores);
  });
  afterEach(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test("views are rebuilt while other nodes read and write, also after a kill of the rebuilding node", async () => {
    const api = await cluster.startNode("api");
    const worker = await cluster.startNode("projector");
    await ingest(api, 0, entities);
    await cluster.caughtUp(api);
    let written = entities;
    let going = true;
    /** Without a projector, writes stay unprojected, and reads at their positions wait. */
    let waiting = false;
    let least = await counts(api);
    expect(least).toEqual([entities, entities, entities, entities]);
    let reads = 0;
    const reading = (async () => {
      while (going) {
        const now = await counts(api).catch((error) => {
          if (!waiting) throw error;
          return least;
        });
        now.forEach((count, n) => void expect(count).toBeGreaterThanOrEqual(least[n] ?? 0));
        least = now;
        reads++;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    })();
    reading.catch(() => {});
    const writing = (async () => {
      while (going) {
        if (!waiting) {
          await ingest(api, written, 3);
          written += 3;
        }
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    })();
    try {
      const id = await operatorOf(worker).value("rebuildViews", {});
      // The kill hits the rebuild at any of its steps.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      waiting = true;
      await worker.stop("SIGKILL");
      const again = await cluster.startNode("projector", { directory: worker.directory });
      await cluster.caughtUp(api);
      waiting = false;
      expect(await ended(again, id)).toMatchObject({ state: "done" });
      const whole = await operatorOf(again).value("rebuildViews", { views: ["graph"] });
      expect(await ended(again, whole)).toMatchObject({ state: "done" });
      // Every node returns the job.
      expect(await operatorOf(api).value("getJob", { id: whole })).toMatchObject({ state: "done" });
    } finally {
      going = false;
      await Promise.all([reading, writing]);
    }
    expect(reads).toBeGreaterThan(5);
    await cluster.caughtUp(api);
    expect(await counts(api)).toEqual([written, written, written, written]);
    expect(await cluster.differences()).toEqual([]);
  });

  test("views of two models are rebuilt once, after the last node with the old model has ended", async () => {
    const model = ["--model-extension", extension];
    const old = await cluster.startNode("api,projector");
    await ingest(old, 0, 50);
    await cluster.caughtUp(old);
    const next = await cluster.startNode("api,projector", { args: model });
    const every = (value: number) => Object.fromEntries(views.map((view) => [view, value]));
    await soon(() => figures(next, "stale")).toEqual(every(1));
    // The node with the old model projects the views, and the new node leaves them to it.
    for (let n = 0; n < 10; n++) {
      await ingest(old, 50 + n, 1);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await cluster.caughtUp(next);
    expect(await counts(next)).toEqual([60, 60, 60, 60]);
    expect(await figures(old, "stale")).toEqual(every(0));
    expect((await operatorOf(next).value("listJobs", {})).total).toBe(0);
    await old.stop("SIGKILL");
    await ingest(next, 60, 1);
    await soon(() => figures(next, "stale")).toEqual(every(0));
    expect(await counts(next)).toEqual([61, 61, 61, 61]);
    const { jobs } = await operatorOf(next).value("listJobs", {});
    for (const job of jobs) expect(await ended(next, job.id)).toMatchObject({ state: "done" });

    // A node with the old model that starts again does not rebuild the views.
    const back = await cluster.startNode("api,projector", { directory: old.directory });
    await soon(() => figures(back, "stale")).toEqual(every(1));
    for (let n = 0; n < 10; n++) {
      await ingest(back, 61 + n, 1);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await cluster.caughtUp(back);
    expect(await counts(back)).toEqual([71, 71, 71, 71]);
    expect(await figures(next, "stale")).toEqual(every(0));
    expect((await operatorOf(back).value("listJobs", {})).total).toBe(jobs.length);
  });
});
