/** Counts how often each value of a field, or each pair of values of two, is in what was found. */
import type { FacetQuery, FacetValue, FrequentValues, NamedValues } from "../search.ts";
import type { Column, ValueNumber } from "./column.ts";
import { byCodeUnit } from "./urn-order.ts";

type ColumnOf = (field: string) => Column;

export const countFacet = (
  facet: FacetQuery,
  docs: Uint32Array,
  column: ColumnOf,
): readonly FacetValue[] =>
  "named" in facet ? countNamed(facet, docs, column) : countFrequent(facet, docs, column);

/** The fields whose columns are counted. */
export const fieldsOf = (facet: FacetQuery): readonly string[] =>
  "named" in facet ? facet.among.flat() : facet.fields;

function countFrequent(
  { fields, limit }: FrequentValues,
  docs: Uint32Array,
  column: ColumnOf,
): readonly FacetValue[] {
  const [first, second] = fields;
  const counted =
    second === undefined
      ? countOne(column(first), docs)
      : countPairs(column(first), column(second), docs);
  return mostFrequent(counted, limit);
}

function countNamed(
  { named, among }: NamedValues,
  docs: Uint32Array,
  column: ColumnOf,
): readonly FacetValue[] {
  const combinations = named.map((values) => values.map((text) => text.toWellFormed()));
  const places = among.map((fields, at) => {
    const texts = new Set(combinations.map((values) => values[at] ?? ""));
    return fields.map((field) => withTexts(column(field), texts));
  });
  const counts = countOfOne(combinations, places, docs) ?? countOfAll(combinations, places, docs);
  return named
    .map((values, n) => ({ values, count: counts[n] ?? 0 }))
    .filter(({ count }) => count > 0);
}

type Combinations = readonly (readonly string[])[];

/** A column, and which of its values have one of some texts. */
interface WithTexts {
  readonly column: Column;
  readonly texts: ReadonlyMap<ValueNumber, string>;
}

function withTexts(column: Column, wanted: ReadonlySet<string>): WithTexts {
  const texts = new Map<ValueNumber, string>();
  for (const [number, value] of column.values.entries()) {
    const text = String(value);
    if (wanted.has(text)) texts.set(number, text);
  }
  return { column, texts };
}

/** Where each text is one value of one column, which has counts of its own. */
function countOfOne(
  combinations: Combinations,
  places: readonly (readonly WithTexts[])[],
  docs: Uint32Array,
): readonly number[] | undefined {
  const [one, ...others] = places.flat();
  if (one === undefined || others.length > 0) return undefined;
  const numbers = new Map(Array.from(one.texts, ([number, text]) => [text, number]));
  if (numbers.size < one.texts.size) return undefined;
  const counts = one.column.count(docs);
  return combinations.map(([text = ""]) => counts[numbers.get(text) ?? -1] ?? 0);
}

/** Of each document, the texts that it has in each place, then the combinations of them. */
function countOfAll(
  combinations: Combinations,
  places: readonly (readonly WithTexts[])[],
  docs: Uint32Array,
): Uint32Array {
  const byFirst = Map.groupBy(combinations.keys(), (n) => combinations[n]?.[0] ?? "");
  const counts = new Uint32Array(combinations.length);
  const told = places.map((all) => ({
    held: new Set<string>(),
    columns: all.filter(({ texts }) => texts.size > 0),
  }));
  const [first, ...others] = told;
  for (const doc of docs) {
    for (const { held, columns } of told) {
      if (held.size > 0) held.clear();
      for (const { column, texts } of columns) {
        column.each(doc, (number) => {
          const text = texts.get(number);
          if (text !== undefined) held.add(text);
        });
      }
    }
    for (const text of first?.held ?? []) {
      for (const n of byFirst.get(text) ?? []) {
        const rest = others.every(({ held }, at) => held.has(combinations[n]?.[at + 1] ?? ""));
        if (rest) counts[n] = (counts[n] ?? 0) + 1;
      }
    }
  }
  return counts;
}

function countOne(column: Column, docs: Uint32Array): readonly FacetValue[] {
  const texts = textsOf(column);
  if (texts.several) return countTexts(column, docs, texts.text);
  const counted: FacetValue[] = [];
  const counts = column.count(docs);
  for (let value = 0; value < counts.length; value++) {
    const count = counts[value] ?? 0;
    if (count > 0) counted.push({ values: [texts.text(value)], count });
  }
  return counted;
}

/** Values of several types may have the same text: then they are one, once in each document. */
function textsOf({ values }: Column) {
  const type = typeof values[0];
  return {
    several: values.some((value) => typeof value !== type),
    text: (number: number): string => String(values[number]),
  };
}

function countTexts(
  column: Column,
  docs: Uint32Array,
  textOf: (value: number) => string,
): readonly FacetValue[] {
  const counts = new Map<string, number>();
  for (const doc of docs) {
    const texts = new Set<string>();
    column.each(doc, (value) => texts.add(textOf(value)));
    for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return Array.from(counts, ([text, count]) => ({ values: [text], count }));
}

function countPairs(first: Column, second: Column, docs: Uint32Array): readonly FacetValue[] {
  const [firstText, secondText] = [textNumbers(first), textNumbers(second)];
  const width = secondText.texts.length;
  const counts = new Map<number, number>();
  const lefts = new Set<number>();
  const rights = new Set<number>();
  for (const doc of docs) {
    lefts.clear();
    rights.clear();
    first.each(doc, (value) => lefts.add(firstText.of[value] ?? 0));
    second.each(doc, (value) => rights.add(secondText.of[value] ?? 0));
    for (const left of lefts) {
      for (const right of rights) {
        const pair = left * width + right;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
  }
  return Array.from(counts, ([pair, count]) => ({
    values: [firstText.texts[Math.floor(pair / width)] ?? "", secondText.texts[pair % width] ?? ""],
    count,
  }));
}

/** Numbers of the texts of values, by the values' numbers. */
function textNumbers({ values }: Column) {
  const known = new Map<string, number>();
  const of = new Uint32Array(values.length);
  for (const [number, value] of values.entries()) {
    const text = String(value);
    const textNumber = known.get(text) ?? known.size;
    known.set(text, textNumber);
    of[number] = textNumber;
  }
  return { of, texts: [...known.keys()] };
}

/** Equals in the order of their texts. */
function mostFrequent(counted: readonly FacetValue[], limit: number): readonly FacetValue[] {
  const least = leastCount(counted, limit);
  return counted
    .filter(({ count }) => count >= least)
    .sort(
      (a, b) =>
        b.count - a.count ||
        byCodeUnit(a.values[0] ?? "", b.values[0] ?? "") ||
        byCodeUnit(a.values[1] ?? "", b.values[1] ?? ""),
    )
    .slice(0, limit);
}

/** What a value has at least to be among the first: spares sorting a million rare ones. */
function leastCount(counted: readonly FacetValue[], limit: number): number {
  if (counted.length <= limit) return 0;
  const counts = Uint32Array.from(counted, ({ count }) => count).sort();
  return limit <= 0 ? Infinity : (counts[counts.length - limit] ?? 0);
}
