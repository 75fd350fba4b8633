/** The part of the schema about ingestion: its sources, what they ran, and taking a run back. */
export const sourceDefinitions = /* GraphQL */ `
extend type Query {
  "By urn. Filters know urn, name and type."
  listIngestionSources(input: ListIngestionSourcesInput!): ListIngestionSourcesResult
  ingestionSource(urn: String!): IngestionSource
}

extend type Mutation {
  "Gives the urn. Nothing runs here: a program that runs ingestion finds its recipe by it."
  createIngestionSource(input: UpdateIngestionSourceInput!): String
  "Makes it, too, where it is not there."
  updateIngestionSource(urn: String!, input: UpdateIngestionSourceInput!): String
  deleteIngestionSource(urn: String!): String
  "As POST /runs?action=rollback, softly: gives the id of the run."
  rollbackIngestion(input: RollbackIngestionInput!): String
}

input ListIngestionSourcesInput {
  start: Int = 0
  "At most 1,000."
  count: Int = 20
  "Passed over but for a part of a name."
  query: String
  "All must hold."
  filters: [FacetFilterInput!]
  "Passed over."
  sort: SortCriterion
}

type ListIngestionSourcesResult {
  start: Int
  count: Int
  total: Int
  ingestionSources: [IngestionSource!]!
}

type IngestionSource {
  urn: String!
  name: String
  "The kind of source: snowflake."
  type: String
  platform: DataPlatform
  config: IngestionConfig
  schedule: IngestionSchedule
  "What it ran, latest first."
  executions(start: Int, count: Int): IngestionSourceExecutionRequests
}

type IngestionConfig {
  recipe: String
  executorId: String
  version: String
  debugMode: Boolean
  extraArgs: [StringMapEntry!]
}

type IngestionSchedule {
  interval: String
  timezone: String
}

type IngestionSourceExecutionRequests {
  start: Int
  count: Int
  total: Int
  executionRequests: [ExecutionRequest!]!
}

type ExecutionRequest {
  urn: String!
  id: String!
  input: ExecutionRequestInput
  result: ExecutionRequestResult
}

type ExecutionRequestInput {
  task: String
  requestedAt: Long
  executorId: String
}

type ExecutionRequestResult {
  status: String
  startTimeMs: Long
  durationMs: Long
  report: String
}

type StringMapEntry {
  key: String!
  value: String
}

input StringMapEntryInput {
  key: String!
  value: String
}

input UpdateIngestionSourceInput {
  name: String!
  type: String!
  description: String
  schedule: UpdateIngestionSourceScheduleInput
  config: UpdateIngestionSourceConfigInput!
}

input UpdateIngestionSourceScheduleInput {
  interval: String!
  timezone: String!
}

input UpdateIngestionSourceConfigInput {
  "The recipe as text."
  recipe: String!
  version: String
  executorId: String
  debugMode: Boolean
  extraArgs: [StringMapEntryInput!]
}

input RollbackIngestionInput {
  runId: String!
}
`;
