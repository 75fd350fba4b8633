import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type BatchSender, createBatchSender } from "../../src/cli/client/batch-sender.ts";

interface Item {
  readonly key: string;
  readonly number: number;
  readonly kind: number;
}

function lanesTo(
  send: (batch: readonly Item[]) => Promise<void>,
  sizes: { count: number; batchMax: number; batchBytesMax?: number },
): BatchSender<Item> {
  return createBatchSender({
    batchBytesMax: 1000,
    ...sizes,
    keyOf: ({ key }) => key,
    bytesOf: () => 10,
    mix: (a, b) => a.kind === b.kind,
    send,
  });
}

test("every item is sent once, those of one key in order, batches unmixed and within bounds", async () => {
  const items = fc.array(fc.record({ key: fc.constantFrom(..."abcdef"), kind: fc.nat(1) }));
  const sizes = fc.record({
    count: fc.integer({ min: 1, max: 5 }),
    batchMax: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(items, sizes, async (given, { count, batchMax }) => {
      const sent: Item[] = [];
      let underway = 0;
      const queues = lanesTo(
        async (batch) => {
          expect(batch.length).toBeLessThanOrEqual(batchMax);
          expect(new Set(batch.map(({ kind }) => kind)).size).toBe(1);
          expect(++underway).toBeLessThanOrEqual(count);
          await sleep(batch.length % 2);
          sent.push(...batch);
          underway--;
        },
        { count, batchMax },
      );
      const all = given.map((item, number) => ({ ...item, number }));
      for (const item of all) await queues.add(item);
      await queues.drain();
      for (const key of "abcdef") {
        const ofKey = (list: readonly Item[]) => list.filter((item) => item.key === key);
        expect(ofKey(sent)).toEqual(ofKey(all));
      }
    }),
    { numRuns: 60 },
  );
});

test("a batch ends at its bytes", async () => {
  const batches: number[] = [];
  const queues = lanesTo(async (batch) => void batches.push(batch.length), {
    count: 1,
    batchMax: 100,
    batchBytesMax: 35,
  });
  for (let number = 0; number < 7; number++) await queues.add({ key: "a", kind: 0, number });
  await queues.drain();
  expect(batches).toEqual([3, 3, 1]);
});

test("adding to a full queue waits, so that it holds at most two batches", async () => {
  const sending = Promise.withResolvers<void>();
  const queues = lanesTo(() => sending.promise, { count: 1, batchMax: 2 });
  let added = 0;
  const adding = (async () => {
    for (let number = 0; number < 10; number++) {
      await queues.add({ key: "a", kind: 0, number });
      added++;
    }
  })();
  await sleep(5);
  expect(added).toBe(4);
  sending.resolve();
  await adding;
  expect(added).toBe(10);
});

test("a failed send rejects the next add to its queue and the end", async () => {
  const queues = lanesTo(() => Promise.reject(new Error("gone")), { count: 1, batchMax: 1 });
  await queues.add({ key: "a", kind: 0, number: 0 });
  await queues.add({ key: "a", kind: 0, number: 1 });
  await expect(queues.add({ key: "a", kind: 0, number: 2 })).rejects.toThrow("gone");
  await expect(queues.drain()).rejects.toThrow("gone");
});
