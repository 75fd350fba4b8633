/** Functions for lists of any length. */
import { expect, test } from "vitest";
import { appendAll, maxOf, minOf } from "../../src/lib/lists.ts";

const many = Array.from({ length: 500_000 }, (_, n) => n);

test("a list of any length is appended", () => {
  const list = [-1];
  appendAll(list, many);
  expect(list).toHaveLength(500_001);
  expect(list.at(-1)).toBe(499_999);
});

test("a list of any length has a maximum and a minimum", () => {
  expect([maxOf(many), minOf(many)]).toEqual([499_999, 0]);
});

test.each([[[]], [[3]], [[2, -5, 7]], [[1, Number.NaN]]])(
  "as Math.max and Math.min: %j",
  (list) => {
    expect([maxOf(list), minOf(list)]).toEqual([Math.max(...list), Math.min(...list)]);
  },
);
