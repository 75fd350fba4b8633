import fc from "fast-check";
import { Partitioners } from "kafkajs";
import { expect, test } from "vitest";
import { createKeyPartitioner } from "../../src/feed/kafka/key-partitioner.ts";

const theirs = Partitioners.DefaultPartitioner();
const ours = createKeyPartitioner();

const placed = (key: string | Buffer, partitions: number) => {
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
    ...{ partitionErrorCode: 0, partitionId, leader: 1, replicas: [], isr: [] },
  }));
  return { topic: "topic", partitionMetadata, message: { key, value: "" } };
};

test("keys go to the same partitions as with the default partitioner of the driver", () => {
  const keys = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.uint8Array());
  fc.assert(
    fc.property(keys, fc.integer({ min: 1, max: 1_000 }), (key, partitions) => {
      const place = placed(typeof key === "string" ? key : Buffer.from(key), partitions);
      expect(ours(place)).toBe(theirs(place));
    }),
    { numRuns: 300 },
  );
});

test("urns of an entity type are spread over all partitions", () => {
  const counts = [0, 0, 0];
  for (let n = 0; n < 3_000; n++) {
    const at = ours(placed(`urn:li:dataset:(urn:li:dataPlatform:hive,db.table_${n},PROD)`, 3));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(800);
});

test("a message that names its partition goes to that partition", () => {
  const place = placed("key", 8);
  expect(ours({ ...place, message: { ...place.message, partition: 5 } })).toBe(5);
});
