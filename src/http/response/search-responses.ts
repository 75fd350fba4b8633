/**
 * Search responses in both forms: DataHub's clients read objects in `entities`, others read urns. All
 * other members are equal in both.
 */
import type {
  LineageHit,
  LineagePage,
  LineageScrollPage,
  ScrollPage,
  SearchFacet,
  SearchHit,
  SearchPage,
} from "../../catalog/catalog.ts";
import type { WireForm } from "../request/protocol.ts";
import { type ApiResponse, valueResponse } from "../schemas/endpoint.ts";

interface ResponseForm {
  readonly wireForm: WireForm;
  /** Several entity types are searched: DataHub returns their facet twice. */
  readonly across?: boolean;
}

export function searchResponse(
  page: SearchPage | ScrollPage,
  { wireForm, across }: ResponseForm,
): ApiResponse {
  const { hits, position } = page;
  const entities = wireForm === "annals" ? urnsOf(hits) : hits.map(entityOf);
  const value = { ...pageOf(page), metadata: metadataOf(page, across === true), entities };
  return valueResponse(value, position);
}

/**
 * Lineage needs paths, which urns cannot express, so the response is the same in both forms. The
 * position is the lowest of the two views that were read (Endpoint.reads).
 */
export function lineageResponse(page: LineagePage | LineageScrollPage): ApiResponse {
  const value = {
    ...pageOf(page),
    lineageSearchPath: "TORTOISE",
    isPartial: page.partial,
    metadata: metadataOf(page, true),
    entities: page.hits.map((hit) => ({ ...entityOf(hit), ...wayOf(hit) })),
  };
  return valueResponse(value);
}

const urnsOf = (hits: readonly SearchHit[]): readonly string[] => hits.map(({ urn }) => urn);

function pageOf(page: SearchPage | ScrollPage): object {
  const { pageSize, total: numEntities } = page;
  if ("from" in page) return { from: page.from, pageSize, numEntities };
  return { pageSize, numEntities, scrollId: page.scrollId };
}

const entityOf = ({ urn, score, matchedFields, explanation }: SearchHit) => ({
  entity: urn,
  matchedFields,
  score,
  features: { SEARCH_BACKEND_SCORE: score },
  explanation,
});

const wayOf = ({ degree, paths, explored, truncatedChildren, ignoredAsHop }: LineageHit) => ({
  degree,
  degrees: [degree],
  paths,
  explored,
  truncatedChildren,
  ignoredAsHop,
});

function metadataOf(
  { hits, facets, suggestions = [] }: SearchPage | ScrollPage,
  across: boolean,
): object {
  const types = facets.find(({ name }) => name === "_entityType");
  const shown = across && types !== undefined ? [...facets, { ...types, name: "entity" }] : facets;
  return {
    aggregations: shown.map(aggregationOf),
    suggestions,
    urns: urnsOf(hits),
    matches: hits.map(({ matchedFields, explanation }) => ({ matchedFields, explanation })),
    searchResultMetadatas: shown.map((facet) => ({
      name: facet.name,
      aggregations: countsOf(facet),
    })),
  };
}

const countsOf = ({ values }: SearchFacet) =>
  Object.fromEntries(values.map(({ value, count }) => [value, count]));

function aggregationOf(facet: SearchFacet): object {
  const { name, displayName, values } = facet;
  return {
    name,
    displayName,
    aggregations: countsOf(facet),
    filterValues: values.map(({ value, count, filtered }) => ({
      value,
      ...(value.startsWith("urn:") && { entity: value }),
      facetCount: count,
      filtered,
    })),
  };
}
