/**
 * Removal of a urn, held against what the graph reads out of the same value: afterwards no edge leads
 * to the urn, all that has nothing to do with it is as it was, and the value still fits its schema.
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

describe("a value without a urn", () => {
  test.each([...paths.keys()])("of %s tells no edge to it any more, and fits", (name) => {
    const aspect = aspectNamed(name);
    fc.assert(
      fc.property(arbitraryRecord(defaultModel, aspect.record), fc.nat(), (value, chance) => {
        const told = destinations(name, value);
        const urn = told[chance % Math.max(told.length, 1)] ?? "urn:li:tag:nobody";
        const before = structuredClone(value);
        const without = remove(name, value, urn);
        expect(value).toEqual(before);
        expect(without.removed.length > 0).toBe(told.includes(urn));
        if (without.value === undefined) return;
        expect(destinations(name, without.value)).not.toContain(urn);
        if (!told.includes(urn)) expect(without.value).toBe(value);
        expect(defaultModel.check(aspect, structuredClone(without.value)).ok).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  const tag = "urn:li:tag:a";
  test("keeps what stands beside it", () => {
    const tags = [{ tag }, { tag: "urn:li:tag:b", context: "x" }, { tag }];
    expect(remove("globalTags", { tags }, tag)).toEqual({
      value: { tags: [{ tag: "urn:li:tag:b", context: "x" }] },
      removed: ["TaggedWith"],
    });
  });

  test("is none where the aspect is about nothing else", () => {
    const container = "urn:li:container:c";
    expect(remove("container", { container }, container)).toEqual({
      value: undefined,
      removed: ["IsPartOf"],
    });
  });
});
