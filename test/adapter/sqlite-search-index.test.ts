/**
 * What the reading side of the search view keeps in memory, and that its questions are answered in
 * slices: neither is seen in an answer, whatever is written in between.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { position, START } from "../../src/core/position.ts";
import type { Condition, Expression, SearchDocument } from "../../src/search/search.ts";
import {
  openSearchIndex,
  type SearchTimes,
  type StoredAnswer,
  searchTimes,
} from "../../src/search/sqlite/search-index.ts";
import { advance, type Steps } from "../../src/search/sqlite/slices.ts";
import { openSqliteSearchSink } from "../../src/search/sqlite/sqlite-search-sink.ts";
import { createSearchModel } from "../contract/search-model.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const words = ["common", "comet", "order", "orders", "rare", "late"];

/** Everybody has the first word, half of all the second, a third the third …: long lists. */
const documentOf = (n: number, turn: number): SearchDocument => {
  const own = words.filter((_, at) => (n * 7 + turn * 13 + at) % (at + 1) === 0);
  // A word that nobody had before.
  own.push(`orders${turn}`);
  const value = own.join(" ");
  return {
    urn: `urn:li:dataset:${n}`,
    entityType: n % 5 === 0 ? "chart" : "dataset",
    values: { name: [value, `n${n % 50}`], part: [(n + turn) % 3], removed: [n % 97 === turn] },
    texts: [
      { field: "name", value, folded: value, words: own, boost: 4, suggested: true },
      {
        field: "about",
        value: `${turn}`,
        folded: `${turn}`,
        words: [],
        boost: 1,
        suggested: false,
      },
    ],
  };
};

const word = (text: string, prefix: boolean, within?: "suggested"): Expression => ({
  kind: "word",
  any: [
    { word: text, prefix: false, weight: 1 },
    { word: text, prefix, weight: 0.5 },
  ],
  within,
});

const notRemoved: Condition = {
  kind: "not",
  not: { kind: "equal", field: "removed", values: [true] },
};

const expressions: readonly Expression[] = [
  { kind: "all" },
  word("com", true),
  word("orde", true),
  word("common", false),
  word("c", true, "suggested"),
  { kind: "and", all: [word("common", true), word("orders", true)] },
  { kind: "and", all: [word("order", true), { kind: "not", not: word("rare", false) }] },
  { kind: "or", any: [word("late", false), word("comet", false)] },
  { kind: "phrase", words: ["common", "comet"] },
  // In a few documents, and for the writes after that in some more.
  { kind: "phrase", words: ["late", "orders3"] },
  {
    kind: "prefer",
    base: word("o", true),
    preferred: [{ weight: 4, when: { kind: "whole", text: "common", prefix: true } }],
  },
];

const conditions: readonly Condition[] = [
  notRemoved,
  { kind: "equal", field: "part", values: [1] },
  { kind: "every", every: [{ kind: "equal", field: "part", values: [0, 2] }, notRemoved] },
  { kind: "like", field: "name", how: "contains", texts: ["order", "n4"] },
  {
    kind: "every",
    every: ["n1", "n11", "1"].map((one) => ({
      kind: "like",
      field: "name",
      how: "contains",
      texts: [one],
    })),
  },
];

function open(size: number, times: SearchTimes) {
  const directory = temporaryDirectory("annals-search");
  const path = join(directory.path, "search.sqlite");
  const sink = openSqliteSearchSink({ path });
  const model = createSearchModel();
  let last = START;
  async function put(numbers: readonly number[], turn: number): Promise<void> {
    const writes = numbers.map((n) => {
      last = position(last + 1);
      const document = documentOf(n, turn);
      const { urn } = document;
      return turn > 0 && (n + turn) % 9 === 0
        ? { op: "remove" as const, position: last, urn }
        : { op: "put" as const, position: last, urn, document };
    });
    model.apply(writes, last);
    await sink.apply(writes, last);
  }
  return {
    path,
    model,
    put,
    begin: () =>
      put(
        Array.from({ length: size }, (_, n) => n),
        0,
      ),
    openIndex: () => openSearchIndex(path, times),
    async [Symbol.asyncDispose]() {
      await sink.close();
      directory[Symbol.dispose]();
    },
  };
}

