/** Facets of structured properties: the values that the entities of a search have. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { queryGraphql } from "../../api/http.ts";
import { type Facet, search } from "../../api/search.ts";
import { keyOf } from "../../api/urn.ts";
import { type Filters, filterTexts } from "./filters.ts";

const prefix = "structuredProperties.";

/** Properties with a facet. */
const propertiesMax = 20;

/** The property that a facet counts the values of; undefined for other facets. */
export const propertyOfFacet = (name: string): string | undefined =>
  name.startsWith(prefix) ? `urn:li:structuredProperty:${name.slice(prefix.length)}` : undefined;

const aggregation = `query ($input: AggregateAcrossEntitiesInput!) {
  aggregateAcrossEntities(input: $input) { facets { field aggregations { value count } } }
}`;

interface Reply {
  readonly aggregateAcrossEntities: {
    readonly facets: readonly {
      readonly field: string;
      readonly aggregations: Facet["values"];
    }[];
  };
}

async function readFacets(
  query: string,
  filters: Filters,
  facets: readonly string[],
): Promise<readonly Facet[]> {
  const criteria = [...filters].map(([field, values]) => ({ field, values }));
  const orFilters = criteria.length === 0 ? [] : [{ and: criteria }];
  const input = { query, facets, orFilters };
  const { aggregateAcrossEntities: found } = await queryGraphql<Reply>(aggregation, { input });
  return found.facets
    .filter(({ field }) => field.startsWith(prefix))
    .map(({ field, aggregations }) => ({ name: field, label: field, values: aggregations }));
}

/** One list for all renders. */
const none: readonly never[] = [];

/** Empty until they are loaded: results do not wait for them. */
export function usePropertyFacets(query: string, filters: Filters): readonly Facet[] {
  const { data: names = none } = useQuery({
    queryKey: ["search", "properties"],
    queryFn: async ({ signal }) => {
      const types = ["structuredProperty"];
      const { hits } = await search({ query: "*", types, count: propertiesMax, signal });
      return hits.map(({ urn }) => `${prefix}${keyOf(urn)}`);
    },
    staleTime: 60_000,
  });
  const { data: facets = none } = useQuery({
    queryKey: ["search", "property facets", query, filterTexts(filters), names],
    queryFn: () => readFacets(query, filters, names),
    placeholderData: keepPreviousData,
    enabled: names.length > 0,
  });
  return facets;
}
