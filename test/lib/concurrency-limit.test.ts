/** A concurrency limit runs a bounded number of tasks, in order, whatever their outcome. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { createConcurrencyLimit } from "../../src/lib/concurrency-limit.ts";

test("a limited number of tasks runs at a time, started in order, also after a failed one", async () => {
  const limited = createConcurrencyLimit(2);
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  const piece = (number: number) =>
    limited(async () => {
      begun.push(number);
      most = Math.max(most, ++running);
      await yieldToEventLoop();
      running--;
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