const question = fc
  .record({
    expression: fc.constantFrom(...expressions),
    condition: fc.option(fc.constantFrom(...conditions), { nil: undefined }),
    types: fc.constantFrom(["dataset"], ["dataset", "chart"]),
  })
  .map(({ types, ...asked }) => ({
    ...asked,
    entityTypes: types,
    sort: [],
    start: 0,
    count: 1_000,
    facets: [{ fields: ["part"] as const, limit: 5 }],
  }));

const told = ({ hits, total, facets, position: at }: StoredAnswer) => ({
  hits: hits.map(({ urn, score }) => [urn, score]),
  ...{ total, facets, at },
});

type Model = ReturnType<typeof createSearchModel>;
const expected = (model: Model, asked: Parameters<Model["search"]>[0]) => {
  const { hits, total, facets, position: at } = model.search(asked);
  return { hits: hits.map(({ document, score }) => [document.urn, score]), total, facets, at };
};

const some = fc.array(fc.nat({ max: 399 }), { minLength: 1, maxLength: 12 });

function answer<T>(steps: Steps<T>): T {
  const whole = advance(steps, () => false);
  if (whole === undefined) throw new Error("it goes on until it is done");
  return whole.value;
}

test("of a document that is damaged where it changed, everybody hears who counts it", async () => {
  await using place = open(200, searchTimes);
  await place.begin();
  const index = place.openIndex();
  const asked = {
    ...{ entityTypes: ["dataset", "chart"], expression: { kind: "all" } as const, sort: [] },
    ...{ start: 0, count: 0, facets: [{ fields: ["part"] as const, limit: 5 }] },
  };
  expect(answer(index.search(asked)).total).toBe(200);
  await place.put([7], 1);
  using view = new DatabaseSync(place.path);
  view.exec(`UPDATE document SET json = '[' WHERE id = 8`);
  for (let n = 0; n < 2; n++) expect(() => answer(index.search(asked))).toThrow("damaged");
  index.close();
});

test("what is remembered follows what is written", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(question, { minLength: 1, maxLength: 4 }),
      fc.array(some, { minLength: 3, maxLength: 8 }),
      async (questions, changes) => {
        await using view = open(400, searchTimes);
        await view.begin();
        const index = view.openIndex();
        for (const [turn, numbers] of [[], ...changes].entries()) {
          if (numbers.length > 0) await view.put(numbers, turn);
          // Twice, so that what was asked for before is remembered from now on.
          for (const asked of [...questions, ...questions]) {
            expect(told(answer(index.search(asked)))).toEqual(expected(view.model, asked));
          }
        }
        index.close();
      },
    ),
    { numRuns: 25 },
  );
});

test("an answer in slices is of the state of the last one, whatever is written between them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(question, { minLength: 2, maxLength: 5 }),
      fc.array(some, { minLength: 4, maxLength: 12 }),
      async (questions, changes) => {
        await using view = open(400, { ...searchTimes, sliceMs: 0 });
        await view.begin();
        const index = view.openIndex();
        const running: { asked: (typeof questions)[number]; steps: Steps<StoredAnswer> }[] =
          questions.map((asked) => ({ asked, steps: index.search(asked) }));
        let turn = 0;
        for (let slices = 0; running.length > 0; slices++) {
          const one = running.shift();
          if (one === undefined) break;
          const next = one.steps.next();
          if (next.done) expect(told(next.value)).toEqual(expected(view.model, one.asked));
          else running.push(one);
          if (slices % 3 === 0 && turn < changes.length) {
            turn++;
            await view.put(changes[turn - 1] ?? [], turn);
          }
        }
        index.close();
      },
    ),
    { numRuns: 25 },
  );
});

test("a question that takes too long is given up, and the next one is answered", async () => {
  await using view = open(400, { sliceMs: 0, answerMsMax: 0 });
  await view.begin();
  const index = view.openIndex();
  const asked = { entityTypes: ["dataset"], sort: [], start: 0, count: 1, facets: [] };
  const long = index.search({ ...asked, expression: { kind: "and", all: expressions } });
  expect(() => {
    while (!long.next().done);
  }).toThrow(expect.objectContaining({ code: "too_large", hint: expect.any(String) }));
  expect(index.documents([documentOf(1, 0).urn]).next()).toMatchObject({ done: true });
  index.close();
});
