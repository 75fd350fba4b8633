/** Cancelled jobs, and reads while jobs run: no read sees a partial result. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const slowly = { timeout: 120_000 };
const views = ["aspects", "timeseries", "graph", "search"];
const dataset = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,tide.t${n},PROD)`;
const events = 200;
const datasets = 20;

let service: RunningService;
let operator: Operator;
beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  operator = operatorOf(service);
  const proposals = Array.from({ length: datasets * events }, (_, n) =>
    proposal(dataset(n % datasets), "datasetProfile", { timestampMillis: n, rowCount: n }),
  );
  await ingest(proposals);
}, slowly.timeout);
afterAll(() => service[Symbol.asyncDispose]());

async function ingest(proposals: readonly object[]): Promise<void> {
  for (let from = 0; from < proposals.length; from += 1_000) {
    const some = proposals.slice(from, from + 1_000);
    const reply = await service.client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals: some,
    });
    expect(reply.status).toBe(200);
  }
}

const jobOf = (id: string) => operator.value("getJob", { id });

async function eventsOf(n: number): Promise<number> {
  const { status, body } = await service.client.call(
    "POST",
    "/aspects?action=getTimeseriesAspectValues",
    { urn: dataset(n), entity: "dataset", aspect: "datasetProfile" },
  );
  expect(status, JSON.stringify(body)).toBe(200);
  return body.value.values.length;
}

const generations = async () => {
  const { views: statuses } = await operator.value("getStatus");
  return views.map((view) => statuses[view].generation);
};

describe("cancelled rebuilds", slowly, () => {
  test.each([
    ["at once", async () => {}],
    [
      "while views are built",
      async () => {
        const rebuilding = async () => (await operator.value("getStatus")).views.aspects.rebuild;
        await expect.poll(rebuilding, { interval: 1 }).toBeDefined();
      },
    ],
  ])("a rebuild cancelled %s leaves the live generations and no other files", async (_, moment) => {
    const before = await generations();
    const files = readdirSync(service.directory).sort();
    const id = await operator.value("rebuildViews", {});
    await moment();
    expect(await operator.value("cancelJob", { id })).toMatchObject({ id, state: "cancelled" });
    expect(JSON.parse(await operator.value("getEsTaskStatus", { task: id }))).toMatchObject({
      ...{ completed: true, state: "cancelled" },
    });
    expect(await generations()).toEqual(before);
    const left = () => readdirSync(service.directory).sort();
    await expect.poll(left).toEqual(files);
    for (const view of Object.values((await operator.value("getStatus")).views)) {
      expect(view).not.toHaveProperty("rebuild");
    }
    expect(await eventsOf(0)).toBe(events);
  });

  test("a rebuild after cancelled ones succeeds", async () => {
    const [first] = await generations();
    const id = await operator.value("rebuildViews", {});
    await operator.ended(id);
    expect(await jobOf(id)).toMatchObject({ state: "done" });
    expect(await generations()).toEqual(views.map(() => first + 1));
  });
});

test(
  "a cancelled verification reports no differences, and does not block the next one",
  slowly,
  async () => {
    // Far more entities than a verification reads in its first batches.
    await ingest(
      Array.from({ length: 3_000 }, (_, n) =>
        proposal(`urn:li:tag:tide${n}`, "tagProperties", { name: `tide ${n}` }),
      ),
    );
    // A verification that ends before the request arrives cannot be cancelled: the loop starts
    // another.
    const cancelled = async () => {
      const id = await operator.value("verify", { full: true });
      return (await operator.value("cancelJob", { id })).state;
    };
    await expect.poll(cancelled, { timeout: slowly.timeout }).toBe("cancelled");
    expect((await operator.value("listDifferences")).total).toBe(0);
    const again = await operator.value("verify", { full: true });
    await operator.ended(again);
    expect(await jobOf(again)).toMatchObject({ state: "done" });
    expect(await operator.value("listDifferences")).toMatchObject({ total: 0 });
  },
);

test(
  "reads during a truncation return all of the truncated events or none, and no error",
  slowly,
  async () => {
    const before = datasets * (events - 3);
    const seen: number[][] = [[], [], []];
    let running = true;
    const readers = seen.map(async (counts, n) => {
      while (running) counts.push(await eventsOf(n));
    });
    const task = await operator.value("truncateTimeseriesAspect", {
      ...{ entityType: "dataset", aspect: "DATASETPROFILE", endTimeMillis: before },
      ...{ dryRun: false, batchSize: 20 },
    });
    const ended = await operator.ended(task);
    running = false;
    await Promise.all(readers);
    expect(ended.status).toMatchObject({ total: before, deleted: before });
    for (const [n, counts] of seen.entries()) {
      counts.push(await eventsOf(n));
      // Reads return all events first, and only the remaining ones after the truncation.
      const turned = counts.indexOf(3);
      expect(counts.slice(0, turned).filter((count) => count !== events)).toEqual([]);
      expect(counts.slice(turned).filter((count) => count !== 3)).toEqual([]);
    }
    await service.restart(async () => {
      expect((await differencesFromRebuild(service.directory)).differences).toEqual([]);
    });
  },
);
