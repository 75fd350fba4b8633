/** Merges of segments of the search view: when they start, and writes during a merge. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import type { SearchQuery, SearchSink, SearchWrite } from "../../src/views/search/search.ts";
import { openSqliteSearchReader } from "../../src/views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchRows } from "../../src/views/search/sqlite/sqlite-search-rows.ts";
import { openSqliteSearchSink } from "../../src/views/search/sqlite/sqlite-search-sink.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

function writesOf(batch: number, size: number): readonly SearchWrite[] {
  return Array.from({ length: size }, (_, n) => {
    const name = `name${n} batch${batch} word${(n * 7_919) % 5_003}`;
    const urn = `urn:li:dataset:${n}`;
    return {
      op: "put",
      position: position(batch * size + n + 1),
      urn,
      document: {
        urn,
        entityType: "dataset",
        values: { name: [name] },
        texts: [
          {
            ...{ field: "name", value: name, folded: name, words: name.split(" ") },
            ...{ boost: 1, suggested: true },
          },
        ],
      },
    };
  });
}

function countOf(path: string, table: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  } finally {
    db.close();
  }
}

const page = { sort: [], start: 0, count: 1, facets: [] };
const everything: SearchQuery = { entityTypes: ["dataset"], expression: { kind: "all" }, ...page };

async function fill(sink: SearchSink, batches: number, size: number): Promise<void> {
  for (let batch = 0; batch < batches; batch++) {
    await sink.apply(writesOf(batch, size), position((batch + 1) * size));
  }
}

async function totals(path: string, words: readonly string[]): Promise<readonly number[]> {
  const reader = openSqliteSearchReader(path, { threads: 1 });
  const found: number[] = [];
  for (const word of words) {
    const expression = { kind: "word", any: [{ word, prefix: false, weight: 1 }] } as const;
    found.push((await reader.search({ ...everything, expression })).total);
  }
  found.push((await reader.search(everything)).total);
  await reader.close();
  return found;
}

test("a batch merges small segments, and deleted documents leave the index", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  const sink = openSqliteSearchSink({ path });
  await fill(sink, 40, 10);
  expect(countOf(path, "segment")).toBeLessThan(12);
  expect(countOf(path, "tombstone")).toBeLessThan(40 * 10);
  expect(await totals(path, ["batch39", "batch38", "name7"])).toEqual([10, 0, 1, 10]);
  await sink.close();
});

test("a merge leaves out a damaged document, and verification finds it", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  const sink = openSqliteSearchSink({ path });
  await fill(sink, 1, 10);
  const db = new DatabaseSync(path);
  db.exec("UPDATE document SET json = '[' WHERE urn = 'urn:li:dataset:0'");
  db.close();
  for (let batch = 1; batch < 20; batch++) {
    await sink.apply(writesOf(batch, 10).slice(1), position((batch + 1) * 10));
  }
  expect(await totals(path, ["batch19", "name0"])).toEqual([9, 0, 9]);
  const rows = openSqliteSearchRows(path);
  expect(await rows.faults()).toEqual(["the index has 9 documents, the view has 10"]);
  await rows.close();
  await sink.close();
});

test("a thread merges large segments while batches are applied", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  const sink = openSqliteSearchSink({ path });
  const size = 4_000;
  await fill(sink, 6, size);
  const before = countOf(path, "segment");
  expect(await sink.maintain?.()).toBe(true);
  const last = position(6 * size + 1);
  await sink.apply([{ op: "remove", position: last, urn: "urn:li:dataset:7" }], last);
  while (await sink.maintain?.());
  expect(countOf(path, "segment")).toBeLessThan(before);
  expect(await totals(path, ["batch5", "batch4", "name7", "name8"])).toEqual([
    ...[size - 1, 0, 0, 1],
    size - 1,
  ]);
  await sink.close();
});

test("the thread merges again after its first merge", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  const sink = openSqliteSearchSink({ path });
  const size = 4_000;
  for (const first of [0, 6]) {
    for (let batch = first; batch < first + 6; batch++) {
      await sink.apply(writesOf(batch, size), position((batch + 1) * size));
    }
    const before = countOf(path, "segment");
    while (await sink.maintain?.());
    expect(countOf(path, "segment")).toBeLessThan(before);
  }
  expect(await totals(path, ["batch11", "batch5"])).toEqual([size, 0, size]);
  await sink.close();
});

test("a reset discards the result of a merge that runs", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  const sink = openSqliteSearchSink({ path });
  await fill(sink, 6, 4_000);
  expect(await sink.maintain?.()).toBe(true);
  await sink.reset();
  await sink.apply(writesOf(0, 3), position(3));
  while (await sink.maintain?.());
  expect(await totals(path, ["batch5", "batch0"])).toEqual([0, 3, 3]);
  await sink.close();
});

test("a new process merges what the last one left", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  const first = openSqliteSearchSink({ path });
  await fill(first, 6, 4_000);
  await first.maintain?.();
  await first.close();
  const before = countOf(path, "segment");
  const sink = openSqliteSearchSink({ path });
  while (await sink.maintain?.());
  expect(countOf(path, "segment")).toBeLessThan(before);
  expect(await totals(path, ["batch5"])).toEqual([4_000, 4_000]);
  await sink.close();
});
