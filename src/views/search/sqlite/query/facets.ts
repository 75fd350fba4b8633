/**
 * Facet collectors: count the matching documents for each value of a field. Each segment counts by
 * ordinal; the counts of all segments are added by the text of the value. combinations.ts counts
 * combinations of values.
 */
import type { FacetQuery, FacetValue } from "../../search.ts";
import type { FieldValues } from "../segments/doc-values.ts";
import { countCombinations } from "./combinations.ts";
import type { Deadline } from "./deadline.ts";
import { firstOf, type Matched } from "./top-hits.ts";

/** A field in one segment, and the documents that matched there. */
interface Part {
  readonly values: FieldValues;
  readonly docs: Uint32Array;
}

export function countFacet(
  facet: FacetQuery,
  all: readonly Matched[],
  deadline: Deadline,
): readonly FacetValue[] {
  if ("named" in facet) {
    const named = facet.named.map((values) => values.map((text) => text.toWellFormed()));
    const places = facet.among.map((fields) => ({ fields, textOf: String }));
    return countCombinations(places, all, deadline, named).combinations;
  }
  const { fields, limit } = facet;
  const parts = fields.length === 1 ? partsOf(fields[0], all) : [];
  deadline.spend(parts.reduce((sum, { docs }) => sum + docs.length, 0));
  // `countTexts` would count a document twice that has a number and the same text.
  if (fields.length === 1 && parts.every(({ values }) => values.isText)) {
    return countTexts(parts, limit);
  }
  const places = fields.map((field) => ({ fields: [field], textOf: String }));
  return mostFrequent(countCombinations(places, all, deadline).combinations, limit);
}

const partsOf = (field: string, all: readonly Matched[]): readonly Part[] =>
  all.flatMap(({ segment, found: { docs } }) => {
    const values = docs.length === 0 ? undefined : segment.field(field);
    return values === undefined ? [] : [{ values, docs }];
  });

/** Counts are added to those of the segment with the most values. */
function countTexts(parts: readonly Part[], limit: number): readonly FacetValue[] {
  const [base, ...others] = parts.toSorted((a, b) => b.values.end - a.values.end);
  if (base === undefined) return [];
  const counts = base.values.countOf(base.docs);
  const further = new Map<string, number>();
  for (const { values, docs } of others) {
    const ordinals = values.ordinalsIn(base.values);
    values.countOf(docs).forEach((count, ordinal) => {
      if (count === 0) return;
      ordinals[ordinal] ||= base.values.find(values.value(ordinal)) || MISSING;
      const target = ordinals[ordinal] as number;
      if (target !== MISSING) counts[target] = (counts[target] as number) + count;
      else {
        const text = String(values.value(ordinal));
        further.set(text, (further.get(text) ?? 0) + count);
      }
    });
  }
  const byCount = (a: number, b: number) => (counts[b] as number) - (counts[a] as number) || a - b;
  const ordinals = firstOf(counts.length, limit, byCount, (ordinal) => counts[ordinal] !== 0);
  const counted = ordinals.map((ordinal) => ({
    values: [String(base.values.value(ordinal))],
    count: counts[ordinal] as number,
  }));
  for (const [text, count] of further) counted.push({ values: [text], count });
  return mostFrequent(counted, limit);
}

const MISSING = -1;

/** Equal counts are ordered by text. */
function mostFrequent(counted: readonly FacetValue[], limit: number): readonly FacetValue[] {
  const byText = (a = "", b = "") => (a < b ? -1 : a > b ? 1 : 0);
  return counted
    .toSorted(
      (a, b) =>
        b.count - a.count || byText(a.values[0], b.values[0]) || byText(a.values[1], b.values[1]),
    )
    .slice(0, limit);
}
