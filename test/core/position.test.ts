/** The highest of many positions. */
import { expect, test } from "vitest";
import { lastOf, position, START } from "../../src/core/position.ts";

test("lastOf returns the highest position of any number of entries", () => {
  const entries = Array.from({ length: 500_000 }, (_, i) => ({ position: position(i) }));
  expect(lastOf(entries)).toBe(499_999);
  expect(lastOf(entries.toReversed())).toBe(499_999);
  expect(lastOf([])).toBe(START);
});
