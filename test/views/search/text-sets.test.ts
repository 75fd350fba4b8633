/** Comparisons with many texts at once give the results of comparisons one by one. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  containsOneOf,
  endsWithOneOf,
  equalsOneOf,
  startsWithOneOf,
} from "../../../src/views/search/text-sets.ts";
import { cpuMilliseconds } from "../../support/cpu-milliseconds.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀", "."), maxLength: 8 });
const texts = fc.array(text, { maxLength: 30 });

test.each([
  ["equal", equalsOneOf, (a: string, b: string) => a === b],
  ["begin with", startsWithOneOf, (a: string, b: string) => a.startsWith(b)],
  ["end with", endsWithOneOf, (a: string, b: string) => a.endsWith(b)],
  ["contain", containsOneOf, (a: string, b: string) => a.includes(b)],
] as const)(
  "the test for texts that %s one of many gives the results of single comparisons",
  (_, oneOf, is) => {
    fc.assert(
      fc.property(texts, fc.array(text, { minLength: 20 }), (many, asked) => {
        const test = oneOf(many);
        for (const one of asked) expect(test(one)).toBe(many.some((other) => is(one, other)));
      }),
    );
  },
);

test("ten thousand texts are compared as quickly as a few", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => `urn:li:dataset:(x,t${i},PROD)`);
  const values = Array.from({ length: 20_000 }, (_, i) => `urn:li:dataset:(y,u${i},PROD)`);
  const begun = cpuMilliseconds();
  for (const oneOf of [startsWithOneOf, endsWithOneOf, containsOneOf]) {
    const test = oneOf(many);
    expect(values.some(test)).toBe(false);
  }
  // Comparing one by one takes 600 million comparisons.
  expect(cpuMilliseconds() - begun).toBeLessThan(2_000);
});
