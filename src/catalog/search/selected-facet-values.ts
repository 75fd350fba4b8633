/**
 * Facet values that a filter selects: in the spelling of the documents, with the number of results
 * that selecting them gives. Most are counted in the search itself. Values that match by more than
 * equality (paths with everything below, days, months) and case-insensitive values are counted
 * afterwards.
 */
import { slashedPath } from "../../core/query/browse-path.ts";
import type {
  Condition,
  FacetQuery,
  FacetValue,
  NamedValues,
  SearchResult,
} from "../../views/search/search.ts";
import { anyOf, conditionOn, everyOf, NOTHING } from "./filter/conditions.ts";
import { FACET_SEPARATOR, type KnownField, type SearchFields } from "./filter/fields.ts";

export interface NamedValue {
  readonly text: string;
  /** Compared case-insensitively. */
  readonly anyCase: boolean;
}

/** By facet. */
export type Named = ReadonlyMap<string, readonly NamedValue[]>;

/** By facet: number of results with each selected value. */
export type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Repeats the search for results that match the condition, too; without hits. */
export type AskAgain = (
  condition: Condition | undefined,
  facets: readonly FacetQuery[],
) => Promise<SearchResult>;

interface NamedPlan {
  /** Queries to run with the search. */
  readonly queries: readonly FacetQuery[];
  count(answers: readonly (readonly FacetValue[])[], again: AskAgain): Promise<Counts>;
}

/** Maximum number of values counted one by one; further values are omitted. */
const countedMax = 50;
/** Maximum number of values that are searched for other spellings. */
const spellingsMax = 1_000;

export function planNamed(
  fields: SearchFields,
  { named, valuesMax }: { readonly named: Named; readonly valuesMax: number },
): NamedPlan {
  const facets = Array.from(named, ([name, values]) =>
    facetOf(fields, { name, values, valuesMax }),
  );
  const first = facets.flatMap((facet) => queriesOf(facet, facet.asked));
  return {
    queries: first.map(({ query }) => query),
    async count(answers, again) {
      const tally = new Map(facets.map(({ name }) => [name, new Map<string, number>()]));
      addCounts(tally, { queries: first, answers });
      const respelt: SelectedFacet[] = [];
      for (const facet of facets) {
        if (facet.asked.some(isOpen)) respelt.push(await withSpellings(facet, fields, again));
        else respelt.push(facet);
      }
      const more = respelt.flatMap((facet, i) =>
        facet === facets[i] ? [] : queriesOf(facet, facet.asked),
      );
      if (more.length > 0) {
        const { facets: answers } = await again(
          undefined,
          more.map(({ query }) => query),
        );
        addCounts(tally, { queries: more, answers });
      }
      let left = countedMax;
      for (const { name, asked } of respelt) {
        const counts = tally.get(name);
        for (const { value, parts, condition } of asked.flatMap(({ kept }) => kept)) {
          if (parts !== undefined || counts === undefined || counts.has(value)) continue;
          if (left-- <= 0) break;
          counts.set(value, (await again(condition, [])).total);
        }
      }
      return new Map(
        respelt.map(({ name, asked }) => [name, countsOf(asked, tally.get(name) ?? new Map())]),
      );
    },
  };
}

/** A value in the spelling of the documents, and the condition that it selects. */
interface Kept {
  readonly value: string;
  readonly condition: Condition;
  /** Values of matching documents, one per field; undefined: the condition matches more. */
  readonly parts: readonly string[] | undefined;
}

interface SelectedValue {
  readonly value: NamedValue;
  /** The value to return if no document has one of `kept`. */
  readonly label: string;
  readonly kept: readonly Kept[];
  /** Documents may have other spellings. */
  readonly open: boolean;
  /** Not all spellings were read. */
  readonly cut: boolean;
}

const isOpen = ({ open }: SelectedValue): boolean => open;

interface SelectedFacet {
  readonly name: string;
  /** The fields of each part of its values. */
  readonly fieldLists: readonly (readonly KnownField[])[];
  readonly asked: readonly SelectedValue[];
}

function facetOf(
  fields: SearchFields,
  around: {
    readonly name: string;
    readonly values: readonly NamedValue[];
    readonly valuesMax: number;
  },
): SelectedFacet {
  const { name, values, valuesMax } = around;
  const rule = fields.facet(name);
  const pair = rule?.fields.length === 2;
  const fieldLists = (pair ? rule.fields : [name]).map((field) => fields.find(field));
  const once = new Map(values.map((value) => [`${value.anyCase} ${value.text}`, value]));
  const asked = [...once.values()].slice(0, valuesMax).map((value): SelectedValue => {
    const texts = pair ? split(value.text) : [value.text];
    const parts = texts.map((text, at) => keptOf(fieldLists[at] ?? [], text, fields));
    const label = parts.map((all, at) => all[0]?.value ?? texts[at]).join(FACET_SEPARATOR);
    const open = value.anyCase && texts.some((_, at) => (fieldLists[at] ?? []).some(hasLetters));
    return { value, label, kept: combined(parts), open, cut: false };
  });
  return { name, fieldLists, asked };
}

/** Splits at the first separator. */
function split(text: string): readonly string[] {
  const [first = "", ...rest] = text.split(FACET_SEPARATOR);
  return rest.length === 0 ? [first] : [first, rest.join(FACET_SEPARATOR)];
}

const hasLetters = ({ kinds }: KnownField): boolean =>
  kinds.has("text") || kinds.has("urn") || kinds.has("path");

