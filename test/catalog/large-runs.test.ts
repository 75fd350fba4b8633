/** Descriptions of runs whose values are larger than a response may be. */
import { expect, test } from "vitest";
import { createRuns } from "../../src/catalog/runs/runs.ts";

const MiB = 1024 * 1024;
const text = JSON.stringify(" ".repeat(MiB));

/** A run of this many records; every second record confirms a value that the view has. */
function describing(count: number) {
  const records = Array.from({ length: count }, (_, i) => ({
    ...{ position: i + 1, data: Buffer.from("nightly"), timeseries: false },
    ...{ urn: `urn:li:tag:t${i}`, entityType: "tag", aspect: "tagProperties" },
    ...(i % 2 === 0 ? { changeType: "UPSERT", value: text } : { changeType: "RESTATE" }),
    created: { time: 1, actor: "urn:li:corpuser:a" },
    system: { runId: "nightly", version: "1", lastObserved: 1 },
  }));
  const dependencies = {
    log: {
      readAll: async (after: number, { limit }: { limit: number }) =>
        records.slice(after, after + limit),
    },
    decode: (record: unknown) => record,
    model: { entities: new Map([["tag", { keyAspect: "tagKey" }]]) },
    states: {
      read: async (urns: readonly string[]) =>
        urns.map((urn) => ({ urn, aspects: new Map([["tagKey", { version: 1, value: "{}" }]]) })),
    },
    aspects: { findValue: async () => ({ value: text }) },
    caughtUp: async () => {},
  } as unknown as Parameters<typeof createRuns>[0];
  const run = { runId: "nightly", after: 0, last: count };
  const { describeRun } = createRuns(dependencies, {
    read: async () =>
      ({ position: count, find: () => run, all: () => [run], isRolledBack: () => false }) as never,
  });
  return (asked: { count: number; includeAspect: boolean }) =>
    describeRun({ runId: "nightly", start: 0, includeSoft: true, ...asked });
}

test("values are returned as long as they fit into a response", async () => {
  const describeRun = describing(100);
  const rows = await describeRun({ count: 31, includeAspect: true });
  expect(rows).toHaveLength(31);
  expect(rows.every(({ aspect }) => aspect?.value === JSON.parse(text))).toBe(true);
  await expect(describeRun({ count: 100, includeAspect: true })).rejects.toMatchObject({
    code: "too_large",
  });
});

test("confirmed values count towards the response size like written ones", async () => {
  await expect(describing(40)({ count: 40, includeAspect: true })).rejects.toMatchObject({
    ...{ code: "too_large", message: expect.stringContaining("40 rows") },
  });
});

test("rows without values are returned, however large the values are", async () => {
  const rows = await describing(100)({ count: 100, includeAspect: false });
  expect(rows).toHaveLength(100);
  expect(rows.some((row) => "aspect" in row)).toBe(false);
});
