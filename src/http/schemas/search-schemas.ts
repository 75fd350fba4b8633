/** Schemas of searches; schemas.ts has all others. */
import { complete, objectWith, type Schema } from "./endpoint.ts";
import * as schemas from "./schemas.ts";

const text = (description: string): Schema => ({ type: "string", description });
const integer = (description: string): Schema => ({ type: "integer", description });
const flag = (description: string): Schema => ({ type: "boolean", description });
const listOf = (items: Schema): Schema => ({ type: "array", items });

export const searchFlags: Schema = {
  type: "object",
  description: "Options of the response. Other flags of DataHub are ignored.",
  properties: {
    skipHighlighting: flag("Omit the fields that hits matched"),
    skipAggregates: flag("Omit facets"),
    includeDefaultFacets: flag("`false` returns only the facets of the filter"),
    maxAggValues: integer("Maximum number of values of a facet: 20 when absent, at most 1,000"),
    includeSoftDeleted: flag("Include soft-deleted entities"),
    includeHiddenLifecycleStages: flag("Include entities in lifecycle stages that hide them"),
    filterNonLatestVersions: flag("`false` includes older members of version sets"),
    customHighlightingFields: {
      ...listOf({ type: "string" }),
      description: "Only these fields are returned as matched fields",
    },
    getSuggestions: flag("Suggest similar queries when a search has no hits"),
    explain: flag("Explain the score of each hit"),
    fulltext: flag("Accepted and ignored: there is one search algorithm"),
    sliceOptions: complete(
      { id: integer("From 0"), max: integer("Number of slices") },
      "For parallel readers: the slice with the id 0 has all results",
    ),
    groupingSpec: {
      type: "object",
      description:
        "For lineage: groups entities of one type by the entity that their urns contain. When absent, and always in scrolls, columns are grouped by dataset. Other searches ignore it",
      properties: {
        groupingCriteria: listOf(
          objectWith(["groupingEntityType"], {
            baseEntityType: text("Urns to which the definition applies; all when absent"),
            groupingEntityType: text("Type of the entities that replace them"),
          }),
        ),
      },
    },
  },
};

export const entityType = text("Type of the entities, in any letter case: `dataset`");

export const entityTypes: Schema = {
  type: "array",
  items: { type: "string" },
  description: "Entity types; all when empty or absent",
};

export const input = text(
  'Words, `"phrases"`, `<field>:<value>`, AND, OR, NOT and brackets; `*` and nothing find everything',
);

/** Members of a search request. */
export const searchMembers = {
  filter: schemas.filter,
  sort: {
    ...schemas.sort,
    description: "Order of the hits; equal ones are sorted by score, then by urn",
  },
  sortCriteria: { ...listOf(schemas.sort), description: "Several criteria, the first one first" },
  searchFlags,
};

export const start = integer("Number of results to skip: at most 10,000; a scroll has no limit");
export const count = integer("Maximum number of results: 5,000 when it is more than 10,000");

export const scrolling = {
  scrollId: text("Scroll id of the previous response; absent for the first page"),
  keepAlive: text("Accepted: a scroll id does not expire"),
};

const matchedFields: Schema = {
  type: "array",
  items: complete({
    name: text("The field"),
    value: text("The value; a long value is cut to the text around the match"),
  }),
};

const searchEntity: Schema = {
  type: ["object", "string"],
  description: "A hit; its urn alone for clients that do not send X-RestLi-Protocol-Version.",
  required: ["entity", "matchedFields"],
  properties: {
    entity: schemas.urn,
    matchedFields,
    score: { type: "number" },
    features: { type: "object" },
    explanation: {
      type: "object",
      description: "With `explain`: the parts of the score",
      properties: {
        score: { type: "number" },
        matches: {
          type: "array",
          items: {
            type: "object",
            properties: {
              field: { type: "string" },
              value: { type: "string" },
              how: { enum: ["word", "prefix", "phrase", "whole", "beginning", "value"] },
              score: { type: "number", description: "Score of the match alone" },
            },
          },
        },
      },
    },
  },
};