/** Document values that match the text: 1e3 is 1000, and TRUE is true. */
function keptOf(known: readonly KnownField[], text: string, fields: SearchFields): readonly Kept[] {
  const condition = conditionOn(known, { how: "equals", texts: [text] }, fields);
  if ("invalidText" in condition) return [];
  const equals = equalTexts(condition);
  if (equals === undefined) return [{ value: labelOf(known, text), condition, parts: undefined }];
  return [...equals].map((one) => ({ value: one, condition, parts: [one] }));
}

/** The values if the condition is an equality; undefined if more matches. */
function equalTexts(condition: Condition): ReadonlySet<string> | undefined {
  if (condition.kind === "equal") return new Set(condition.values.map(String));
  if (condition.kind !== "any") return undefined;
  const all = condition.any.map(equalTexts);
  return all.every((one) => one !== undefined)
    ? new Set(all.flatMap((one) => [...one]))
    : undefined;
}

/** The label of a value that matches by more than equality. */
function labelOf(known: readonly KnownField[], text: string): string {
  if (!known.some(hasLetters)) return text.trim();
  const slashed = known.every(
    ({ kinds, separator }) => separator === "/" && kinds.size === 1 && kinds.has("path"),
  );
  return slashed ? slashedPath(text) : text;
}

/** The cross product of the parts. */
function combined(parts: readonly (readonly Kept[])[]): readonly Kept[] {
  const [first = [], ...others] = parts;
  return others.reduce(
    (all, next) =>
      all.flatMap((one) =>
        next.map((other) => ({
          value: `${one.value}${FACET_SEPARATOR}${other.value}`,
          condition: everyOf([one.condition, other.condition]) ?? NOTHING,
          parts: one.parts && other.parts && [...one.parts, ...other.parts],
        })),
      ),
    first,
  );
}

interface FacetCount {
  readonly facet: string;
  readonly query: NamedValues;
}

/** Queries over all fields of the filter: `tags` includes those of columns. */
function queriesOf(
  { name, fieldLists }: SelectedFacet,
  asked: readonly SelectedValue[],
): readonly FacetCount[] {
  const among = fieldLists.map((known) => known.map((field) => field.name));
  if (among.some((names) => names.length === 0)) return [];
  const kept = asked.flatMap((one) => one.kept);
  const once = new Map(kept.flatMap(({ value, parts }) => (parts ? [[value, parts]] : [])));
  const byLength = Map.groupBy(once.values(), ({ length }) => length);
  return Array.from(byLength, ([length, named]) => ({
    facet: name,
    query: { named, among: among.slice(0, length) },
  }));
}

function addCounts(
  tally: ReadonlyMap<string, Map<string, number>>,
  {
    queries,
    answers,
  }: {
    readonly queries: readonly FacetCount[];
    readonly answers: readonly (readonly FacetValue[])[];
  },
): void {
  for (const [i, { facet, query }] of queries.entries()) {
    const counts = tally.get(facet);
    for (const parts of query.named) counts?.set(parts.join(FACET_SEPARATOR), 0);
    for (const { values, count } of answers[i] ?? []) {
      counts?.set(values.join(FACET_SEPARATOR), count);
    }
  }
}

/** Adds the spellings that the results contain. */
async function withSpellings(
  facet: SelectedFacet,
  fields: SearchFields,
  again: AskAgain,
): Promise<SelectedFacet> {
  const { fieldLists, asked } = facet;
  const textsOf = ({ value }: SelectedValue) =>
    fieldLists.length === 1 ? [value.text] : split(value.text);
  const like = asked.filter(isOpen).map((one) => {
    const parts = textsOf(one).map((text, at) => {
      const how = { how: "ignoringCase", texts: [text] } as const;
      const condition = conditionOn(fieldLists[at] ?? [], how, fields);
      return "invalidText" in condition ? NOTHING : condition;
    });
    return everyOf(parts) ?? NOTHING;
  });
  const among = fieldLists.flatMap((known, at) => known.map(({ name }) => ({ name, at })));
  const { facets: found } = await again(
    anyOf(like),
    among.map(({ name }) => ({ fields: [name], limit: spellingsMax })),
  );
  const cut = found.some(({ length }) => length >= spellingsMax);
  const known = fieldLists.map((_, at) =>
    found.flatMap((values, i) => (among[i]?.at === at ? values.flatMap((one) => one.values) : [])),
  );
  return {
    ...facet,
    asked: asked.map((one) => {
      if (!one.open) return one;
      const parts = textsOf(one).map((text, at) => {
        const lower = [text.toLowerCase(), text.trim().toLowerCase()];
        const spelt = (known[at] ?? []).filter((value) => lower.includes(value.toLowerCase()));
        return [...new Set([text, ...spelt])].flatMap((spelling) =>
          keptOf(fieldLists[at] ?? [], spelling, fields),
        );
      });
      return { ...one, kept: combined(parts), cut };
    }),
  };
}

/** Counts by spelling; a value without matches is included once. */
function countsOf(
  asked: readonly SelectedValue[],
  counts: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const result = new Map<string, number>();
  for (const { label, kept, cut } of asked) {
    const some = kept.filter(({ value }) => (counts.get(value) ?? 0) > 0);
    for (const { value } of some) result.set(value, counts.get(value) ?? 0);
    const unknown = cut || kept.some(({ value }) => !counts.has(value));
    if (some.length === 0 && !unknown && !result.has(label)) result.set(label, 0);
  }
  return result;
}
