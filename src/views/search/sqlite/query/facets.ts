/**
 * Facet collectors: in how many of the documents that matched each value of a field is, or each
 * combination of the values of several fields. Values are counted by ordinal in each segment, and
 * the counts of all segments are added by the text of the value.
 */
import type { FacetQuery, FacetValue, FrequentValues, NamedValues } from "../../search.ts";
import type { FieldValues } from "../segments/doc-values.ts";
import type { Deadline } from "./deadline.ts";
import type { Matched } from "./top-hits.ts";

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
  if ("named" in facet) return countNamed(facet, all, deadline);
  const [first, second] = facet.fields;
  for (const { found } of all) deadline.spend(found.docs.length);
  return second === undefined
    ? countOne(partsOf(first, all), facet.limit)
    : countPairs(facet, all, deadline);
}

const partsOf = (field: string, all: readonly Matched[]): readonly Part[] =>
  all.flatMap(({ segment, found: { docs } }) => {
    const values = docs.length === 0 ? undefined : segment.field(field.toWellFormed());
    return values === undefined ? [] : [{ values, docs }];
  });

function countOne(parts: readonly Part[], limit: number): readonly FacetValue[] {
  return parts.every(({ values }) => values.textsFrom === 0)
    ? countTexts(parts, limit)
    : countMixed(parts, limit);
}

/** All values are texts: counts are added to those of the segment with the most values. */
function countTexts(parts: readonly Part[], limit: number): readonly FacetValue[] {
  const [base, ...others] = parts.toSorted((a, b) => b.values.count - a.values.count);
  if (base === undefined) return [];
  const counts = base.values.countOf(base.docs);
  const further = new Map<string, number>();
  for (const { values, docs } of others) {
    const own = values.countOf(docs);
    const map = mapInto(values, base.values);
    for (let ordinal = 0; ordinal < own.length; ordinal++) {
      const count = own[ordinal] as number;
      if (count === 0) continue;
      if (map[ordinal] === UNKNOWN) {
        map[ordinal] = base.values.find(values.value(ordinal)) + 1 || MISSING;
      }
      const target = map[ordinal] as number;
      if (target > 0) counts[target - 1] = (counts[target - 1] as number) + count;
      else add(further, String(values.value(ordinal)), count);
    }
  }
  const counted = frequentOrdinals(counts, limit).map((ordinal) => ({
    values: [String(base.values.value(ordinal))],
    count: counts[ordinal] as number,
  }));
  return further.size === 0 ? counted : mostFrequent([...counted, ...valuesOf(further)], limit);
}

const UNKNOWN = 0;
const MISSING = -1;

/** Ordinals + 1 in another segment, as far as they were looked up. */
const maps = new WeakMap<FieldValues, { readonly base: FieldValues; readonly map: Int32Array }>();

function mapInto(values: FieldValues, base: FieldValues): Int32Array {
  let known = maps.get(values);
  if (known?.base !== base) {
    known = { base, map: new Int32Array(values.count) };
    maps.set(values, known);
  }
  return known.map;
}

function add(counts: Map<string, number>, text: string, count: number): void {
  counts.set(text, (counts.get(text) ?? 0) + count);
}

const valuesOf = (counts: ReadonlyMap<string, number>): readonly FacetValue[] =>
  Array.from(counts, ([text, count]) => ({ values: [text], count }));

/** Ordinals of the greatest counts, equals in their order. */
function frequentOrdinals(counts: Uint32Array, limit: number): readonly number[] {
  const first: number[] = [];
  let least = 0;
  for (let ordinal = 0; ordinal < counts.length && limit > 0; ordinal++) {
    const count = counts[ordinal] as number;
    if (count <= least) continue;
    let low = 0;
    let high = first.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((counts[first[middle] as number] as number) >= count) low = middle + 1;
      else high = middle;
    }
    first.splice(low, 0, ordinal);
    if (first.length > limit) first.pop();
    if (first.length === limit) least = counts[first[limit - 1] as number] as number;
  }
  return first;
}

/** Values of several types may have the same text: then they are one, once in each document. */
function countMixed(parts: readonly Part[], limit: number): readonly FacetValue[] {
  const texts = new Map<string, number>();
  for (const { values, docs } of parts) {
    const sameText = ordinalsOfTexts(values);
    let counts: Uint32Array;
    if (sameText === undefined) counts = values.countOf(docs);
    else {
      counts = new Uint32Array(values.count);
      const last = new Int32Array(values.count).fill(-1);
      values.each(docs, (ordinal, doc) => {
        const one = sameText[ordinal] as number;
        if (last[one] === doc) return;
        last[one] = doc;
        counts[one] = (counts[one] as number) + 1;
      });
    }
    for (let ordinal = 0; ordinal < counts.length; ordinal++) {
      const count = counts[ordinal] as number;
      if (count > 0) add(texts, String(values.value(ordinal)), count);
    }
  }
  return mostFrequent(valuesOf(texts), limit);
}

/** For each ordinal one with the same text; undefined if each has a text of its own. */
function ordinalsOfTexts(values: FieldValues): Uint32Array | undefined {
  if (values.textsFrom === 0 || values.textsFrom === values.count) return undefined;
  return Uint32Array.from({ length: values.count }, (_, ordinal) => {
    if (ordinal >= values.textsFrom) return ordinal;
    const same = values.find(String(values.value(ordinal)));
    return same < 0 ? ordinal : same;
  });
}

/** The ordinals of each document, one for each text. */
interface Lists {
  readonly starts: Uint32Array;
  readonly ordinals: readonly number[];
}

