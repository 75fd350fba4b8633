/**
 * Removal of a urn from a value, checked with the edges of the graph: afterwards no edge leads to
 * the urn, unrelated parts are unchanged, and the value still fits its schema.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addRuleEdges, createEdgeList } from "../../projections/graph/edges.ts";
import { compileGraphRules } from "../../projections/graph/rules.ts";
import { createReferenceRemoval } from "../../src/catalog/references/without-reference.ts";
import { arbitraryRecord } from "../model/arbitrary-value.ts";
import { aspectNamed, defaultModel } from "../model/default-model.ts";

const paths = compileGraphRules(defaultModel);
const removal = createReferenceRemoval(defaultModel);

const destinations = (aspect: string, value: unknown): readonly string[] => {
  const list = createEdgeList();
  for (const rule of paths.get(aspect) ?? []) addRuleEdges("urn:li:tag:self", value, rule, list);
  return list.edges.map(({ destination }) => destination);
};

const remove = (aspect: string, value: unknown, urn: string) =>
  removal(aspect, value, paths.get(aspect) ?? [], urn);

describe("removing a urn from a value", () => {
  test.each([...paths.keys()])(
    "a value of %s has no edge to the urn afterwards, and fits its schema",
    (name) => {
      const aspect = aspectNamed(name);
      fc.assert(
        fc.property(arbitraryRecord(defaultModel, aspect.record), fc.nat(), (value, chance) => {
          const targets = destinations(name, value);
          const urn = targets[chance % Math.max(targets.length, 1)] ?? "urn:li:tag:nobody";
          const before = structuredClone(value);
          const without = remove(name, value, urn);
          expect(value).toEqual(before);
          expect(without.removed.length > 0).toBe(targets.includes(urn));
          if (without.value === undefined) return;
          expect(destinations(name, without.value)).not.toContain(urn);
          if (!targets.includes(urn)) expect(without.value).toBe(value);
          expect(defaultModel.check(aspect, structuredClone(without.value)).ok).toBe(true);
        }),
        { numRuns: 25 },
      );
    },
  );

  const tag = "urn:li:tag:a";
  test("a removal keeps the other references", () => {
    const tags = [{ tag }, { tag: "urn:li:tag:b", context: "x" }, { tag }];
    expect(remove("globalTags", { tags }, tag)).toEqual({
      value: { tags: [{ tag: "urn:li:tag:b", context: "x" }] },
      removed: ["TaggedWith"],
    });
  });

  test("a value without other content is removed as a whole", () => {
    const container = "urn:li:container:c";
    expect(remove("container", { container }, container)).toEqual({
      value: undefined,
      removed: ["IsPartOf"],
    });
  });
});
