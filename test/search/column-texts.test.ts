/** What is found in joined texts is what is found in each value. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { fulfils } from "../../src/search/evaluate.ts";
import type { FieldValue } from "../../src/search/search.ts";
import { createColumnTexts, type LikeCondition } from "../../src/search/sqlite/column-texts.ts";

/** Few letters, so that they meet; what divides joined texts, and letters of other lengths in lower case. */
const letters = fc.constantFrom("a", "B", "ab", "\0", "İ", "ς", "Σ", "\ud800", "😀", " ");
const text = fc.array(letters, { maxLength: 5 }).map((some) => some.join(""));
const value: fc.Arbitrary<FieldValue> = fc.oneof(text, fc.integer({ max: 30 }), fc.boolean());
const condition: fc.Arbitrary<LikeCondition> = fc.record({
  kind: fc.constant("like" as const),
  field: fc.constant("name"),
  how: fc.constantFrom("equals", "contains", "starts", "ends"),
  texts: fc.array(
    text.map((one) => one.toLowerCase()),
    { minLength: 1, maxLength: 10 },
  ),
});

/** Numbers of the values that fulfil the condition, and how often others had their turn. */
function marked(
  values: readonly FieldValue[],
  like: LikeCondition,
  texts = createColumnTexts(values),
) {
  const marks = new Uint8Array(values.length);
  const turns = [...texts.mark(like, marks)].length;
  return { numbers: values.map((_, n) => n).filter((n) => marks[n] === 1), turns };
}

const oneByOne = (values: readonly FieldValue[], like: LikeCondition) =>
  values.map((_, n) => n).filter((n) => fulfils(like, values[n] ?? ""));

test("values are marked that fulfil the condition, whatever they hold", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 40 }), condition, (values, like) => {
      expect(marked(values, like).numbers).toEqual(oneByOne(values, like));
    }),
    { numRuns: 2_000 },
  );
});

test("so are those among thousands, and those that came later", () => {
  const values: FieldValue[] = Array.from({ length: 9_000 }, (_, n) => `Name_${n * 7}`);
  const texts = createColumnTexts(values);
  const like = (how: LikeCondition["how"], ...some: string[]): LikeCondition => {
    return { kind: "like", field: "name", how, texts: some };
  };
  const asked = [
    like("contains", "_4"),
    like("starts", "name_21", "name_9"),
    like("ends", "77", "_0"),
    like("equals", "name_62993", "name_63000"),
  ];
  for (const one of asked) {
    const { numbers, turns } = marked(values, one, texts);
    expect(numbers).toEqual(oneByOne(values, one));
    expect(numbers.length).toBeGreaterThan(0);
    expect(turns).toBe(2);
  }
  const before = texts.bytes();
  expect(before).toBeGreaterThan(2 * 4_096 * "Name_0".length);
  values.push("Name_63000", "late");
  for (const one of [...asked, like("contains", "ate")]) {
    expect(marked(values, one, texts).numbers).toEqual(oneByOne(values, one));
  }
  expect(texts.bytes()).toBe(before);
});
