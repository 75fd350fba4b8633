/** Reads of the log by the rollback of a model registry (src/catalog/runs). */
import { expect, test } from "vitest";
import { createRollback } from "../../src/catalog/runs/rollback.ts";
import { createRunLedger } from "../../src/catalog/runs/run-ledger.ts";

/** A log of this many records; those at `own` were written with the registry "mine:1". */
function logOf(count: number, own: readonly number[] = []) {
  return Array.from({ length: count }, (_, i) => ({
    ...{ position: i + 1, data: Buffer.from("mine"), timeseries: false, changeType: "UPSERT" },
    ...{ urn: `urn:li:tag:t${i}`, entityType: "tag", aspect: "tagProperties", value: "{}" },
    created: { time: 1, actor: "urn:li:corpuser:a" },
    system: {
      ...{ runId: "nightly", version: "1", lastObserved: 1 },
      ...(own.includes(i + 1) && { registryName: "mine", registryVersion: "1" }),
    },
  }));
}

function rollbackOn(count: number, own: readonly number[]) {
  const records = logOf(count, own);
  let read: number[] = [];
  const dependencies = {
    log: {
      async readAll(after: number, { limit }: { limit: number }) {
        const page = records.slice(after, after + limit);
        read.push(...page.map(({ position }) => position));
        return page;
      },
      readStream: async () => [],
      head: async () => count,
    },
    decode: (record: unknown) => record,
    keyAspectOf: () => "tagKey",
    addresses: { isKnown: () => true },
  } as unknown as Parameters<typeof createRollback>[0] & Parameters<typeof createRunLedger>[0];
  const ledger = createRunLedger(dependencies);
  const admitted: string[] = [];
  const rollback = createRollback(dependencies, ledger);
  return async (name: string) => {
    await ledger.read();
    read = [];
    const registry = { name, version: "1" };
    const request = { registry, dryRun: true, hardDelete: false };
    await rollback(request, {}, async (urns) => {
      admitted.push(...urns);
      throw new Error("read");
    }).catch(() => {});
    return { read, admitted };
  };
}

test("a rollback of a registry without records reads no record", async () => {
  const { read, admitted } = await rollbackOn(3_000, [1_200, 1_300])("other");
  expect([read, admitted]).toEqual([[], []]);
});

test("a rollback of a registry reads the log from its first record to its last", async () => {
  const { read, admitted } = await rollbackOn(3_000, [1_200, 1_300])("mine");
  expect(admitted).toEqual(["urn:li:tag:t1199", "urn:li:tag:t1299"]);
  expect(read[0]).toBe(1_200);
  expect(read.length).toBeLessThanOrEqual(500);
});

test("the runs up to the head are listed although others append during each read", async () => {
  let records = logOf(700);
  let reads = 0;
  const ledger = createRunLedger({
    log: {
      head: async () => records.length,
      async readAll(after: number, { limit }: { limit: number }) {
        if (++reads > 100) throw new Error("the read does not end");
        records = logOf(records.length + 1);
        return records.slice(after, after + limit);
      },
    },
    decode: (record: unknown) => record,
    keyAspectOf: () => "tagKey",
  } as unknown as Parameters<typeof createRunLedger>[0]);
  const runs = await ledger.read();
  expect(runs.find("nightly")?.rows).toBeGreaterThanOrEqual(700);
  expect(runs.position).toBe(runs.find("nightly")?.last);
});
