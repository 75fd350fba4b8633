/** Searches, their facets, and suggestions. */
import { read } from "./http.ts";

export interface Match {
  readonly name: string;
  readonly value: string;
}

export interface Hit {
  readonly urn: string;
  readonly matches: readonly Match[];
}

interface FacetValue {
  readonly value: string;
  readonly count: number;
}

export interface Facet {
  readonly name: string;
  readonly label: string;
  readonly values: readonly FacetValue[];
}

export interface SearchResult {
  readonly total: number;
  readonly hits: readonly Hit[];
  readonly facets: readonly Facet[];
  readonly suggestions: readonly string[];
}

export interface SearchRequest {
  readonly query: string;
  /** Values by field; values of one field are alternatives. */
  readonly filters?: ReadonlyMap<string, readonly string[]>;
  /** Fields without a value. */
  readonly missing?: readonly string[];
  readonly types?: readonly string[];
  readonly start?: number;
  readonly count?: number;
  readonly sort?: Sort | undefined;
  readonly facets?: boolean;
  readonly includeRemoved?: boolean;
  readonly signal?: AbortSignal;
}

export interface Sort {
  readonly field: string;
  readonly order: "ASCENDING" | "DESCENDING";
}

/** Types that a search without types leads to: those that people look for. */
export const usualTypes: readonly string[] = [
  "dataset",
  "chart",
  "dashboard",
  "dataJob",
  "dataFlow",
  "container",
  "dataProduct",
  "domain",
  "glossaryTerm",
  "glossaryNode",
  "tag",
  "corpuser",
  "corpGroup",
  "mlModel",
  "mlModelGroup",
  "mlFeature",
  "mlFeatureTable",
  "mlPrimaryKey",
  "notebook",
  "document",
  "application",
  "metric",
  "semanticModel",
];

interface Reply {
  readonly value: {
    readonly numEntities: number;
    readonly entities: readonly string[];
    readonly metadata: {
      readonly aggregations?: readonly {
        readonly name: string;
        readonly displayName?: string;
        readonly filterValues: readonly { readonly value: string; readonly facetCount: number }[];
      }[];
      readonly matches?: readonly { readonly matchedFields: readonly Match[] }[];
      readonly suggestions?: readonly { readonly text: string }[];
    };
  };
}

export async function search(request: SearchRequest): Promise<SearchResult> {
  const { start = 0, count = 20, sort } = request;
  const criteria = criteriaOf(request);
  const { value } = await post(request, {
    start,
    count,
    ...(criteria.length === 0 ? {} : { filter: { or: [{ and: criteria }] } }),
    ...(sort === undefined ? {} : { sort }),
    searchFlags: {
      getSuggestions: true,
      skipAggregates: request.facets !== true,
      maxAggValues: 30,
      ...(request.includeRemoved ? { includeSoftDeleted: true } : {}),
    },
  });
  return {
    total: value.numEntities,
    hits: value.entities.map((urn, n) => ({
      urn,
      matches: value.metadata.matches?.[n]?.matchedFields ?? [],
    })),
    facets: facetsOf(value),
    suggestions: (value.metadata.suggestions ?? []).map(({ text }) => text),
  };
}

/** Values of a field that one request counts. */
const countedMax = 1_000;

/**
 * The number of results that a filter by each value finds, by field. A filter may search several
 * fields, so it may find more than the facet of its field counts.
 */
export async function countValues(
  request: SearchRequest,
  values: ReadonlyMap<string, readonly string[]>,
): Promise<readonly Facet[]> {
  const criteria = criteriaOf(request);
  const named = [...values]
    .filter(([, texts]) => texts.length > 0)
    .map(([field, texts]) => ({
      and: [...criteria, { field, condition: "EQUAL", values: texts.slice(0, countedMax) }],
    }));
  if (named.length === 0) return [];
  const { value } = await post(request, {
    start: 0,
    count: 0,
    // All results match the first group, so the values of the others exclude none.
    filter: { or: [{ and: criteria }, ...named] },
    searchFlags: { includeDefaultFacets: false, maxAggValues: countedMax },
  });
  return facetsOf(value);
}

const criteriaOf = ({ filters, missing = [] }: SearchRequest) => [
  ...[...(filters ?? [])]
    .filter(([, values]) => values.length > 0)
    .map(([field, values]) => ({ field, condition: "EQUAL", values })),
  ...missing.map((field) => ({ field, condition: "IS_NULL", values: [] })),
];

const post = ({ query, types = usualTypes, signal }: SearchRequest, body: object): Promise<Reply> =>
  read<Reply>("/entities?action=searchAcrossEntities", {
    body: { input: query, entities: types, ...body },
    signal,
  });

const facetsOf = ({ metadata }: Reply["value"]): readonly Facet[] =>
  (metadata.aggregations ?? []).map(({ name, displayName, filterValues }) => ({
    name,
    label: displayName ?? name,
    values: filterValues.map((one) => ({ value: one.value, count: one.facetCount })),
  }));
