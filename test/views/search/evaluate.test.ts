import { describe, expect, test } from "vitest";
import { evaluate, fulfils, holds } from "../../../src/views/search/evaluate.ts";
import type { Expression, SearchDocument } from "../../../src/views/search/search.ts";

const orders: SearchDocument = {
  urn: "urn:li:dataset:orders",
  entityType: "dataset",
  values: { name: ["Daily Orders"], tags: ["urn:li:tag:pii", "urn:li:tag:gold"], count: [3, 7] },
  texts: [
    {
      field: "name",
      value: "Daily Orders",
      folded: "daily orders",
      words: ["daily", "orders"],
      boost: 10,
      suggested: true,
    },
    {
      field: "description",
      value: "orders of a day",
      folded: "orders of a day",
      words: ["orders", "of", "a", "day"],
      boost: 1,
      suggested: false,
    },
  ],
};
const name = { field: "name", value: "Daily Orders" };
const description = { field: "description", value: "orders of a day" };

const word = (text: string, weight = 1, prefix = false): Expression => ({
  kind: "word",
  any: [{ word: text, prefix, weight }],
});
const tagged: Expression = {
  kind: "condition",
  condition: {
    kind: "every",
    every: [
      { kind: "equal", field: "tags", values: ["urn:li:tag:gold", "urn:li:tag:x"] },
      { kind: "exists", field: "name" },
      { kind: "not", not: { kind: "exists", field: "owners" } },
      { kind: "range", field: "count", above: 5 },
    ],
  },
};

describe("an evaluation", () => {
  test("an evaluation lists every text that has a word, with the text's own score", () => {
    expect(evaluate(word("orders"), orders)).toEqual({
      score: 10,
      matches: [
        { ...name, how: "word", score: 10 },
        { ...description, how: "word", score: 1 },
      ],
    });
    expect(evaluate(word("order"), orders)).toBeUndefined();
  });

  test("an evaluation lists the alternative with the highest score for each text", () => {
    const any = [
      { word: "da", prefix: true, weight: 0.5 },
      { word: "daily", prefix: false, weight: 1 },
    ];
    expect(evaluate({ kind: "word", any }, orders)?.matches).toEqual([
      { ...name, how: "word", score: 10 },
      { ...description, how: "prefix", score: 0.5 },
    ]);
  });

  test("an evaluation marks phrases, whole values and beginnings", () => {
    const all: readonly Expression[] = [
      { kind: "phrase", words: ["of", "a"] },
      { kind: "phrase", words: ["of", "a"], weight: 4 },
      { kind: "whole", text: "daily orders", prefix: false },
      { kind: "whole", text: "orders", prefix: true },
    ];
    expect(evaluate({ kind: "and", all }, orders)).toEqual({
      score: 16,
      matches: [
        { ...description, how: "phrase", score: 1 },
        { ...description, how: "phrase", score: 4 },
        { ...name, how: "whole", score: 10 },
        { ...description, how: "beginning", score: 1 },
      ],
    });
  });

  test("an evaluation lists the values that fulfil conditions", () => {
    expect(evaluate(tagged, orders)).toEqual({
      score: 1,
      matches: [
        { field: "tags", value: "urn:li:tag:gold", how: "value", score: 1 },
        { field: "count", value: "7", how: "value", score: 1 },
      ],
    });
  });

  test("an evaluation lists only the preference that applies, with its weight", () => {
    const expression: Expression = {
      kind: "prefer",
      base: word("daily"),
      preferred: [
        { weight: 2, when: word("orders") },
        { weight: 4, when: { kind: "whole", text: "daily orders", prefix: false } },
        { weight: 16, when: word("unheard") },
      ],
    };
    expect(evaluate(expression, orders)).toEqual({
      score: 50,
      matches: [
        { ...name, how: "word", score: 10 },
        { ...name, how: "whole", score: 40 },
      ],
    });
  });

  test("an evaluation lists all alternatives that match, and no negated ones", () => {
    const expression: Expression = {
      kind: "and",
      all: [
        { kind: "or", any: [word("day"), word("unheard"), word("daily")] },
        { kind: "not", not: word("unheard") },
        { kind: "all" },
      ],
    };
    expect(evaluate(expression, orders)).toEqual({
      score: 11,
      matches: [
        { ...description, how: "word", score: 1 },
        { ...name, how: "word", score: 10 },
      ],
    });
  });
});

test("a field is a member of the document, whatever its name", () => {
  expect(holds({ kind: "exists", field: "constructor" }, orders)).toBe(false);
  expect(holds({ kind: "equal", field: "toString", values: ["x"] }, orders)).toBe(false);
});

test("a range matches only values of the type of its ends", () => {
  const range = { kind: "range" as const, field: "count" };
  expect(fulfils({ ...range, from: 3, below: "9" }, 3)).toBe(false);
  expect(fulfils({ ...range, from: 3, below: 9 }, 3)).toBe(true);
  expect(fulfils(range, true)).toBe(false);
});
