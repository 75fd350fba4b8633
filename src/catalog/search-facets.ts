/** Facets of an answer: what is asked of the store, and how it is told. */
import type { FacetQuery, FacetValue, NamedValues } from "../search/search.ts";
import { FACET_SEPARATOR, type FacetRule, type SearchFields } from "./search-fields.ts";
import type { SearchFacet, SearchFlags } from "./search-requests.ts";

const valuesDefault = 20;
const valuesMax = 1_000;
const TYPE = "_entityType";

export interface FacetPlan {
  readonly queries: readonly FacetQuery[];
  /** Of the store's answers to the queries, in their order. */
  read(answers: readonly (readonly FacetValue[])[]): readonly SearchFacet[];
}

export interface FacetRequest {
  readonly entityTypes: readonly string[];
  /** The request names them: it is told of those that no hit is of. */
  readonly typesNamed: boolean;
  readonly flags: SearchFlags;
  /** What the filter asks for, by field. */
  readonly wanted: ReadonlyMap<string, readonly string[]>;
  /** Without those that answers have by default. */
  readonly own: boolean;
}

export function planFacets(fields: SearchFields, request: FacetRequest): FacetPlan {
  const { flags } = request;
  if (flags.skipAggregates === true) return { queries: [], read: () => [] };
  const limit = Math.min(Math.max(1, flags.maxAggValues ?? valuesDefault), valuesMax);
  const bare = request.own || flags.includeDefaultFacets === false;
  const usual = bare ? [] : fields.facetsOf(request.entityTypes);
  const named = namedQueries(fields, { request, limit });
  // Of entity types there are few: those that are named are counted with the others.
  const limitOf = ({ name }: FacetRule): number =>
    name === TYPE ? Math.max(limit, request.entityTypes.length) : limit;
  return {
    queries: [
      ...usual.map((rule) => ({ fields: rule.fields, limit: limitOf(rule) })),
      ...named.map(({ query }) => query),
    ],
    read(answers) {
      const types = answers[usual.findIndex(({ name }) => name === TYPE)] ?? [];
      const found = usual.flatMap((rule, i) => {
        const values = valuesOf(rule, answers[i] ?? [], { request, types, limit });
        return values.length === 0 ? [] : [{ ...rule, values }];
      });
      const counts = countsOf(named, answers.slice(usual.length));
      return withWanted(found, { request, fields, limit, counts }).map(
        ({ name, displayName, values }) => ({ name, displayName, values }),
      );
    },
  };
}

/** What is asked of the store about values that the filter names for a facet. */
interface NamedQuery {
  readonly facet: string;
  readonly query: NamedValues;
}

/**
 * In all fields that the filter looks for them in: `tags` are those of columns, too. As many as can
 * be told, whichever the facet has already.
 */
function namedQueries(
  fields: SearchFields,
  { request, limit }: { readonly request: FacetRequest; readonly limit: number },
): readonly NamedQuery[] {
  return [...request.wanted].flatMap(([facet, wanted]): readonly NamedQuery[] => {
    const rule = fields.facet(facet);
    const among = (rule?.fields.length === 2 ? rule.fields : [facet]).map((name) =>
      fields.find(name).map((field) => field.name),
    );
    if (among.some((names) => names.length === 0)) return [];
    const values = [...new Set(wanted)].slice(0, 2 * limit);
    const named = values.map((value) =>
      among.length === 1 ? [value] : split(value, FACET_SEPARATOR),
    );
    const byLength = Map.groupBy(named, ({ length }) => length);
    return Array.from(byLength, ([length, some]) => ({
      facet,
      query: { named: some, among: among.slice(0, length) },
    }));
  });
}

/** At the first of the separators. */
function split(text: string, separator: string): readonly string[] {
  const [first = "", ...rest] = text.split(separator);
  return rest.length === 0 ? [first] : [first, rest.join(separator)];
}

/** By facet, how many hits have each of the values that were asked about. */
type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>;

function countsOf(
  named: readonly NamedQuery[],
  answers: readonly (readonly FacetValue[])[],
): Counts {
  const counts = new Map<string, Map<string, number>>();
  for (const [i, { facet, query }] of named.entries()) {
    const own = counts.get(facet) ?? new Map<string, number>();
    for (const values of query.named) own.set(values.join(FACET_SEPARATOR), 0);
    for (const { values, count } of answers[i] ?? []) own.set(values.join(FACET_SEPARATOR), count);
    counts.set(facet, own);
  }
  return counts;
}

type Value = SearchFacet["values"][number];

const told = (value: string, count: number): Value => ({ value, count, filtered: false });

function valuesOf(
  rule: FacetRule,
  found: readonly FacetValue[],
  {
    request,
    types,
    limit,
  }: {
    readonly request: FacetRequest;
    readonly types: readonly FacetValue[];
    readonly limit: number;
  },
): readonly Value[] {
  if (rule.fields.length === 2) {
    // An entity without a value of the second field counts for the first.
    return types
      .slice(0, limit)
      .flatMap(({ values: [type = ""], count }) => [
        told(type, count),
        ...found
          .filter(({ values }) => values[0] === type)
          .map((one) => told(one.values.join(FACET_SEPARATOR), one.count)),
      ]);
  }
  const values = found.map(({ values: [value = ""], count }) => told(value, count));
  if (rule.name !== TYPE) return values;
  if (!request.typesNamed) return values.slice(0, limit);
  const known = new Set(values.map(({ value }) => value));
  const none = request.entityTypes.filter((type) => !known.has(type));
  return [...values, ...none.map((type) => told(type, 0))];
}

/** What the filter asks for is told, found or not, so that it can be taken back. */
function withWanted(
  facets: readonly SearchFacet[],
  around: {
    readonly request: FacetRequest;
    readonly fields: SearchFields;
    readonly limit: number;
    readonly counts: Counts;
  },
): readonly SearchFacet[] {
  const { request, fields, limit, counts } = around;
  const all = new Map(facets.map((facet) => [facet.name, facet]));
  for (const name of request.wanted.keys()) {
    const displayName = fields.facet(name)?.displayName ?? name;
    const facet = all.get(name) ?? { name, displayName, values: [] };
    const own = counts.get(name) ?? new Map<string, number>();
    const known = facet.values.map((one) => ({ ...one, count: own.get(one.value) ?? one.count }));
    const others = new Set(own.keys()).difference(new Set(known.map(({ value }) => value)));
    const values = Array.from(others, (value) => {
      const count = own.get(value) ?? 0;
      return { value, count, filtered: count === 0 };
    });
    const shown = all.has(name) ? values.slice(0, limit) : values;
    const ordered = shown.toSorted((a, b) => b.count - a.count);
    all.set(name, { ...facet, values: [...known, ...ordered] });
  }
  return [...all.values()];
}
