/** Long lists are worked on with others in between, short ones at once. */
import { expect, test } from "vitest";
import { inSlices, sliceMax } from "../../src/catalog/in-slices.ts";

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

test("makes the same of a long list as map does, while others have their turns", async () => {
  let turns = 0;
  const others = setInterval(() => turns++, 0);
  const items = numbers(5 * sliceMax + 3);
  const made = await inSlices(items, (item, index) => {
    const end = performance.now() + 0.02;
    while (performance.now() < end);
    return item + index;
  });
  clearInterval(others);
  expect(made).toEqual(items.map((item) => 2 * item));
  expect(turns).toBeGreaterThan(2);
});

test("takes no turn for a short one", async () => {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  await inSlices(numbers(sliceMax), (item) => item);
  expect(turned).toBe(false);
});

test("ends at the first that throws", async () => {
  const seen: number[] = [];
  const work = (item: number): void => {
    seen.push(item);
    if (item === sliceMax + 1) throw new Error(`no ${item}`);
  };
  await expect(inSlices(numbers(1_000), work)).rejects.toThrow(`no ${sliceMax + 1}`);
  expect(seen).toHaveLength(sliceMax + 2);
});
