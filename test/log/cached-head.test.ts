import { expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { promptHead } from "../../src/log/cached-head.ts";

test("promptHead returns the head of a log that answers, and its error otherwise", async () => {
  expect(await promptHead({ head: async () => position(7) })).toBe(7);
  const down = { head: () => Promise.reject(new Error("down")) };
  await expect(promptHead(down)).rejects.toThrow("down");
});

test("promptHead fails soon for a log that does not answer", async () => {
  const silent = { head: () => new Promise<never>(() => {}) };
  await expect(promptHead(silent, 20)).rejects.toMatchObject({
    code: "unavailable",
    message: "the log has not answered for 0.02 seconds",
  });
});
