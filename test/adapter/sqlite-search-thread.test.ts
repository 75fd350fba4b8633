/** The reader threads of the search view: one ends by itself, a query is slow. */
import { join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import type { SearchDocument, SearchQuery } from "../../src/views/search/search.ts";
import { openSqliteSearchReader } from "../../src/views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "../../src/views/search/sqlite/sqlite-search-sink.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const threads: Worker[] = [];
const remember = (thread: Worker): void => {
  threads.push(thread);
};

beforeEach(() => {
  threads.length = 0;
  process.on("worker", remember);
});
afterEach(() => {
  process.off("worker", remember);
});

const documentOf = (n: number): SearchDocument => ({
  urn: `urn:li:dataset:${n}`,
  entityType: "dataset",
  values: { name: [`name ${n}`] },
  texts: [],
});

async function open(
  size: number,
  options?: Parameters<typeof openSqliteSearchReader>[1],
  makeDocument = documentOf,
) {
  const directory = temporaryDirectory("annals-search");
  const path = join(directory.path, "search.sqlite");
  const sink = openSqliteSearchSink({ path });
  const writes = Array.from({ length: size }, (_, n) => ({
    op: "put" as const,
    position: position(n + 1),
    urn: makeDocument(n).urn,
    document: makeDocument(n),
  }));
  await sink.apply(writes, position(size));
  const reader = openSqliteSearchReader(path, options);
  return {
    reader,
    async [Symbol.asyncDispose]() {
      await reader.close();
      await sink.close();
      directory[Symbol.dispose]();
    },
  };
}

const all: SearchQuery = {
  entityTypes: ["dataset"],
  expression: { kind: "all" },
  sort: [],
  start: 0,
  count: 1,
  facets: [],
};

/** Looked for among all texts, each by itself. */
const laborious: SearchQuery = {
  ...all,
  expression: {
    kind: "or",
    any: Array.from({ length: 200 }, (_, n) => ({
      kind: "condition",
      condition: { kind: "like", field: "name", how: "ends", texts: [`x${n}`] },
    })),
  },
};

test("the first query starts the first reader thread", async () => {
  await using view = await open(10);
  // Node reports a new thread in the next iteration of the event loop.
  await yieldToEventLoop();
  const before = threads.length;
  expect((await view.reader.search(all)).total).toBe(10);
  expect((await view.reader.search(all)).total).toBe(10);
  expect([before, threads.length]).toEqual([0, 1]);
});

test("when a reader thread ends, its queries fail and the next query starts another", async () => {
  await using view = await open(2_000);
  expect((await view.reader.search(all)).total).toBe(2_000);
  const asked = [view.reader.search(laborious), view.reader.documents(["urn:li:dataset:1"])];
  const outcomes = Promise.allSettled(asked);
  await threads[0]?.terminate();
  expect(await outcomes).toContainEqual({
    status: "rejected",
    reason: expect.objectContaining({ code: "unavailable" }),
  });
  const before = threads.length;
  expect((await view.reader.search(all)).total).toBe(2_000);
  expect(threads.length).toBe(before + 1);
});

test("a slow query holds one thread, and others answer", async () => {
  await using view = await open(20_000, { limitMs: 60_000, threads: 2 });
  await Promise.all([view.reader.search(all), view.reader.search(all)]);
  const order: string[] = [];
  const long = view.reader.search(laborious).then(({ total }) => order.push(`long ${total}`));
  const short = view.reader.search(all).then(({ total }) => order.push(`short ${total}`));
  await Promise.all([long, short]);
  expect(order).toEqual(["short 20000", "long 0"]);
});

test("queries wait for a thread in their order", async () => {
  await using view = await open(2_000, { threads: 1 });
  const order: number[] = [];
  const asked = [3, 1, 2].map(async (count) => {
    const { hits } = await view.reader.search({ ...all, count });
    order.push(hits.length);
  });
  await Promise.all(asked);
  expect(order).toEqual([3, 1, 2]);
  expect(threads).toHaveLength(1);
});

test("a query beyond its time limit fails by itself", async () => {
  await using view = await open(20_000, { limitMs: 1 });
  const [long, short] = await Promise.allSettled([
    view.reader.search(laborious),
    view.reader.documents(["urn:li:dataset:7"]),
  ]);
  expect(long).toMatchObject({
    reason: expect.objectContaining({ code: "too_large", hint: expect.any(String) }),
  });
  expect(short).toMatchObject({ value: [{ urn: "urn:li:dataset:7" }] });
});

test("a query beyond its time limit does not change the results of later ones", async () => {
  const words = [...Array.from({ length: 150 }, (_, n) => `many${n}`), "few1", "few2"];
  const texts = [{ field: "name", value: "", folded: "", words, boost: 1, suggested: false }];
  await using view = await open(300, { limitMs: 0, threads: 1 }, (n) => ({
    ...documentOf(n),
    texts,
  }));
  const beginning = (word: string): SearchQuery => ({
    ...all,
    expression: { kind: "word", any: [{ word, prefix: true, weight: 1 }] },
  });
  await expect(view.reader.search(beginning("many"))).rejects.toMatchObject({ code: "too_large" });
  expect((await view.reader.search(beginning("few"))).total).toBe(300);
});

test("a query without hits is answered without near words beyond its time limit", async () => {
  const nearWordsOf = ["n2x99"];
  const asked: SearchQuery = { ...all, expression: { kind: "or", any: [] }, nearWordsOf };
  const words = Array.from({ length: 3_000 }, (_, n) => `n${n}`);
  const texts = [{ field: "name", value: "", folded: "", words, boost: 1, suggested: false }];
  const near = async (limitMs: number) => {
    await using view = await open(1, { limitMs }, (n) => ({ ...documentOf(n), texts }));
    return await view.reader.search(asked);
  };
  expect(await near(0)).toMatchObject({ total: 0, nearWords: [[]] });
  expect((await near(60_000)).nearWords?.[0]).not.toEqual([]);
});
