/** The part of the schema that searches: what command lines and libraries of the reference send. */
export const searchDefinitions = /* GraphQL */ `
extend type Query {
  "Entities of one type, best first."
  search(input: SearchInput!): SearchResults

  "Entities of several types, or of those that people look for, best first."
  searchAcrossEntities(input: SearchAcrossEntitiesInput!): SearchResults

  "The same, page after page without end."
  scrollAcrossEntities(input: ScrollAcrossEntitiesInput!): ScrollResults

  "What lies up- or downstream, nearest first. Filters may name degree: 1, 2, 3+."
  searchAcrossLineage(input: SearchAcrossLineageInput!): SearchAcrossLineageResults

  "The same, page after page without end."
  scrollAcrossLineage(input: ScrollAcrossLineageInput!): ScrollAcrossLineageResults
}

enum LineageDirection {
  UPSTREAM
  DOWNSTREAM
}

input SearchAcrossLineageInput {
  urn: String!
  direction: LineageDirection!
  "None: all but QUERY."
  types: [EntityType!]
  query: String
  start: Int = 0
  count: Int = 10
  filters: [FacetFilterInput!]
  orFilters: [AndFilterInput!]
  "Epoch milliseconds: edges that were told since."
  startTimeMillis: Long
  endTimeMillis: Long
  searchFlags: SearchFlags
  sortInput: SearchSortInput
}

input ScrollAcrossLineageInput {
  urn: String!
  direction: LineageDirection!
  "None: all but QUERY."
  types: [EntityType!]
  query: String
  "nextScrollId of the page before."
  scrollId: String
  "Passed over: a scroll may go on at any time."
  keepAlive: String
  count: Int = 10
  orFilters: [AndFilterInput!]
  startTimeMillis: Long
  endTimeMillis: Long
  searchFlags: SearchFlags
  sortInput: SearchSortInput
}

type SearchAcrossLineageResults {
  start: Int!
  count: Int!
  total: Int!
  searchResults: [SearchAcrossLineageResult!]!
  facets: [FacetMetadata!]
  "A bound of the service ended the walk: there may be more."
  isPartial: Boolean
}

type ScrollAcrossLineageResults {
  "Absent at the end."
  nextScrollId: String
  count: Int!
  total: Int!
  searchResults: [SearchAcrossLineageResult!]!
  facets: [FacetMetadata!]
  isPartial: Boolean
}

type SearchAcrossLineageResult {
  entity: Entity!
  matchedFields: [MatchedField!]!
  "Steps from the entity that was asked for."
  degree: Int!
  degrees: [Int!]
  paths: [EntityPath!]
  explored: Boolean
  truncatedChildren: Boolean
}

type EntityPath {
  "From the one that was asked for to the one that was found, both included."
  path: [Entity]
}

input SearchInput {
  type: EntityType!
  query: String!
  start: Int = 0
  count: Int = 10
  "All must hold."
  filters: [FacetFilterInput!]
  "Any must hold, each all of its own."
  orFilters: [AndFilterInput!]
  searchFlags: SearchFlags
}

input SearchAcrossEntitiesInput {
  "None: those that people look for, without what the service keeps for itself."
  types: [EntityType!]
  query: String!
  start: Int = 0
  count: Int = 10
  filters: [FacetFilterInput!]
  orFilters: [AndFilterInput!]
  "Refused: views are not applied."
  viewUrn: String
  searchFlags: SearchFlags
  sortInput: SearchSortInput
}

input ScrollAcrossEntitiesInput {
  "None: as of searchAcrossEntities."
  types: [EntityType!]
  query: String!
  "nextScrollId of the page before."
  scrollId: String
  "Passed over: a scroll may go on at any time."
  keepAlive: String
  count: Int = 10
  orFilters: [AndFilterInput!]
  viewUrn: String
  searchFlags: SearchFlags
  sortInput: SearchSortInput
}

input AndFilterInput {
  and: [FacetFilterInput!]
}

"Flags that are not described are accepted and passed over."
input SearchFlags {
  skipCache: Boolean
  fulltext: Boolean
  "A search without hits returns suggestions."
  getSuggestions: Boolean
  rewriteQuery: Boolean
  includeRestricted: Boolean
  includeDraft: Boolean
  fetchExtraFields: [String!]
  "Values of a facet: 20."
  maxAggValues: Int
  "Without what a hit was found by."
  skipHighlighting: Boolean
  "Without facets."
  skipAggregates: Boolean
  includeDefaultFacets: Boolean
  includeSoftDeleted: Boolean
  includeHiddenLifecycleStages: Boolean
  filterNonLatestVersions: Boolean
  customHighlightingFields: [String!]
  "For lineage. When absent, and always in scrolls, columns are grouped by dataset."
  groupingSpec: GroupingSpec
}

input GroupingSpec {
  groupingCriteria: [GroupingCriterion!]!
}

input GroupingCriterion {
  baseEntityType: EntityType
  groupingEntityType: EntityType!
}

input SearchSortInput {
  sortCriteria: [SortCriterion!]
  sortCriterion: SortCriterion
}

input SortCriterion {
  field: String!
  sortOrder: SortOrder!
}

enum SortOrder {
  ASCENDING
  DESCENDING
}

type SearchResults {
  start: Int!
  count: Int!
  total: Int!
  searchResults: [SearchResult!]!
  facets: [FacetMetadata!]
  "Queries with hits that differ in misspelled words; with the flag getSuggestions, if there are no hits."
  suggestions: [SearchSuggestion!]
}

type SearchSuggestion {
  "The whole query."
  text: String!
  "1 less the share of edited characters."
  score: Float
  "Number of hits."
  frequency: Int
}

type ScrollResults {
  "Absent at the end."
  nextScrollId: String
  count: Int!
  total: Int!
  searchResults: [SearchResult!]!
  facets: [FacetMetadata!]
}

type SearchResult {
  entity: Entity!
  score: Float
  matchedFields: [MatchedField!]!
  extraProperties: [ExtraProperty!]
}

type MatchedField {
  name: String!
  value: String!
}

type ExtraProperty {
  name: String!
  value: String!
}

type FacetMetadata {
  field: String!
  displayName: String
  aggregations: [AggregationMetadata!]!
}

type AggregationMetadata {
  value: String!
  count: Long!
  displayName: String
  "What the value names, if it is a urn."
  entity: Entity
}
`;
