/** The last of many positions. */
import { expect, test } from "vitest";
import { lastOf, position, START } from "../../src/core/position.ts";

test("the last position is the highest one, of as many as there are", () => {
  const places = Array.from({ length: 500_000 }, (_, i) => ({ position: position(i) }));
  expect(lastOf(places)).toBe(499_999);
  expect(lastOf(places.toReversed())).toBe(499_999);
  expect(lastOf([])).toBe(START);
});
