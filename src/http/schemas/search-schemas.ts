/** Schemas of searches; schemas.ts has all others. */
import type { Schema } from "./endpoint.ts";
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
    includeDefaultFacets: flag("False: no facets but those of the filter"),
    maxAggValues: integer("Most values of a facet: 20 when absent, 1,000 at most"),
    includeSoftDeleted: flag("Find entities whose status says removed, too"),
    includeHiddenLifecycleStages: flag("Find entities in lifecycle stages that hide them, too"),
    filterNonLatestVersions: flag("False: find members of a version set that are not its latest"),
    customHighlightingFields: {
      ...listOf({ type: "string" }),
      description: "Only these fields are returned as matched fields",
    },
    getSuggestions: flag("A search without hits suggests queries with near words"),
    explain: flag("Explain the score of each hit"),
    fulltext: flag("Accepted: there is one way of searching"),
    sliceOptions: {
      type: "object",
      description: "Where several read side by side: the slice with the id 0 has everything",
      required: ["id", "max"],
      properties: { id: integer("From 0"), max: integer("How many slices there are") },
    },
    groupingSpec: {
      type: "object",
      description:
        "For lineage: groups entities of one type by the entity that their urns contain. When absent, and always in scrolls, columns are grouped by dataset. Other searches ignore it",
      properties: {
        groupingCriteria: listOf({
          type: "object",
          required: ["groupingEntityType"],
          properties: {
            baseEntityType: text("Of these entities; absent: of all"),
            groupingEntityType: text("Type of the entities that replace them"),
          },
        }),
      },
    },
  },
};

export const entityType = text("Type of the entities, in any letter case: `dataset`");

export const entityTypes: Schema = {
  type: "array",
  items: { type: "string" },
  description: "Types of the entities; none, or absent: all",
};

export const input = text(
  'Words, `"phrases"`, `<field>:<value>`, AND, OR, NOT and brackets; `*` and nothing find everything',
);

/** Members of what is looked for. */
export const looking = {
  filter: schemas.filter,
  sort: { ...schemas.sort, description: "Then by score, then by urn" },
  sortCriteria: { ...listOf(schemas.sort), description: "Several, the first decides first" },
  searchFlags,
};

export const start = integer("Number of results to skip: at most 10,000; a scroll has no limit");
export const count = integer("Maximum number of results: 5,000 when it is more than 10,000");

export const scrolling = {
  scrollId: text("Of the answer before; absent: from the beginning"),
  keepAlive: text("Accepted: a scroll id does not expire"),
};

const matchedFields: Schema = {
  type: "array",
  items: {
    type: "object",
    required: ["name", "value"],
    properties: {
      name: text("The field"),
      value: text("The value; of a long one only the text around the match"),
    },
  },
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

const lineageEntity: Schema = {
  type: "object",
  description: "A hit up- or downstream, and how it was reached.",
  required: ["entity", "matchedFields", "degree", "paths"],
  properties: {
    entity: schemas.urn,
    matchedFields,
    score: { type: "number" },
    features: { type: "object" },
    degree: integer("Steps from the start"),
    degrees: listOf({ type: "integer" }),
    paths: { ...listOf(listOf(schemas.urn)), description: "From the start to the entity" },
    explored: flag("The walk went on from here"),
    truncatedChildren: flag("Not all that is beyond could be followed"),
    ignoredAsHop: { type: "boolean" },
  },
};

const counts: Schema = {
  type: "object",
  additionalProperties: { type: "integer" },
  description: "How many hits have a value, over the whole result",
};

const searchMetadata: Schema = {
  type: "object",
  description: "Facets, urns, matches and suggestions of the result.",
  properties: {
    aggregations: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "aggregations", "filterValues"],
        properties: {
          name: { type: "string" },
          displayName: { type: "string" },
          aggregations: counts,
          filterValues: {
            type: "array",
            items: {
              type: "object",
              required: ["value", "facetCount"],
              properties: {
                value: { type: "string" },
                entity: schemas.urn,
                facetCount: { type: "integer" },
                filtered: flag("Only the filter names it: no hit has it"),
              },
            },
          },
        },
      },
    },
    searchResultMetadatas: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, aggregations: counts },
      },
      description: "The same facets",
    },
    urns: { ...listOf(schemas.urn), description: "Of the hits of this page" },
    matches: {
      type: "array",
      items: { type: "object", properties: { matchedFields } },
      description: "Of the same hits",
    },
    suggestions: {
      type: "array",
      description:
        "Queries with hits that differ from the query in misspelled words. Empty unless the flag `getSuggestions` is set and the search has no hits; always empty in scrolls and lineage, and for callers whose read access depends on owner types or memberships",
      items: {
        type: "object",
        required: ["text", "score", "frequency"],
        properties: {
          text: text("The whole query"),
          score: { type: "number", description: "1 less the share of edited characters" },
          frequency: integer("Number of hits"),
        },
      },
    },
  },
};

const page = {
  pageSize: integer("The count that was applied"),
  numEntities: integer("How many were found"),
  metadata: searchMetadata,
};

export const searchResult: Schema = {
  type: "object",
  description: "One page of the hits.",
  required: ["from", "pageSize", "numEntities", "metadata", "entities"],
  properties: { from: integer("The requested offset"), ...page, entities: listOf(searchEntity) },
};

const scrollId = text("For the next page; absent at the end");

export const scrollResult: Schema = {
  type: "object",
  description: "One page of a scroll through all hits.",
  required: ["pageSize", "numEntities", "metadata", "entities"],
  properties: { scrollId, ...page, entities: listOf(searchEntity) },
};

const isPartial = flag("A limit of the service ended the traversal: more hits may exist");

export const lineageSearchResult: Schema = {
  type: "object",
  description: "One page of the hits up- or downstream.",
  required: ["from", "pageSize", "numEntities", "isPartial", "metadata", "entities"],
  properties: {
    from: integer("The requested offset"),
    ...page,
    isPartial,
    lineageSearchPath: { type: "string" },
    entities: listOf(lineageEntity),
  },
};

export const lineageScrollResult: Schema = {
  type: "object",
  description: "One page of a scroll through all hits up- or downstream.",
  required: ["pageSize", "numEntities", "isPartial", "metadata", "entities"],
  properties: {
    scrollId,
    ...page,
    isPartial,
    lineageSearchPath: { type: "string" },
    entities: listOf(lineageEntity),
  },
};

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
