/** Many texts at once: the same as trying them one by one. */
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
] as const)("texts %s one of many as they do one by one", (_, oneOf, is) => {
  fc.assert(
    fc.property(texts, fc.array(text, { minLength: 20 }), (many, asked) => {
      const test = oneOf(many);
      for (const one of asked) expect(test(one)).toBe(many.some((other) => is(one, other)));
    }),
  );
});

test("ten thousand are as quick as a few", () => {
  const many = Array.from({ length: 10_000 }, (_, i) => `urn:li:dataset:(x,t${i},PROD)`);
  const values = Array.from({ length: 20_000 }, (_, i) => `urn:li:dataset:(y,u${i},PROD)`);
  const begun = cpuMilliseconds();
  for (const oneOf of [startsWithOneOf, endsWithOneOf, containsOneOf]) {
    const test = oneOf(many);
    expect(values.some(test)).toBe(false);
  }
  // One by one these are 600 million comparisons.
  expect(cpuMilliseconds() - begun).toBeLessThan(2_000);
});
