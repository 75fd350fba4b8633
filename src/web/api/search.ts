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
const usualTypes: readonly string[] = [
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
  const { query, filters, types = usualTypes, start = 0, count = 20, sort } = request;
  const equal = [...(filters ?? [])]
    .filter(([, values]) => values.length > 0)
    .map(([field, values]) => ({ field, condition: "EQUAL", values }));
  const missing = (request.missing ?? []).map((field) => ({
    field,
    condition: "IS_NULL",
    values: [],
  }));
  const criteria = [...equal, ...missing];
  const { value } = await read<Reply>("/entities?action=searchAcrossEntities", {
    body: {
      input: query,
      entities: types,
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
    },
    signal: request.signal,
  });
  return {
    total: value.numEntities,
    hits: value.entities.map((urn, n) => ({
      urn,
      matches: value.metadata.matches?.[n]?.matchedFields ?? [],
    })),
    facets: (value.metadata.aggregations ?? []).map(({ name, displayName, filterValues }) => ({
      name,
      label: displayName ?? name,
      values: filterValues.map((one) => ({ value: one.value, count: one.facetCount })),
    })),
    suggestions: (value.metadata.suggestions ?? []).map(({ text }) => text),
  };
}
