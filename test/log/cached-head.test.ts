import { expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { promptHead } from "../../src/log/cached-head.ts";

test("a log that answers is where it says", async () => {
  expect(await promptHead({ head: async () => position(7) })).toBe(7);
  const down = { head: () => Promise.reject(new Error("down")) };
  await expect(promptHead(down)).rejects.toThrow("down");
});

test("one that does not is given up soon", async () => {
  const silent = { head: () => new Promise<never>(() => {}) };
  await expect(promptHead(silent, 20)).rejects.toMatchObject({
    code: "unavailable",
    message: "the log has not answered for 0.02 seconds",
  });
});
