/** Work on long lists yields to other requests; work on short lists does not. */
import { expect, test } from "vitest";
import { createPause, inTimeSlices } from "../../src/catalog/time-slices.ts";

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

/** A clock that advances by a millisecond with each reading. */
function tickingClock(): () => number {
  let time = 0;
  return () => time++;
}

test("long work returns the results of map, and other tasks run meanwhile", async () => {
  let turns = 0;
  const others = setInterval(() => turns++, 0);
  const items = numbers(1_000);
  const results = await inTimeSlices(
    items,
    (item, index) => {
      const end = performance.now() + 0.02;
      while (performance.now() < end);
      return item + index;
    },
    createPause(tickingClock()),
  );
  clearInterval(others);
  expect(results).toEqual(items.map((item) => 2 * item));
  expect(turns).toBeGreaterThan(2);
});

test("short work does not yield", async () => {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  await inTimeSlices(
    numbers(1_000),
    (item) => item,
    createPause(() => 0),
  );
  expect(turned).toBe(false);
});

test("work ends at the first item that throws", async () => {
  const worked: number[] = [];
  const work = (item: number): void => {
    worked.push(item);
    if (item === 201) throw new Error(`no ${item}`);
  };
  await expect(inTimeSlices(numbers(1_000), work)).rejects.toThrow("no 201");
  expect(worked).toHaveLength(202);
});
