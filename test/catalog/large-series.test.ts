/** Timeseries whose events are larger than a response may be. */
import { expect, test } from "vitest";
import { createTimeseriesReads } from "../../src/catalog/read/read-timeseries.ts";

const value = JSON.stringify({ text: " ".repeat(1024 * 1024) });
const entity = { name: "dataset", aspects: ["datasetProfile"] };
const reads = createTimeseriesReads({
  ...{ namespace: "li", caughtUp: async () => {} },
  model: {
    findEntity: () => entity,
    findAspectOf: () => ({ timeseries: true }),
  },
  addresses: { writable: (urn: string) => ({ urn, entity }) },
  reader: {
    list: async (_: unknown, { limit }: { limit: number }) =>
      Array.from({ length: limit }, (__, time) => ({ time, value, system: "{}" })),
  },
} as unknown as Parameters<typeof createTimeseriesReads>[0]);

const asked = (limit: number) =>
  reads.getTimeseriesValues({
    ...{ urn: "urn:li:dataset:d", entity: "dataset", aspect: "datasetProfile", limit },
  });

test("events are returned as long as they fit into a response", async () => {
  expect(JSON.parse((await asked(100)).json).value.values).toHaveLength(100);
  await expect(asked(128)).rejects.toMatchObject({
    ...{ code: "too_large", message: expect.stringContaining("128 events") },
  });
});
