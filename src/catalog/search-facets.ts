/** Facets of an answer: what is asked of the store, and how it is told. */
import type { FacetQuery, FacetValue } from "../search/search.ts";
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
  const { flags, wanted } = request;
  if (flags.skipAggregates === true) return { queries: [], read: () => [] };
  const limit = Math.min(Math.max(1, flags.maxAggValues ?? valuesDefault), valuesMax);
  const bare = request.own || flags.includeDefaultFacets === false;
  const usual = bare ? [] : fields.facetsOf(request.entityTypes);
  const rules = [...usual, ...wantedRules(fields, wanted, usual)];
  return {
    queries: rules.map((rule) => ({ fields: rule.fields, limit })),
    read(answers) {
      const types = answers[rules.findIndex(({ name }) => name === TYPE)] ?? [];
      const found = rules.flatMap((rule, i) => {
        const values = valuesOf(rule, answers[i] ?? [], { request, types });
        const own = wanted.get(rule.name);
        const shown = usual.includes(rule)
          ? values
          : values.filter(({ value }) => own?.includes(value));
        return shown.length === 0 ? [] : [{ ...rule, values: shown }];
      });
      return withWanted(found, { request, fields, limit }).map(({ name, displayName, values }) => ({
        name,
        displayName,
        values,
      }));
    },
  };
}

/** Of fields that are no facets, the values that the filter names are counted, too. */
function wantedRules(
  fields: SearchFields,
  wanted: ReadonlyMap<string, readonly string[]>,
  usual: readonly FacetRule[],
): readonly FacetRule[] {
  return [...wanted].flatMap(([name, values]): readonly FacetRule[] => {
    const known = usual.some((rule) => rule.name === name) || fields.find(name).length === 0;
    if (known || values.length === 0) return [];
    return [fields.facet(name) ?? { name, displayName: name, fields: [name] }];
  });
}

type Value = SearchFacet["values"][number];

const told = (value: string, count: number): Value => ({ value, count, filtered: false });

function valuesOf(
  rule: FacetRule,
  found: readonly FacetValue[],
  { request, types }: { readonly request: FacetRequest; readonly types: readonly FacetValue[] },
): readonly Value[] {
  if (rule.fields.length === 2) {
    // An entity without a value of the second field counts for the first.
    return types.flatMap(({ values: [type = ""], count }) => [
      told(type, count),
      ...found
        .filter(({ values }) => values[0] === type)
        .map((one) => told(one.values.join(FACET_SEPARATOR), one.count)),
    ]);
  }
  const values = found.map(({ values: [value = ""], count }) => told(value, count));
  if (rule.name !== TYPE || !request.typesNamed) return values;
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
  },
): readonly SearchFacet[] {
  const { request, fields, limit } = around;
  const all = new Map(facets.map((facet) => [facet.name, facet]));
  for (const [name, wanted] of request.wanted) {
    const displayName = fields.facet(name)?.displayName ?? name;
    const facet = all.get(name) ?? { name, displayName, values: [] };
    const known = new Set(facet.values.map(({ value }) => value));
    const missing = [...new Set(wanted)].filter((value) => !known.has(value)).slice(0, limit);
    const values = missing.map((value) => ({ value, count: 0, filtered: true }));
    all.set(name, { ...facet, values: [...facet.values, ...values] });
  }
  return [...all.values()];
}
