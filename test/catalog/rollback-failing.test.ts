/** A failed rollback has ended: nothing is written after its response. */
import { expect, test } from "vitest";
import { createRollback } from "../../src/catalog/runs/rollback.ts";
import { entityStream } from "../../src/core/stream.ts";

const urns = Array.from({ length: 60 }, (_, i) => `urn:li:tag:t${i}`);
const records = urns.map((urn, i) => ({
  ...{ position: i + 1, revision: 0, stream: entityStream(urn), data: Buffer.from("nightly") },
  ...{ urn, entityType: "tag", aspect: "tagProperties", changeType: "UPSERT", timeseries: false },
  ...{ value: "{}", created: { time: 1, actor: "urn:li:corpuser:a" } },
  system: { runId: "nightly", version: "1", lastObserved: 1 },
}));

/** `rollBack` runs for the n-th entity; calls and returns are counted. */
function rollingBack(rollBack: (n: number) => Promise<void>) {
  const writes = { begun: 0, ended: 0 };
  const run = { runId: "nightly", after: 0, last: records.length };
  const dependencies = {
    ...{ namespace: "li", systemActor: "urn:li:corpuser:system", now: () => 1 },
    log: {
      readAll: async (after: number, { limit }: { limit: number }) =>
        records.slice(after, after + limit),
      readStream: async (stream: string, from: number) =>
        from === 0 ? records.filter((one) => one.stream === stream) : [],
      head: async () => records.length,
      listStreams: async () => [],
    },
    decode: (record: unknown) => record,
    versionSets: { beforeRollback: async () => undefined },
    project: () => [],
    addresses: {
      isKnown: () => true,
      readable: (urn: string) => ({
        urn,
        entity: { name: "tag", keyAspect: "tagKey", aspects: ["tagProperties"] },
      }),
    },
    states: { read: async () => [] },
    ingestion: {
      append: async () => ({ position: records.length }),
      async rollBack() {
        const n = writes.begun++;
        await rollBack(n);
        writes.ended++;
        return { position: n };
      },
    },
    onRolledBack() {},
  } as unknown as Parameters<typeof createRollback>[0];
  const rollback = createRollback(dependencies, {
    read: async () =>
      ({
        position: records.length,
        find: () => run,
        all: () => [run],
        isRolledBack: () => false,
      }) as unknown as never,
  });
  const request = { runId: "nightly", dryRun: false, hardDelete: false };
  return { writes, rollback: () => rollback(request, {} as never) };
}

const someTime = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

test("a rollback rolls back each entity once", async () => {
  const { writes, rollback } = rollingBack(someTime);
  expect(await rollback()).toMatchObject({ entitiesAffected: 60 });
  expect(writes).toEqual({ begun: 60, ended: 60 });
});

test("a rollback with a failed entity waits for running entities and starts no other", async () => {
  const { writes, rollback } = rollingBack(async (n) => {
    if (n === 1) throw new Error("the disk is full");
    await someTime();
  });
  await expect(rollback()).rejects.toThrow("the disk is full");
  const atTheEnd = { ...writes };
  expect(atTheEnd.begun - atTheEnd.ended).toBe(1);
  expect(atTheEnd.begun).toBeLessThan(40);
  await someTime();
  await someTime();
  expect(writes).toEqual(atTheEnd);
});
