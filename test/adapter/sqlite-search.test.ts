import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import type {
  Condition,
  Expression,
  FieldValue,
  SearchDocument,
  SearchQuery,
  SearchWrite,
} from "../../src/views/search/search.ts";
import { searchSchema } from "../../src/views/search/sqlite/schema.ts";
import { openSqliteSearchReader } from "../../src/views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "../../src/views/search/sqlite/sqlite-search-sink.ts";
import { searchContract } from "../contract/search.contract.ts";
import { createSearchModel, searchHistories } from "../contract/search-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { openDumpedSearchReader } from "../support/dumped-readers.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createSqlitePlace } from "./sqlite-place.ts";

const createPlace = createSqlitePlace({
  openSink: openSqliteSearchSink,
  openReader: openDumpedSearchReader,
});

searchContract("sqlite", { createPlace });

const documentOf = (urn: string) => `urn = '${urn.replaceAll("'", "''")}'`;

sinkContract("sqlite search", {
  createPlace,
  histories: searchHistories,
  urnOf: ({ urn }) => urn,
  ownerOf: ({ document }) => document.urn,
  damages: [
    ["removed", (urn) => `DELETE FROM document WHERE ${documentOf(urn)}`],
    ["changed", (urn) => `UPDATE document SET json = '["tag",{},[]]' WHERE ${documentOf(urn)}`],
    [
      "stored twice",
      (urn) =>
        `INSERT INTO document (hash, urn, json)
         SELECT hash, urn, json FROM document WHERE ${documentOf(urn)}`,
    ],
  ],
});

