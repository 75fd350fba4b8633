/**
 * Counts values and combinations of values. A `terms` aggregation is exact with one shard or few
 * distinct values; otherwise a second request reads all values. Combinations are read with a
 * `composite` aggregation, in pages, because it cannot sort by count. Named values get a filter
 * each.
 */
import type { estypes } from "@elastic/elasticsearch";
import { fieldValues } from "../../evaluate.ts";
import type { FacetQuery, FacetValue, FrequentValues, NamedValues } from "../../search.ts";
import { decodeDocument } from "../../stored-document.ts";
import { fieldNames } from "../fields.ts";
import type { Indices, Response } from "../indices.ts";
import { fromUnitOrder, readStoredText, storedText } from "../stored-text.ts";
import { allOf, anyOf, type QueryClause, terms } from "./clauses.ts";

type Aggregation = estypes.AggregationsAggregationContainer;

/** Values per shard (`shard_size`): all values of most fields. */
const SHARD_VALUES = 2_000;
/** Values of one response: the server's search.max_buckets is 65,536. */
const VALUES_MAX = 50_000;
/** Page size of the combinations. */
const PAGE = 5_000;
const ALL = 2_147_483_647;

/** Aggregations of the request for a page of hits. */
export function facetAggregations(facets: readonly FacetQuery[]): Record<string, Aggregation> {
  return Object.fromEntries(
    facets.flatMap((facet, n) => {
      const aggregation = aggregationOf(facet);
      return aggregation === undefined ? [] : [[nameOf(n), aggregation] as const];
    }),
  );
}

/** Reads the results of the aggregations, and requests missing values. */
export async function readFacets(
  facets: readonly FacetQuery[],
  { aggregations = {} }: Pick<Response, "aggregations">,
  query: QueryClause,
  indices: Indices,
): Promise<readonly (readonly FacetValue[])[]> {
  return await Promise.all(
    facets.map(async (facet, n) => {
      const result = aggregations[nameOf(n)];
      if (result === undefined) return [];
      if (isNamed(facet)) return readNamed(facet, result as Filters);
      const counted = isPair(facet)
        ? mostFrequent(await allPairs(facet, result as Composite, query, indices), facet.limit)
        : await allSingle(facet, result as Terms, query, indices);
      return await Promise.all(
        counted.map(async ({ values, count }) => ({
          values: await Promise.all(
            values.map((stored, index) => textOf(stored, facet.fields[index] ?? "", indices)),
          ),
          count,
        })),
      );
    }),
  );
}

const nameOf = (n: number): string => `facet${n}`;
const isNamed = (facet: FacetQuery): facet is NamedValues => "named" in facet;
const isPair = ({ fields }: FrequentValues): boolean => fields.length > 1;

function aggregationOf(facet: FacetQuery): Aggregation | undefined {
  if (isNamed(facet)) return facet.named.length === 0 ? undefined : filterPerValue(facet);
  if (facet.limit <= 0) return undefined;
  return isPair(facet) ? pairs(facet) : single(facet, SHARD_VALUES);
}

const filterPerValue = ({ named, among }: NamedValues): Aggregation => ({
  filters: {
    filters: named.map((values) =>
      allOf(
        among.map((fields, at) => {
          const stored = [storedText(values[at] ?? "")];
          return anyOf(fields.flatMap((field) => terms(fieldNames.shown(field), stored)));
        }),
      ),
    ),
  },
});

function readNamed({ named }: NamedValues, { buckets }: Filters): readonly FacetValue[] {
  const counts = Array.isArray(buckets) ? buckets : [];
  return named
    .map((values, n) => ({ values, count: counts[n]?.doc_count ?? 0 }))
    .filter(({ count }) => count > 0);
}

type Filters = estypes.AggregationsFiltersAggregate;
type Terms = estypes.AggregationsStringTermsAggregate;
type Composite = estypes.AggregationsCompositeAggregate;

/** The terms in index order are in the order of their texts. */
const single = ({ fields: [field], limit }: FrequentValues, perShard: number): Aggregation => {
  const size = Math.min(limit, VALUES_MAX);
  return {
    terms: {
      field: fieldNames.shown(field),
      size,
      shard_size: Math.max(size, perShard),
      order: [{ _count: "desc" }, { _key: "asc" }],
    },
  };
};

async function allSingle(
  facet: FrequentValues,
  result: Terms,
  query: QueryClause,
  indices: Indices,
): Promise<readonly FacetValue[]> {
  let whole = result;
  if (Number(result.doc_count_error_upper_bound ?? 0) > 0) {
    const { aggregations } = await indices.search({
      query,
      size: 0,
      aggs: { all: single(facet, ALL) },
    });
    whole = aggregations?.all as Terms;
  }
  const buckets = Array.isArray(whole.buckets) ? whole.buckets : [];
  return buckets.map(({ key, doc_count }) => ({ values: [String(key)], count: doc_count }));
}

const pairs = (
  { fields }: FrequentValues,
  after?: Record<string, estypes.FieldValue>,
): Aggregation => ({
  composite: {
    size: PAGE,
    sources: fields.map((field, n) => ({
      [`field${n}`]: { terms: { field: fieldNames.shown(field) } },
    })),
    ...(after !== undefined && { after }),
  },
});

async function allPairs(
  facet: FrequentValues,
  result: Composite,
  query: QueryClause,
  indices: Indices,
): Promise<readonly FacetValue[]> {
  const counted: FacetValue[] = [];
  for (let page: Composite | undefined = result; page !== undefined; ) {
    const buckets = Array.isArray(page.buckets) ? page.buckets : [];
    for (const { key, doc_count } of buckets) {
      counted.push({ values: [String(key.field0), String(key.field1)], count: doc_count });
    }
    if (buckets.length < PAGE || page.after_key === undefined) break;
    const { aggregations } = await indices.search({
      query,
      size: 0,
      aggs: { all: pairs(facet, page.after_key) },
    });
    page = aggregations?.all as Composite | undefined;
  }
  return counted;
}

/** Equal counts keep the order of the combinations, which is that of their texts. */
const mostFrequent = (counted: readonly FacetValue[], limit: number): readonly FacetValue[] =>
  counted.toSorted((a, b) => b.count - a.count).slice(0, limit);

/** The text of a term. Reads a truncated text from a document that has it. */
async function textOf(stored: string, field: string, indices: Indices): Promise<string> {
  const text = readStoredText(stored);
  if (text !== undefined) return text;
  const { hits } = await indices.search({
    query: { bool: { filter: [...terms(fieldNames.text(field), [stored])] } },
    size: 1,
  });
  const source = hits.hits[0]?._source;
  const { values } = decodeDocument(fromUnitOrder(source?.urn ?? ""), source?.document ?? "");
  const whole = fieldValues(values, field).find(
    (value) => typeof value === "string" && storedText(value) === stored,
  );
  return whole === undefined ? fromUnitOrder(stored) : String(whole).toWellFormed();
}
