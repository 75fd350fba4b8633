/** Jobs after a kill of the process: they resume at the next start, and finish. */
import { describe, expect, test } from "vitest";
import { proposal } from "../support/client.ts";
import { killableService } from "../support/killable-service.ts";

const service = killableService("annals-jobs");

const start = async () => {
  const { client, value } = await service.start();
  const reference = { "X-RestLi-Protocol-Version": "2.0.0" };
  const act = (action: string, body: object) => value(action, body, reference);
  return { client, act };
};

type Started = Awaited<ReturnType<typeof start>>;

const dataset = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,table${n},PROD)`;

async function ingest({ client }: Started, events: number): Promise<void> {
  const proposals = Array.from({ length: events }, (_, n) =>
    proposal(dataset(n % 20), "datasetProfile", { timestampMillis: n, rowCount: n }),
  );
  for (let from = 0; from < events; from += 1_000) {
    const reply = await client.call("POST", "/aspects?action=ingestProposalBatch", {
      proposals: proposals.slice(from, from + 1_000),
    });
    expect(reply.status).toBe(200);
  }
}

async function ended({ act }: Started, task: string) {
  for (;;) {
    const job = await act("getJob", { id: task });
    if (job.state !== "running") return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The events of each dataset. */
async function left({ client }: Started): Promise<ReadonlySet<number>> {
  const counts = new Set<number>();
  for (let n = 0; n < 20; n++) {
    const { body } = await client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
      ...{ urn: dataset(n), entity: "dataset", aspect: "datasetProfile" },
    });
    counts.add(body.value.values.length);
  }
  return counts;
}

describe("jobs of a killed process", () => {
  test("a truncation finishes after the next start or the one after", async () => {
    const first = await start();
    await ingest(first, 6_000);
    const task = await first.act("truncateTimeseriesAspect", {
      ...{ entityType: "dataset", aspect: "datasetprofile", endTimeMillis: 5_900 },
      ...{ dryRun: false, batchSize: 5 },
    });
    for (let kills = 0; kills < 2; kills++) {
      await service.stop("SIGKILL");
      const next = await start();
      // Reads return all events or none, however far the truncation is.
      for (const count of await left(next)) expect([300, 5]).toContain(count);
    }
    await service.stop();
    const last = await start();
    expect(await ended(last, task)).toMatchObject({ state: "done", kind: "truncate" });
    expect(await left(last)).toEqual(new Set([5]));
  });

  test("a restore resumes at its checkpoint", async () => {
    const first = await start();
    await ingest(first, 1_000);
    const rows = { urnLike: "urn:li:dataset:%", aspect: "datasetProfile", batchSize: 1 };
    const answer = first.act("restoreIndices", { ...rows, batchDelayMs: 300 }).catch(() => {});
    let task = "";
    for (;;) {
      const [job] = (await first.act("listJobs", { count: 1 })).jobs;
      task = job?.id ?? "";
      // By then the job has written its checkpoint, which it does every two seconds.
      if (job?.counts.updated >= 9) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await service.stop("SIGKILL");
    await answer;
    const next = await start();
    const job = await ended(next, task);
    expect(job).toMatchObject({ state: "done", kind: "restore", counts: { updated: 20 } });
    expect(job.counts.batches).toBe(20);
    expect(await left(next)).toEqual(new Set([50]));
  });
});
