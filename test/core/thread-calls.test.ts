/** Calls between two ends of a channel. */
import { MessageChannel } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { connect, Transfer } from "../../src/core/thread-calls.ts";

const channels: MessageChannel[] = [];

afterEach(() => {
  for (const { port1 } of channels.splice(0)) port1.close();
});

function connected<M extends Record<string, (argument: never) => unknown>>(methods: M) {
  const channel = new MessageChannel();
  channels.push(channel);
  const received: unknown[] = [];
  const far = connect<{ readonly receive: (word: unknown) => void }>(channel.port2, methods);
  const near = connect<M>(channel.port1, { receive: (word: unknown) => void received.push(word) });
  return { near, far, received };
}

test("a call resolves with the result of its method, in whatever order results arrive", async () => {
  const slow = Promise.withResolvers<string>();
  const { near } = connected({ slow: () => slow.promise, double: (n: number) => 2 * n });
  const first = near.call("slow", undefined);
  expect(await near.call("double", 4)).toBe(8);
  slow.resolve("late");
  expect(await first).toBe("late");
});

test("a call rejects with the code and the hint of a CatalogError", async () => {
  const { near } = connected({
    fail: () => {
      throw new CatalogError("not_found", "no such thing", { hint: "Name another" });
    },
  });
  await expect(near.call("fail", undefined)).rejects.toMatchObject({
    ...{ name: "CatalogError", code: "not_found", message: "no such thing", hint: "Name another" },
  });
});

test("another error keeps its message and stack, and is not a CatalogError", async () => {
  const failure = new TypeError("x is undefined");
  const { near } = connected({ fail: () => Promise.reject(failure) });
  const error = await near.call("fail", undefined).catch((cause: unknown) => cause);
  expect(error).not.toBeInstanceOf(CatalogError);
  expect(error).toMatchObject({ message: "x is undefined", stack: failure.stack });
});

test("a result that cannot be copied rejects its call", async () => {
  const { near } = connected({ uncopied: () => () => {}, later: async () => () => {} });
  await expect(near.call("uncopied", undefined)).rejects.toThrow("could not be cloned");
  await expect(near.call("later", undefined)).rejects.toThrow("could not be cloned");
});

test("a call of a method that is not served is rejected", async () => {
  const { near } = connected<Record<string, (n: number) => number>>({});
  await expect(near.call("constructor", 1)).rejects.toThrow('no method "constructor"');
});

test("notifications arrive before the reply that is sent after them", async () => {
  const ends = connected({
    work: () => {
      for (const n of [1, 2]) ends.far.notify("receive", n);
      return "done";
    },
  });
  expect(await ends.near.call("work", undefined)).toBe("done");
  expect(ends.received).toEqual([1, 2]);
});

test("a transferred buffer is detached in the thread that sent it", async () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const { near } = connected({ take: () => new Transfer({ bytes }, [bytes.buffer]) });
  expect(await near.call("take", undefined)).toEqual({ bytes: new Uint8Array([1, 2, 3]) });
  expect(bytes.length).toBe(0);
});

test("open and later calls are rejected when the other end has ended", async () => {
  const { near } = connected({ never: () => new Promise(() => {}) });
  const open = near.call("never", undefined);
  near.end(new Error("ended"));
  await expect(open).rejects.toThrow("ended");
  await expect(near.call("never", undefined)).rejects.toThrow("ended");
});
