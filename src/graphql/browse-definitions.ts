/** The part of the schema that completes what is typed and goes through folders. */
export const browseDefinitions = /* GraphQL */ `
extend type Query {
  "Names that begin as what is typed, of one type: datasets when absent."
  autoComplete(input: AutoCompleteInput!): AutoCompleteResults

  "The same, of several types."
  autoCompleteForMultiple(input: AutoCompleteMultipleInput!): AutoCompleteMultipleResults

  "One level of folders and entities of one type."
  browse(input: BrowseInput!): BrowseResults

  "One level of folders of several types."
  browseV2(input: BrowseV2Input!): BrowseResultsV2
}

input AutoCompleteInput {
  type: EntityType
  query: String!
  field: String
  limit: Int = 10
  filters: [FacetFilterInput!]
}

input AutoCompleteMultipleInput {
  "None: the usual ones."
  types: [EntityType!]
  query: String!
  field: String
  limit: Int = 10
  filters: [FacetFilterInput!]
}

type AutoCompleteResults {
  query: String!
  suggestions: [String!]!
  entities: [Entity!]!
}

type AutoCompleteMultipleResults {
  query: String!
  "Those that have any."
  suggestions: [AutoCompleteResultForEntity!]!
}

type AutoCompleteResultForEntity {
  type: EntityType!
  suggestions: [String!]!
  entities: [Entity!]!
}

input BrowseInput {
  type: EntityType!
  "Names of folders from the root."
  path: [String!]
  start: Int = 0
  count: Int = 10
  filters: [FacetFilterInput!]
}

type BrowseResults {
  start: Int!
  count: Int!
  "Folders and entities of this level."
  total: Int!
  entities: [Entity!]!
  groups: [BrowseResultGroup!]!
  metadata: BrowseResultMetadata!
}

type BrowseResultMetadata {
  "The folder that was asked for."
  path: [String!]!
  "Entities below the folders of this level."
  totalNumEntities: Long!
}

type BrowseResultGroup {
  name: String!
  count: Long!
}

input BrowseV2Input {
  type: EntityType
  types: [EntityType!]
  path: [String!]
  query: String
  start: Int = 0
  count: Int = 10
  orFilters: [AndFilterInput!]
  searchFlags: SearchFlags
}

type BrowseResultsV2 {
  start: Int!
  count: Int!
  "Folders of this level."
  total: Int!
  groups: [BrowseResultGroupV2!]!
  metadata: BrowseResultMetadata!
}

type BrowseResultGroupV2 {
  name: String!
  count: Long!
  hasSubGroups: Boolean!
  "The folder as an entity, if it is one."
  entity: Entity
}
`;
