/** When the segments of the search view's index are merged. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import type { SearchQuery, SearchWrite } from "../../src/search/search.ts";
import { openSqliteSearchReader } from "../../src/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "../../src/search/sqlite/sqlite-search-sink.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const BATCHES = 20;
const BATCH = 40;

function writesOf(batch: number): readonly SearchWrite[] {
  return Array.from({ length: BATCH }, (_, n) => {
    const name = `name${n} batch${batch}`;
    const urn = `urn:li:dataset:${n}`;
    return {
      op: "put",
      position: position(batch * BATCH + n + 1),
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

function segments(path: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(db.prepare("SELECT count(DISTINCT segid) AS n FROM term_idx").get()?.n);
  } finally {
    db.close();
  }
}

const page = { sort: [], start: 0, count: 1, facets: [] };
const everything: SearchQuery = { entityTypes: ["dataset"], expression: { kind: "all" }, ...page };

async function fill(path: string) {
  const sink = openSqliteSearchSink({ path });
  for (let batch = 0; batch < BATCHES; batch++) {
    await sink.apply(writesOf(batch), position((batch + 1) * BATCH));
  }
  return sink;
}

async function tidied(sink: { tidy?(): Promise<boolean> }): Promise<void> {
  while (await sink.tidy?.());
}

test("segments are merged between batches, not within them, and the same is found", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  const sink = await fill(path);
  const before = segments(path);
  expect(before).toBeGreaterThan(BATCHES / 2);
  await tidied(sink);
  expect(segments(path)).toBeLessThan(BATCHES / 2);
  expect(await sink.tidy?.()).toBe(false);

  const reader = openSqliteSearchReader(path);
  const found = async (word: string) => {
    const expression = { kind: "word", any: [{ word, prefix: false, weight: 1 }] } as const;
    return (await reader.search({ ...everything, expression })).total;
  };
  expect(await found(`batch${BATCHES - 1}`)).toBe(BATCH);
  expect(await found(`batch${BATCHES - 2}`)).toBe(0);
  expect(await found("name7")).toBe(1);
  expect((await reader.search(everything)).total).toBe(BATCH);
  await reader.close();
  await sink.close();
});

test("what the last process left is merged after the start", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "search.sqlite");
  await (await fill(path)).close();
  const before = segments(path);
  const sink = openSqliteSearchSink({ path });
  await tidied(sink);
  expect(segments(path)).toBeLessThan(before);
  await sink.close();
});
