/** Schemas of searches; schemas.ts has all others. */
import { complete, flag, integer, objectWith, type Schema, text } from "./endpoint.ts";
import * as schemas from "./schemas.ts";

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
