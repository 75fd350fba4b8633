/** The cache of changes for views slightly behind: contents equal the log, and the size is bounded. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { PlacedChange } from "../../src/core/change.ts";
import { type Position, position } from "../../src/core/position.ts";
import type { Batch } from "../../src/projector/batch.ts";
import { createChangeCache } from "../../src/projector/change-cache.ts";
import { decode } from "./array-log.ts";

const changeAt = (at: number, value = "{}"): PlacedChange => ({
  ...(decode({
    position: position(at),
    stream: "",
    revision: 0,
    data: new Uint8Array(),
  } as never) as PlacedChange),
  value,
});

/** Every third record holds no change. */
const isChange = (at: number): boolean => at % 3 !== 0;

function batchOf(after: number, upTo: number, value?: string): Batch<PlacedChange> {
  const items: PlacedChange[] = [];
  for (let at = after + 1; at <= upTo; at++) if (isChange(at)) items.push(changeAt(at, value));
  return { items, upTo: position(upTo) };
}

const contentsOf = ({ items, upTo }: Batch<PlacedChange>) => ({
  items: items.map((change) => Number(change.position)),
  upTo: Number(upTo),
});

test("a cached batch equals the log, whatever was added and read before", () => {
  const step = fc.record({
    add: fc.nat({ max: 9 }),
    needed: fc.nat({ max: 60 }),
    after: fc.nat({ max: 60 }),
    limit: fc.integer({ min: 1, max: 9 }),
    end: fc.option(fc.nat({ max: 60 }), { nil: undefined }),
    gap: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const recent = createChangeCache();
      let head = 0;
      for (const { add, needed, after, limit, end, gap } of steps) {
        if (gap) head += 2;
        recent.add(position(head), batchOf(head, head + add), position(needed));
        head += add;
        if (end !== undefined && end <= after) continue;
        const batch = recent.from(position(after), { limit, end: end as Position | undefined });
        if (batch === undefined) continue;
        const { items, upTo } = contentsOf(batch);
        expect(upTo).toBeGreaterThan(after);
        expect(upTo).toBeLessThanOrEqual(Math.min(head, end ?? head));
        expect(items.length).toBeLessThanOrEqual(limit);
        expect(items).toEqual(contentsOf(batchOf(after, upTo)).items);
      }
    }),
  );
});

test("the cache has the latest batches, but none before a gap and none that no view needs", () => {
  const recent = createChangeCache();
  const from = (after: number) => {
    const batch = recent.from(position(after), { limit: 100 });
    return batch && contentsOf(batch);
  };
  recent.add(position(0), batchOf(0, 4), position(0));
  recent.add(position(4), batchOf(4, 8), position(0));
  expect(from(2)).toEqual({ items: [4, 5, 7, 8], upTo: 8 });
  expect(from(8)).toBeUndefined();
  recent.add(position(8), batchOf(8, 10), position(4));
  expect(from(3)).toBeUndefined();
  expect(from(4)).toEqual({ items: [5, 7, 8, 10], upTo: 10 });
  recent.add(position(20), batchOf(20, 22), position(4));
  expect(from(4)).toBeUndefined();
  expect(from(20)).toEqual({ items: [22], upTo: 22 });
});

test("large values are evicted when the cache is full", () => {
  const recent = createChangeCache();
  const large = "x".repeat(1_500_000);
  for (let after = 0; after < 8; after += 2) {
    recent.add(position(after), batchOf(after, after + 2, large), position(0));
  }
  expect(recent.from(position(0), { limit: 100 })).toBeUndefined();
  expect(recent.from(position(6), { limit: 100 })).toMatchObject({ upTo: 8 });
});
