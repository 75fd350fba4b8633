/** Work in turn: never more than a few pieces, in their order, whatever becomes of them. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createConcurrencyLimit } from "../../src/lib/concurrency-limit.ts";

test("a few pieces are under way at a time, begun in their order, also behind one that failed", async () => {
  const inTurn = createConcurrencyLimit(2);
  const begun: number[] = [];
  let underWay = 0;
  let most = 0;
  const piece = (number: number) =>
    inTurn(async () => {
      begun.push(number);
      most = Math.max(most, ++underWay);
      await turn();
      underWay--;
      if (number % 3 === 0) throw new Error(`piece ${number}`);
      return number;
    });
  const ended = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map(piece));
  expect(ended.map(({ status }) => status === "fulfilled")).toEqual([
    false,
    true,
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(most).toBe(2);
  expect(await piece(7)).toBe(7);
  expect(most).toBe(2);
});
