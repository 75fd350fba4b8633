/** Reads of one iteration of the event loop are one request to the store. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { batching, timeSliced } from "../../src/storage/batching.ts";

/** A reader of lengths, and the requests that it caused. */
function counted(groupOf?: (word: string) => unknown) {
  const requests: (readonly string[])[] = [];
  const read = batching<string, number>(async (words) => {
    requests.push(words);
    if (words.includes("all fail")) throw new Error("no store");
    return words.map((word) => (word === "fails" ? new Error("one fails") : word.length));
  }, groupOf);
  return { read, requests };
}

test("reads of one iteration are one request, in their order, and later ones another", async () => {
  const { read, requests } = counted();
  expect(await Promise.all(["a", "bbb", "a"].map(read))).toEqual([1, 3, 1]);
  await yieldToEventLoop();
  expect(await read("cc")).toBe(2);
  expect(requests).toEqual([["a", "bbb", "a"], ["cc"]]);
});

test("reads with other arguments are another request", async () => {
  const { read, requests } = counted(({ length }) => length);
  expect(await Promise.all(["a", "bb", "c"].map(read))).toEqual([1, 2, 1]);
  expect(requests).toEqual([["a", "c"], ["bb"]]);
});

test("a read that fails alone rejects alone, a failed request rejects its group", async () => {
  const { read } = counted((word) => word.startsWith("all"));
  const found = await Promise.allSettled(["a", "fails", "all fail", "all of it"].map(read));
  expect(found.map((one) => (one.status === "rejected" ? one.reason.message : one.value))).toEqual([
    ...[1, "one fails", "no store", "no store"],
  ]);
});

test("a read of an embedded store that fails rejects alone", async () => {
  const read = timeSliced(async (word: string) => {
    if (word === "fails") throw new Error("one fails");
    return word.length;
  });
  const found = await Promise.allSettled(["a", "fails", "ccc"].map(read));
  expect(found.map((one) => (one.status === "rejected" ? one.reason.message : one.value))).toEqual([
    ...[1, "one fails", 3],
  ]);
});

test("other work runs between long reads of an embedded store", async () => {
  const order: string[] = [];
  const read = timeSliced(async (name: string) => {
    const end = performance.now() + 6;
    while (performance.now() < end);
    order.push(name);
  });
  const reads = Promise.all(["first", "second"].map(read));
  setImmediate(() => order.push("other"));
  await reads;
  expect(order).toEqual(["first", "other", "second"]);
});