describe("search on sqlite", () => {
  const unavailable = expect.objectContaining({ code: "unavailable" });
  const all: SearchQuery = {
    entityTypes: ["dataset"],
    expression: { kind: "all" },
    sort: [],
    start: 0,
    count: 10,
    facets: [],
  };
  const word = (text: string, prefix = false): Expression => ({
    kind: "word",
    any: [{ word: text, prefix, weight: 1 }],
  });

  /** Texts and values that are in all documents, in one of 30, and in few. */
  const numbered = (n: number, turn = 0): SearchDocument => {
    const words = ["common", `middle${n % 30}`, `rare${(n * 7) % 5_000}`];
    const value = words.join(" ");
    return {
      urn: `urn:li:dataset:${(n * 7_919) % 100_003}`,
      entityType: "dataset",
      values: { part: [(n + turn) % 3], tags: [`t${n % 700}`, `u${n % 11}`], name: [`${n}`] },
      texts: [
        { field: "name", value, folded: value, words, boost: n % 4 === 0 ? 4 : 1, suggested: true },
      ],
    };
  };
  const writesOf = (documents: readonly SearchDocument[], after: number): readonly SearchWrite[] =>
    documents.map((document, n) => ({
      ...{ op: "put", position: position(after + n + 1), urn: document.urn, document },
    }));

  test("results equal the model for many documents, also after many changes", async () => {
    const place = await createPlace();
    const sink = await place.openSink();
    const size = 20_000;
    const model = createSearchModel();
    const put = async (turn: number) => {
      const documents = Array.from({ length: size }, (_, n) => numbered(n, turn));
      const writes = writesOf(documents, turn * size);
      const upTo = position((turn + 1) * size);
      model.apply(writes, upTo);
      await sink.apply(writes, upTo);
    };
    const facets = [{ fields: ["part"] as const, limit: 5 }];
    const equal = (field: string, value: FieldValue): Condition => ({
      kind: "equal",
      field,
      values: [value],
    });
    const questions: readonly Partial<SearchQuery>[] = [
      { facets },
      { expression: word("common") },
      { expression: { kind: "and", all: [word("common"), word("middle7")] }, facets },
      { expression: { kind: "and", all: [word("common"), { kind: "not", not: word("middle7") }] } },
      { expression: { kind: "or", any: [word("middle7"), word("rare77"), word("mid", true)] } },
      { expression: word("rar", true), condition: equal("tags", "t9") },
      { condition: equal("part", 1), sort: [{ field: "name", order: "DESCENDING" }] },
      { condition: { kind: "like", field: "name", how: "ends", texts: ["99"] }, facets },
      {
        expression: {
          kind: "prefer",
          base: word("common"),
          preferred: [
            { weight: 2, when: { kind: "phrase", words: ["common", "middle3"] } },
            { weight: 4, when: { kind: "whole", text: "common middle1", prefix: true } },
          ],
        },
      },
    ];
    const reader = await place.openReader();
    for (const turn of [0, 1]) {
      await put(turn);
      for (const question of questions) {
        const asked = { ...all, ...question };
        const expected = model.search(asked);
        expect(await reader.search(asked)).toEqual(expected);
        const after = expected.hits.at(-1)?.cursor;
        const next = { ...asked, after, facets: [] };
        expect((await reader.search(next)).hits).toEqual(model.search(next).hits);
      }
    }
    await reader.close();
    await sink.close();
    await place.remove();
  });

  test("a restore brings back a document that the index lost", async () => {
    const place = await createPlace();
    const sink = await place.openSink();
    const reader = await place.openReader();
    const writes = writesOf([numbered(1), numbered(2)], 0);
    await sink.apply(writes, position(2));
    await place.change(`
      INSERT INTO tombstone (id, urn, turn) SELECT 1, urn, 2 FROM document WHERE id = 1;
      UPDATE state SET turn = 2`);
    const asked = { ...all, expression: word("common") };
    expect((await reader.search(asked)).total).toBe(1);
    await sink.restore(numbered(1).urn, writes.slice(0, 1));
    expect((await reader.search(asked)).total).toBe(2);
    await reader.close();
    await sink.close();
    await place.remove();
  });

  test("a restore removes a second version of a document from the index", async () => {
    const place = await createPlace();
    const sink = await place.openSink();
    const reader = await place.openReader();
    const writes = writesOf([numbered(1), numbered(2)], 0);
    await sink.apply(writes, position(2));
    await place.change("DELETE FROM document WHERE id = 1");
    await sink.restore(numbered(1).urn, writes.slice(0, 1));
    expect((await reader.search({ ...all, expression: word("common") })).total).toBe(2);
    await reader.close();
    await sink.close();
    await place.remove();
  });

  test("urns in upper and lower case sort as the oracle sorts them", async () => {
    const place = await createPlace();
    const sink = await place.openSink();
    const model = createSearchModel();
    const documents = ["B", "a", "C", "b"].map((name) => {
      const urn = `urn:li:dataset:${name}`;
      return { ...numbered(1), urn, values: { urn: [urn] } };
    });
    await sink.apply(writesOf(documents, 0), position(4));
    model.apply(writesOf(documents, 0), position(4));
    const reader = await place.openReader();
    for (const order of ["ASCENDING", "DESCENDING"] as const) {
      const sorted = { ...all, sort: [{ field: "urn", order }] };
      expect(await reader.search(sorted)).toEqual(model.search(sorted));
    }
    await reader.close();
    await sink.close();
    await place.remove();
  });

  test("a query for a long value reads only documents with its hash, or of the base that it prefers", async () => {
    const place = await createPlace();
    const sink = await place.openSink();
    const beginning = "x".repeat(100);
    const documents = [1, 2].map((n): SearchDocument => {
      const value = `${beginning}${n}`;
      const text = { field: "name", value, folded: value, boost: 1, suggested: true };
      return { ...numbered(n), texts: [{ ...text, words: [`word${n}`] }] };
    });
    await sink.apply(writesOf(documents, 0), position(2));
    // A query that reads the document fails.
    await place.change("UPDATE document SET json = '[' WHERE id = 2");
    const reader = await place.openReader();
    const whole = (text: string, prefix: boolean): Expression => ({ kind: "whole", text, prefix });
    const base = word("word1");
    const preferred = [{ weight: 4, when: whole(beginning, true) }];
    for (const expression of [
      whole(`${beginning}1`, false),
      { kind: "prefer", base, preferred },
    ] as const) {
      const { hits } = await reader.search({ ...all, expression });
      expect(hits.map(({ document }) => document.urn)).toEqual([numbered(1).urn]);
    }
    await expect(reader.search({ ...all, expression: whole(beginning, true) })).rejects.toEqual(
      unavailable,
    );
    await reader.close();
    await sink.close();
    await place.remove();
  });

  test("a file with segments of the version before begins again from the log", async () => {
    using directory = temporaryDirectory("annals-search");
    const path = join(directory.path, "search.sqlite");
    const log = { id: "log", head: position(1) };
    const older = openSqliteSearchSink({ path, log });
    await older.apply(writesOf([numbered(1)], 0), position(1));
    await older.close();
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA user_version = ${searchSchema.version - 1}`);
    db.close();
    const reasons: string[] = [];
    const sink = openSqliteSearchSink({ path, log, onEmptied: (why) => reasons.push(why) });
    expect(await sink.position()).toBe(0);
    expect(reasons).toEqual(["an older release"]);
    await sink.apply(writesOf([numbered(1)], 0), position(1));
    const reader = openSqliteSearchReader(path);
    expect((await reader.search(all)).total).toBe(1);
    await reader.close();
    await sink.close();
  });

  test.each([
    ["a chunk", "UPDATE chunk SET bytes = zeroblob(length(bytes))"],
    ["a missing chunk", "DELETE FROM chunk"],
    ["a directory", "UPDATE segment SET directory = replace(directory, '1', '2')"],
  ])(
    "%s that is damaged makes queries fail with the command that rebuilds the view",
    async (_, sql) => {
      const place = await createPlace();
      const sink = await place.openSink();
      await sink.apply(writesOf([numbered(1), numbered(2)], 0), position(2));
      await place.change(sql);
      const reader = await place.openReader();
      await expect(reader.search({ ...all, expression: word("common") })).rejects.toEqual(
        expect.objectContaining({
          code: "unavailable",
          hint: expect.stringContaining("rebuild search"),
        }),
      );
      await reader.close();
      await sink.close();
      await place.remove();
    },
  );

  test("closing the view rejects its waiting queries", async () => {
    const place = await createPlace();
    const sink = await place.openSink();
    const reader = await place.openReader();
    const asked = [reader.search(all), reader.documents(["urn:li:dataset:1"])];
    const outcomes = Promise.allSettled(asked);
    await reader.close();
    for (const outcome of await outcomes) {
      expect(outcome).toEqual({ status: "rejected", reason: unavailable });
    }
    await sink.close();
    await place.remove();
  });

  test("a read of a damaged document fails with an error that names the fix", async () => {
    const place = await createPlace();
    const sink = await place.openSink();
    await sink.apply(writesOf([numbered(1), numbered(2)], 0), position(2));
    await place.change("UPDATE document SET json = substr(json, 1, 20) WHERE id = 1");
    const reader = await place.openReader();
    const damaged = expect.objectContaining({
      code: "unavailable",
      hint: expect.stringContaining("rebuild search"),
    });
    const found = await reader.search({ ...all, expression: word("common") });
    expect(found.hits).toHaveLength(2);
    expect(() => found.hits.map(({ document }) => document.texts)).toThrow(damaged);
    await expect(reader.documents([numbered(1).urn])).rejects.toEqual(damaged);
    await reader.close();
    await sink.close();
    await place.remove();
  });

  test("the error of a missing view names the command that builds it", async () => {
    using directory = temporaryDirectory("annals-search");
    expect(() => openSqliteSearchReader(join(directory.path, "search.sqlite"))).toThrow(
      expect.objectContaining({
        code: "unavailable",
        hint: expect.stringContaining("rebuild search"),
      }),
    );
  });
});
