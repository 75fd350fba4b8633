/**
 * Facets with counts of their own: the values of structured properties, and the values of facets whose
 * filters search several fields. A filter by a tag also finds tables with a column that has the tag.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { queryGraphql } from "../../api/http.ts";
import {
  countValues,
  type Facet,
  type SearchRequest,
  search,
  usualTypes,
} from "../../api/search.ts";
import { graphqlType } from "../../api/type-names.ts";
import { keyOf } from "../../api/urn.ts";
import { filterTexts } from "./filters.ts";

const prefix = "structuredProperties.";

/** Properties with a facet. */
const propertiesMax = 20;

/** The property that a facet counts the values of; undefined for other facets. */
export const propertyOfFacet = (name: string): string | undefined =>
  name.startsWith(prefix) ? `urn:li:structuredProperty:${name.slice(prefix.length)}` : undefined;

/** By facet: the fields that its filter searches. */
const joined: ReadonlyMap<string, readonly string[]> = new Map([
  ["tags", ["tags", "fieldTags", "editedFieldTags"]],
  ["glossaryTerms", ["glossaryTerms", "fieldGlossaryTerms", "editedFieldGlossaryTerms"]],
  ["origin", ["origin", "env"]],
]);

const joinedFields: ReadonlySet<string> = new Set([...joined.values()].flat());

/** A facet of the page. */
export interface ShownFacet extends Facet {
  /** The search itself counts the values otherwise than their filters find. */
  readonly uncounted?: boolean;
}

/** The facets of a search, with the counted ones in their places as soon as they are loaded. */
export function withCounted(
  found: readonly Facet[],
  counted: readonly Facet[],
): readonly ShownFacet[] {
  const names = new Set(counted.map(({ name }) => name));
  const others = found.flatMap((facet): readonly ShownFacet[] => {
    if (names.has(facet.name)) return [];
    if (!joinedFields.has(facet.name)) return [facet];
    return counted.length === 0 && joined.has(facet.name) ? [{ ...facet, uncounted: true }] : [];
  });
  return [...others, ...counted];
}

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

/** The most frequent values of fields. */
async function readFacets(
  { query, filters = new Map() }: SearchRequest,
  fields: readonly string[],
): Promise<readonly Facet[]> {
  const criteria = [...filters].map(([field, values]) => ({ field, values }));
  const input = {
    query,
    types: usualTypes.map(graphqlType),
    facets: fields,
    orFilters: criteria.length === 0 ? [] : [{ and: criteria }],
  };
  const { aggregateAcrossEntities: found } = await queryGraphql<Reply>(aggregation, { input });
  return found.facets.map(({ field, aggregations }) => ({
    ...{ name: field, label: field, values: aggregations },
  }));
}

async function readCounted(
  request: SearchRequest,
  properties: readonly string[],
): Promise<readonly Facet[]> {
  const facets = await readFacets(request, [...properties, ...joinedFields]);
  const values = new Map(
    [...joined].map(([name, fields]) => {
      const found = facets.filter((facet) => fields.includes(facet.name));
      return [name, [...new Set(found.flatMap((facet) => facet.values.map(({ value }) => value)))]];
    }),
  );
  return [
    ...facets.filter(({ name }) => propertyOfFacet(name) !== undefined),
    ...(await countValues(request, values)).filter(({ name }) => joined.has(name)),
  ];
}

/** Wait for further keys: results come first. */
const pauseMs = 150;

/** One list for all renders. */
const none: readonly never[] = [];

/** Empty until they are loaded: results do not wait for them. */
export function useCountedFacets(request: SearchRequest): readonly Facet[] {
  const { data: properties } = useQuery({
    queryKey: ["search", "properties"],
    queryFn: async ({ signal }) => {
      const types = ["structuredProperty"];
      const { hits } = await search({ query: "*", types, count: propertiesMax, signal });
      return hits.map(({ urn }) => `${prefix}${keyOf(urn)}`);
    },
    staleTime: 60_000,
  });
  const { query, filters = new Map() } = request;
  const { data: facets = none } = useQuery({
    queryKey: ["search", "counted facets", query, filterTexts(filters), properties],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      signal.throwIfAborted();
      return await readCounted({ query, filters, signal }, properties ?? none);
    },
    placeholderData: keepPreviousData,
    enabled: properties !== undefined,
  });
  return facets;
}
