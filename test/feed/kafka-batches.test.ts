import fc from "fast-check";
import { expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { type FeedMessage, type FeedPart, partsOf } from "../../src/feed/kafka/feed-batches.ts";

const limits = (bytes: number, tryLarger = false) => ({ topicBytesMax: () => bytes, tryLarger });

const message = (at: number, size: number, topic = "t"): FeedMessage => ({
  topic,
  key: "urn",
  value: Buffer.alloc(size),
  position: position(at),
});

/** The parts of the batch, and the error after them. */
function taken(...args: Parameters<typeof partsOf>): { parts: FeedPart[]; error?: unknown } {
  const parts: FeedPart[] = [];
  try {
    for (const part of partsOf(...args)) parts.push(part);
    return { parts };
  } catch (error) {
    return { parts, error };
  }
}

const places = (parts: readonly FeedPart[]) =>
  parts.map(({ requests }) => requests.map((request) => request.map((one) => one.position)));

test("a batch without messages is one empty part with its last position", () => {
  expect(taken([], position(9), limits(1_000)).parts).toEqual([{ requests: [], upTo: 9 }]);
});

test("requests stay below the message limit, separately for each topic", () => {
  const messages = [1, 2, 3, 4].map((n) => message(n, 400, n % 2 === 0 ? "even" : "odd"));
  const { parts } = taken(messages, position(10), limits(1_200));
  expect(places(parts)).toEqual([[[1, 2, 3, 4]]]);
  expect(places(taken(messages, position(10), limits(1_000)).parts)).toEqual([
    [
      [1, 2],
      [3, 4],
    ],
  ]);
});

test("a part ends before it exceeds the size limit, at the position of its last message", () => {
  const messages = [2, 4, 6].map((n) => message(n, 15_000_000));
  const { parts } = taken(messages, position(10), limits(20_000_000));
  expect(parts.map(({ upTo }) => upTo)).toEqual([4, 10]);
  expect(places(parts)).toEqual([[[2], [4]], [[6]]]);
});

test("messages before an oversized one are a part, and the error names the oversized message", () => {
  const { parts, error } = taken(
    [message(3, 10), message(5, 5_000), message(6, 10)],
    position(9),
    limits(1_000),
  );
  expect(places(parts)).toEqual([[[3]]]);
  expect(parts[0]?.upTo).toBe(3);
  expect(error).toMatchObject({
    code: "too_large",
    message: expect.stringContaining("position 5"),
  });
  const compressed = taken([message(3, 10), message(5, 5_000)], position(9), limits(1_000, true));
  expect(places(compressed.parts)).toEqual([[[3], [5]]]);
});

test("an oversized first message gives no parts", () => {
  const { parts, error } = taken([message(3, 5_000)], position(9), limits(1_000));
  expect(parts).toEqual([]);
  expect(error).toMatchObject({ code: "too_large" });
});

test("every message is in one request, in order, and positions of parts increase", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 3_000_000 }), { maxLength: 40 });
  fc.assert(
    fc.property(sizes, (all) => {
      const messages = all.map((size, n) => message(2 * n + 1, size, n % 3 === 0 ? "a" : "b"));
      const { parts, error } = taken(messages, position(100), limits(4_000_000));
      expect(error).toBeUndefined();
      expect(parts.flatMap(({ requests }) => requests.flat())).toEqual(messages);
      for (const [n, { requests, upTo }] of parts.entries()) {
        expect(upTo).toBeGreaterThan(parts[n - 1]?.upTo ?? 0);
        for (const request of requests) {
          expect(request.length).toBeGreaterThan(0);
          expect(request.every((one) => one.position <= upTo)).toBe(true);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("the messages of a change are all in one part", () => {
  const mebibytes = 20 * 1024 * 1024;
  const messages = [
    message(1, mebibytes),
    message(2, mebibytes),
    message(2, 10),
    message(2, 2_000),
  ];
  const { parts } = taken(messages, position(9), limits(mebibytes * 2));
  expect(parts.map(({ upTo }) => upTo)).toEqual([1, 9]);
  const large = taken(
    [message(1, 10), message(2, 10), message(2, 2_000)],
    position(9),
    limits(1_000),
  );
  expect(places(large.parts)).toEqual([[[1]]]);
  expect(large.parts.map(({ upTo }) => upTo)).toEqual([1]);
  expect(large.error).toMatchObject({ code: "too_large" });
});
