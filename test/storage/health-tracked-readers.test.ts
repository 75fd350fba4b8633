/** The state of the readers of views that a health check reports. */
import { beforeEach, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { reportedMsMax, trackReaderHealth } from "../../src/storage/health-tracked-readers.ts";

let time: number;
let outcome: Error | undefined;
const reader = {
  size: 7,
  async count(by: number) {
    if (outcome !== undefined) throw outcome;
    return reader.size * by;
  },
  async *dump() {
    yield* [1, 2];
  },
};
let tracked: ReturnType<typeof trackReaderHealth<{ aspects: typeof reader; graph: typeof reader }>>;

beforeEach(() => {
  time = 1_000;
  outcome = undefined;
  tracked = trackReaderHealth({ aspects: reader, graph: reader }, () => time);
});

const damaged = new CatalogError("unavailable", "the view could not be read", {
  hint: "Rebuild it",
  cause: new Error("malformed"),
});

test("reads are passed through", async () => {
  expect(tracked.readers.aspects.size).toBe(7);
  expect(await tracked.readers.graph.count(2)).toBe(14);
  expect(await Array.fromAsync(tracked.readers.graph.dump())).toEqual([1, 2]);
  expect(tracked.errors()).toEqual({});
});

test("a failure is reported for a while, even if other reads succeed", async () => {
  outcome = damaged;
  await expect(tracked.readers.graph.count(1)).rejects.toBe(damaged);
  outcome = undefined;
  await tracked.readers.graph.count(1);
  expect(tracked.errors()).toEqual({ graph: "the view could not be read. Rebuild it" });
  time += reportedMsMax - 1;
  expect(Object.keys(tracked.errors())).toEqual(["graph"]);
  time += 1;
  expect(tracked.errors()).toEqual({});
});

test.each([
  new CatalogError("unavailable", "the view is closed"),
  new CatalogError("invalid", "no such field", { cause: new Error("x") }),
])("errors that are not caused by the file are not reported: $message", async (error) => {
  outcome = error;
  await expect(tracked.readers.aspects.count(1)).rejects.toBe(error);
  expect(tracked.errors()).toEqual({});
});