function listsOf({ values, docs }: Part): Lists {
  const sameText = ordinalsOfTexts(values);
  const starts = new Uint32Array(docs.length + 1);
  const ordinals: number[] = [];
  let index = 0;
  values.each(docs, (ordinal, doc) => {
    while (docs[index] !== doc) starts[++index] = ordinals.length;
    const one = sameText?.[ordinal] ?? ordinal;
    if (sameText !== undefined && ordinals.indexOf(one, starts[index]) >= 0) return;
    ordinals.push(one);
  });
  starts.fill(ordinals.length, index + 1);
  return { starts, ordinals };
}

function countPairs(
  { fields, limit }: FrequentValues,
  all: readonly Matched[],
  deadline: Deadline,
): readonly FacetValue[] {
  const texts = new Map<string, FacetValue>();
  for (const matched of all) {
    const [first] = partsOf(fields[0], [matched]);
    const [second] = partsOf(fields[1] ?? "", [matched]);
    if (first === undefined || second === undefined) continue;
    for (const [pair, count] of pairsOf(first, second, deadline)) {
      const width = second.values.count;
      const values = [
        String(first.values.value(Math.floor(pair / width))),
        String(second.values.value(pair % width)),
      ];
      const key = JSON.stringify(values);
      texts.set(key, { values, count: (texts.get(key)?.count ?? 0) + count });
    }
  }
  return mostFrequent([...texts.values()], limit);
}

/** Counts by left ordinal × number of right values + right ordinal. */
function pairsOf(first: Part, second: Part, deadline: Deadline): ReadonlyMap<number, number> {
  const [lefts, rights] = [listsOf(first), listsOf(second)];
  const counts = new Map<number, number>();
  for (let at = 0; at < first.docs.length; at++) {
    deadline.spend(8);
    const end = lefts.starts[at + 1] as number;
    for (let n = lefts.starts[at] as number; n < end; n++) {
      const left = (lefts.ordinals[n] as number) * second.values.count;
      const rightEnd = rights.starts[at + 1] as number;
      deadline.spend(16 * (rightEnd - (rights.starts[at] as number)));
      for (let m = rights.starts[at] as number; m < rightEnd; m++) {
        const pair = left + (rights.ordinals[m] as number);
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
  }
  return counts;
}

function countNamed(
  { named, among }: NamedValues,
  all: readonly Matched[],
  deadline: Deadline,
): readonly FacetValue[] {
  const combinations = named.map((values) => values.map((text) => text.toWellFormed()));
  const counts = new Uint32Array(named.length);
  for (const matched of all) {
    const places = among.map((fields, place) => {
      const texts = [...new Set(combinations.map((values) => values[place] ?? ""))];
      const columns = fields.flatMap((field) =>
        partsOf(field, [matched]).map((part) => ({
          textOf: textsByOrdinal(part.values, texts),
          lists: listsOf(part),
        })),
      );
      return { texts, columns, held: new Int32Array(texts.length) };
    });
    countCombinations(combinations, places, matched.found.docs.length, counts, deadline);
  }
  return named
    .map((values, n) => ({ values, count: counts[n] as number }))
    .filter(({ count }) => count > 0);
}

interface Place {
  readonly texts: readonly string[];
  readonly columns: readonly { readonly textOf: Int32Array; readonly lists: Lists }[];
  /** For each text the last document + 1 that has it. */
  readonly held: Int32Array;
}

/** For each ordinal the index of its text + 1; 0 for another. */
function textsByOrdinal(values: FieldValues, texts: readonly string[]): Int32Array {
  const found = new Int32Array(values.count);
  for (const [n, text] of texts.entries()) {
    for (const value of [text, Number(text), true, false]) {
      const ordinal = String(value) === text ? values.find(value) : -1;
      if (ordinal >= 0) found[ordinal] = n + 1;
    }
  }
  return found;
}

function countCombinations(
  combinations: readonly (readonly string[])[],
  places: readonly Place[],
  docCount: number,
  counts: Uint32Array,
  deadline: Deadline,
): void {
  const wanted = combinations.map((values) =>
    values.map((text, place) => places[place]?.texts.indexOf(text) ?? -1),
  );
  const byFirst = Map.groupBy(wanted.keys(), (n) => wanted[n]?.[0] ?? -1);
  for (let at = 0; at < docCount; at++) {
    deadline.spend(4 + 4 * places.length);
    const first: number[] = [];
    for (const [place, { columns, held }] of places.entries()) {
      for (const { textOf, lists } of columns) {
        const end = lists.starts[at + 1] as number;
        for (let n = lists.starts[at] as number; n < end; n++) {
          const text = (textOf[lists.ordinals[n] as number] as number) - 1;
          if (text < 0 || held[text] === at + 1) continue;
          held[text] = at + 1;
          if (place === 0) first.push(text);
        }
      }
    }
    for (const text of first) {
      for (const n of byFirst.get(text) ?? []) {
        const holds = wanted[n]?.every((one, place) => places[place]?.held[one] === at + 1);
        if (holds) counts[n] = (counts[n] as number) + 1;
      }
    }
  }
}

/** Equals in the order of their texts. */
function mostFrequent(counted: readonly FacetValue[], limit: number): readonly FacetValue[] {
  const byText = (a = "", b = "") => (a < b ? -1 : a > b ? 1 : 0);
  return counted
    .toSorted(
      (a, b) =>
        b.count - a.count || byText(a.values[0], b.values[0]) || byText(a.values[1], b.values[1]),
    )
    .slice(0, limit);
}
