/** The state of the readers of views that a health check reports. */
import { beforeEach, expect, test } from "vitest";
import { CatalogError } from "../../src/core/errors.ts";
import { createSwappableStore } from "../../src/projector/rebuild/swappable-store.ts";
import { createReadFailures, reportedMsMax } from "../../src/storage/read-failures.ts";

let time: number;
let outcome: Error | undefined;
const reader = {
  size: 7,
  async count(by: number) {
    if (outcome !== undefined) throw outcome;
    return reader.size * by;
  },
  async close() {},
};
let failures: ReturnType<typeof createReadFailures>;
let graph: typeof reader;

beforeEach(() => {
  time = 1_000;
  outcome = undefined;
  failures = createReadFailures(() => time);
  const onError = (error: unknown) => failures.note("graph", error);
  graph = createSwappableStore(reader, { onError }).store;
});

const damaged = new CatalogError("unavailable", "the view could not be read", {
  hint: "Rebuild it",
  cause: new Error("malformed"),
});

test("reads are passed through", async () => {
  expect(graph.size).toBe(7);
  expect(await graph.count(2)).toBe(14);
  expect(failures.recent()).toEqual({});
});

test("a failure is reported for a while, even if other reads succeed", async () => {
  outcome = damaged;
  await expect(graph.count(1)).rejects.toBe(damaged);
  outcome = undefined;
  await graph.count(1);
  expect(failures.recent()).toEqual({ graph: "the view could not be read. Rebuild it" });
  time += reportedMsMax - 1;
  expect(Object.keys(failures.recent())).toEqual(["graph"]);
  time += 1;
  expect(failures.recent()).toEqual({});
});

test.each([
  new CatalogError("unavailable", "the view is closed"),
  new CatalogError("invalid", "no such field", { cause: new Error("x") }),
])("errors that are not caused by the file are not reported: $message", async (error) => {
  outcome = error;
  await expect(graph.count(1)).rejects.toBe(error);
  expect(failures.recent()).toEqual({});
});
