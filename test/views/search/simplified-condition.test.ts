/** A simplified condition matches the same values as the original. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "../../../src/views/search/evaluate.ts";
import type { Condition } from "../../../src/views/search/search.ts";
import { simplifiedCondition } from "../../../src/views/search/simplified-condition.ts";

const field = fc.constantFrom("a", "b");
const text = fc.constantFrom("", "x", "y", "xy", "yx", "z");
const texts = fc.array(text, { maxLength: 3 });

const { condition } = fc.letrec<{ condition: Condition }>((tie) => {
  const several = fc.array(tie("condition"), { maxLength: 5 });
  return {
    condition: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.record({ kind: fc.constant("exists" as const), field }),
      fc.record({ kind: fc.constant("equal" as const), field, values: texts }),
      fc.record({
        kind: fc.constant("like" as const),
        field,
        how: fc.constantFrom("equals" as const, "contains" as const, "starts" as const),
        texts,
      }),
      fc.record({ kind: fc.constant("not" as const), not: tie("condition") }),
      several.map((every) => ({ kind: "every" as const, every })),
      several.map((any) => ({ kind: "any" as const, any })),
    ),
  };
});

test("a simplified condition matches the same values", () => {
  fc.assert(
    fc.property(condition, fc.array(fc.record({ a: texts, b: texts })), (asked, all) => {
      const fewer = simplifiedCondition(asked);
      for (const values of all) expect(holds(fewer, { values })).toBe(holds(asked, { values }));
    }),
    { numRuns: 2_000 },
  );
});

const containing = (one: string): Condition => ({
  kind: "like",
  field: "a",
  how: "contains",
  texts: [one],
});

test("a thousand conditions on one field become a single condition, also when negated", () => {
  const many = Array.from({ length: 1_000 }, (_, n) => `x${n}`);
  const together = { kind: "like", field: "a", how: "contains", texts: many };
  expect(simplifiedCondition({ kind: "any", any: many.map(containing) })).toEqual(together);
  const none = many.map((one): Condition => ({ kind: "not", not: containing(one) }));
  expect(simplifiedCondition({ kind: "every", every: none })).toEqual({
    kind: "not",
    not: together,
  });
});
