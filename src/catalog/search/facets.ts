/**
 * Facets of a search. Each counts the documents that match the query and all filters, by the values of
 * one field or of a pair. Values that a filter selects are always listed
 * (selected-facet-values.ts); other values are the most frequent ones.
 *
 * This file plans the counts and reads their results; the view's adapters count (FacetQuery).
 */
import type { FacetQuery, FacetValue } from "../../views/search/search.ts";
import { compareKeys } from "../../views/search/sort-key.ts";
import { FACET_SEPARATOR, type FacetRule, type SearchFields } from "./filter/fields.ts";
import type { SearchFacet, SearchFlags } from "./requests.ts";
import { type AskAgain, type Counts, type Named, planNamed } from "./selected-facet-values.ts";

const valuesDefault = 20;
const valuesMax = 1_000;
const namesMax = 50;
const TYPE = "_entityType";

export interface FacetPlan {
  readonly queries: readonly FacetQuery[];
  /**
   * Builds the facets from results of the store, in the order of the queries; runs further counts
   * with `again`.
   */
  read(
    results: readonly (readonly FacetValue[])[],
    again: AskAgain,
  ): Promise<readonly SearchFacet[]>;
}

interface FacetRequest {
  readonly entityTypes: readonly string[];
  /** True if the request names entity types: facets then include types without hits. */
  readonly typesNamed: boolean;
  readonly flags: SearchFlags;
  /** Values that the filter selects, by field. Their facets are always counted. */
  readonly wanted: Named;
  /** True to omit the default facets. */
  readonly withoutDefaults: boolean;
  /** Facets that replace the default ones. */
  readonly names?: readonly string[] | undefined;
  /** Facets in addition to the default or named ones. */
  readonly more: readonly string[];
}

export function planFacets(fields: SearchFields, request: FacetRequest): FacetPlan {
  const { flags } = request;
  if (flags.skipAggregates === true) return { queries: [], read: async () => [] };
  const limit = Math.min(Math.max(1, flags.maxAggValues ?? valuesDefault), valuesMax);
  const withoutDefaults = request.withoutDefaults || flags.includeDefaultFacets === false;
  const { names, more } = request;
  const defaults = withoutDefaults ? [] : fields.facetsOf(request.entityTypes);
  const usual = [
    ...(names === undefined ? defaults : facetsNamed(names.slice(0, namesMax), fields)),
    ...facetsNamed(more, fields),
  ];
  const named = planNamed(fields, { named: request.wanted, valuesMax: 2 * limit });
  // Entity types are few: named ones are counted with the others.
  const limitOf = ({ name }: FacetRule): number =>
    name === TYPE ? Math.max(limit, request.entityTypes.length) : limit;
  return {
    queries: [
      ...usual.map((rule) => ({ fields: rule.fields, limit: limitOf(rule) })),
      ...named.queries,
    ],
    async read(results, again) {
      const types = results[usual.findIndex(({ name }) => name === TYPE)] ?? [];
      const found = usual.flatMap((rule, i) => {
        const values = valuesOf(rule, results[i] ?? [], { request, types, limit });
        return values.length === 0 ? [] : [{ ...rule, values }];
      });
      const counts = await named.count(results.slice(usual.length), again);
      return withWanted(found, { request, fields, limit, counts }).map(
        ({ name, displayName, values }) => ({ name, displayName, values }),
      );
    },
  };
}

/**
 * Any field can be a facet: its first index field is counted. A facet of pairs adds the facet of entity
 * types, because the result lists the pairs by entity type.
 */
function facetsNamed(names: readonly string[], fields: SearchFields): readonly FacetRule[] {
  const rules = [...new Set(names)].flatMap((name) => {
    const rule = fields.facet(name);
    if (rule !== undefined) return [rule];
    const [field] = fields.find(name);
    return field === undefined ? [] : [{ name, displayName: name, fields: [field.name] as const }];
  });
  const type = fields.facet(TYPE);
  const pairs = rules.some((rule) => rule.fields.length === 2);
  return pairs && type !== undefined && !rules.includes(type) ? [type, ...rules] : rules;
}

type Value = SearchFacet["values"][number];

const facetValue = (value: string, count: number): Value => ({ value, count, filtered: false });

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
        facetValue(type, count),
        ...found
          .filter(({ values }) => values[0] === type)
          .map((one) => facetValue(one.values.join(FACET_SEPARATOR), one.count)),
      ]);
  }
  const values = found.map(({ values: [value = ""], count }) => facetValue(value, count));
  if (rule.name !== TYPE) return values;
  if (!request.typesNamed) return values.slice(0, limit);
  const known = new Set(values.map(({ value }) => value));
  const none = request.entityTypes.filter((type) => !known.has(type));
  return [...values, ...none.map((type) => facetValue(type, 0))];
}

/** Adds the values that the filter selects, found or not, so that a user can deselect them. */
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
    }).sort(byCount);
    const shown = all.has(name) ? values.slice(0, limit) : values;
    const both = [...known, ...shown];
    const ordered = name.includes(FACET_SEPARATOR) ? pairsInOrder(both) : both.sort(byCount);
    all.set(name, { ...facet, values: own.size === 0 ? known : ordered });
  }
  return [...all.values()];
}

const byCount = (a: Value, b: Value): number => b.count - a.count || compareKeys(a.value, b.value);

/** Most frequent first; a type is followed by the pairs that it is in. */
function pairsInOrder(values: readonly Value[]): readonly Value[] {
  const groups = Map.groupBy(values, ({ value }) => value.split(FACET_SEPARATOR, 1)[0] ?? "");
  const sorted = Array.from(groups, ([name, all]) => {
    const pairs = all.filter(({ value }) => value !== name).sort(byCount);
    return [...all.filter(({ value }) => value === name), ...pairs];
  });
  return sorted.sort(([a], [b]) => (a && b ? byCount(a, b) : 0)).flat();
}
