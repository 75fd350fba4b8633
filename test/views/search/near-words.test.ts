/** Distances of words, compared with a definition by recursion; the order of near words. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { NearTest, nearest } from "../../../src/views/search/near-words.ts";

/** The optimal string alignment distance by its definition. */
function distance(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return a.length + b.length;
  const [lastA, lastB] = [a.at(-1), b.at(-1)];
  const swapped = a.length > 1 && b.length > 1 && lastA === b.at(-2) && a.at(-2) === lastB;
  return Math.min(
    distance(a.slice(0, -1), b) + 1,
    distance(a, b.slice(0, -1)) + 1,
    distance(a.slice(0, -1), b.slice(0, -1)) + (lastA === lastB ? 0 : 1),
    swapped ? distance(a.slice(0, -2), b.slice(0, -2)) + 1 : Number.POSITIVE_INFINITY,
  );
}

test.each([
  ["order", "order", undefined],
  ["order", "orders", 1],
  ["ordre", "order", 1],
  ["oderr", "order", undefined],
  ["order", "ordentlich", undefined],
  ["harvests", "harvset", 2],
  ["harvests", "hrvset", undefined],
  ["harvests", "arvests", undefined],
  ["abc", "abd", undefined],
  ["\ud83dabc", "\ufffdabd", 1],
])("the distance of %j and %j is %s", (word, other, expected) => {
  expect(new NearTest(word).distance(other)).toBe(expected);
});

test("a distance within the limit is the optimal string alignment distance", () => {
  const word = fc.array(fc.constantFrom("a", "b", "\u{1F600}"), { minLength: 3, maxLength: 8 });
  const several = fc.array(word, { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(word, several, (a, others) => {
      const near = new NearTest(a.join(""));
      for (const b of others) {
        const edits = distance(a, b);
        const isNear = a[0] === b[0] && edits > 0 && edits <= near.editsMax;
        expect(near.distance(b.join(""))).toBe(isNear ? edits : undefined);
      }
    }),
    { numRuns: 50 },
  );
});

test("near words are sorted by distance, documents and code units; words without documents are omitted", () => {
  const words = [
    { word: "far", distance: 2, documents: 9 },
    { word: "b", distance: 1, documents: 1 },
    { word: "none", distance: 1, documents: 0 },
    { word: "a", distance: 1, documents: 1 },
    { word: "many", distance: 1, documents: 2 },
  ];
  expect(nearest(words).map(({ word }) => word)).toEqual(["many", "a", "b"]);
});