const lineageEntity: Schema = objectWith(
  ["entity", "matchedFields", "degree", "paths"],
  {
    entity: schemas.urn,
    matchedFields,
    score: { type: "number" },
    features: { type: "object" },
    degree: integer("Number of hops from the start"),
    degrees: listOf({ type: "integer" }),
    paths: { ...listOf(listOf(schemas.urn)), description: "Path from the start to the entity" },
    explored: flag("The traversal continued from this entity"),
    truncatedChildren: flag("Not all edges of this entity could be followed"),
    ignoredAsHop: { type: "boolean" },
  },
  "An upstream or downstream hit, and the path to it.",
);

const counts: Schema = {
  type: "object",
  additionalProperties: { type: "integer" },
  description: "Number of hits with each value, over the whole result",
};

const searchMetadata: Schema = {
  type: "object",
  description: "Facets, urns, matches and suggestions of the result.",
  properties: {
    aggregations: {
      type: "array",
      items: objectWith(["name", "aggregations", "filterValues"], {
        name: { type: "string" },
        displayName: { type: "string" },
        aggregations: counts,
        filterValues: {
          type: "array",
          items: objectWith(["value", "facetCount"], {
            value: { type: "string" },
            entity: schemas.urn,
            facetCount: { type: "integer" },
            filtered: flag("Only the filter has this value: no hit has it"),
          }),
        },
      }),
    },
    searchResultMetadatas: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, aggregations: counts },
      },
      description: "The same facets",
    },
    urns: { ...listOf(schemas.urn), description: "Matches of the hits of this page" },
    matches: {
      type: "array",
      items: { type: "object", properties: { matchedFields } },
      description: "Scores of the hits of this page",
    },
    suggestions: {
      type: "array",
      description:
        "Queries with hits that differ from the query in misspelled words. Empty unless the flag `getSuggestions` is set and the search has no hits; always empty in scrolls and lineage, and for callers whose read access depends on owner types or memberships",
      items: complete({
        text: text("The whole query"),
        score: { type: "number", description: "1 less the share of edited characters" },
        frequency: integer("Number of hits"),
      }),
    },
  },
};

const page = {
  pageSize: integer("The count that was applied"),
  numEntities: integer("Number of entities that were found"),
  metadata: searchMetadata,
};

export const searchResult: Schema = objectWith(
  ["from", "pageSize", "numEntities", "metadata", "entities"],
  { from: integer("The requested offset"), ...page, entities: listOf(searchEntity) },
  "One page of the hits.",
);

const scrollId = text("Scroll id of the next page; absent on the last page");

export const scrollResult: Schema = objectWith(
  ["pageSize", "numEntities", "metadata", "entities"],
  { scrollId, ...page, entities: listOf(searchEntity) },
  "One page of a scroll through all hits.",
);

const isPartial = flag("A limit ended the traversal, so there may be more hits");

export const lineageSearchResult: Schema = objectWith(
  ["from", "pageSize", "numEntities", "isPartial", "metadata", "entities"],
  {
    from: integer("The requested offset"),
    ...page,
    isPartial,
    lineageSearchPath: { type: "string" },
    entities: listOf(lineageEntity),
  },
  "One page of the upstream or downstream hits.",
);

export const lineageScrollResult: Schema = objectWith(
  ["pageSize", "numEntities", "isPartial", "metadata", "entities"],
  {
    scrollId,
    ...page,
    isPartial,
    lineageSearchPath: { type: "string" },
    entities: listOf(lineageEntity),
  },
  "One page of a scroll through all upstream or downstream hits.",
);

/** Names of the records in the OpenAPI document. */
export const namedSearchSchemas: readonly (readonly [Schema, string])[] = [
  [searchFlags, "SearchFlags"],
  [searchEntity, "SearchEntity"],
  [lineageEntity, "LineageSearchEntity"],
  [searchMetadata, "SearchResultMetadata"],
  [searchResult, "SearchResult"],
  [scrollResult, "ScrollResult"],
  [lineageSearchResult, "LineageSearchResult"],
  [lineageScrollResult, "LineageScrollResult"],
];
