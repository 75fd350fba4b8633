/** The part of the schema about events: results of assertions, and operations on datasets. */
export const assertionDefinitions = /* GraphQL */ `
extend type Mutation {
  "An assertion that is evaluated elsewhere. Without a urn a new one."
  upsertCustomAssertion(urn: String, input: UpsertCustomAssertionInput!): Assertion
  reportAssertionResult(urn: String!, result: AssertionResultInput!): Boolean
  "Gives true."
  reportOperation(input: ReportOperationInput!): String
}

input UpsertCustomAssertionInput {
  "The dataset that it is about."
  entityUrn: String!
  type: String!
  description: String!
  fieldPath: String
  platform: PlatformInput!
  externalUrl: String
  logic: String
}

input PlatformInput {
  urn: String
  name: String
}

enum AssertionRunStatus {
  COMPLETE
}

enum AssertionResultType {
  INIT
  SUCCESS
  FAILURE
  ERROR
}

enum AssertionResultSeverity {
  LOW
  MEDIUM
  HIGH
}

enum AssertionResultErrorType {
  SOURCE_CONNECTION_ERROR
  SOURCE_QUERY_FAILED
  INSUFFICIENT_DATA
  INVALID_PARAMETERS
  INVALID_SOURCE_TYPE
  UNSUPPORTED_PLATFORM
  CUSTOM_SQL_ERROR
  FIELD_ASSERTION_ERROR
  UNKNOWN_ERROR
}

input AssertionResultInput {
  "When it was evaluated, in epoch milliseconds; now when absent."
  timestampMillis: Long
  type: AssertionResultType!
  properties: [StringMapEntryInput!]
  externalUrl: String
  error: AssertionResultErrorInput
  severity: AssertionResultSeverity
}

input AssertionResultErrorInput {
  type: AssertionResultErrorType!
  message: String!
}

type EntityAssertionsResult {
  start: Int
  count: Int
  total: Int
  assertions: [Assertion!]!
}

type AssertionRunEventsResult {
  total: Int
  failed: Int
  succeeded: Int
  runEvents: [AssertionRunEvent!]!
}

type AssertionRunEvent {
  timestampMillis: Long!
  assertionUrn: String!
  asserteeUrn: String
  runId: String
  status: AssertionRunStatus
  partitionSpec: PartitionSpec
  result: AssertionResult
}

type PartitionSpec {
  type: String
  partition: String
  timePartition: TimeWindow
}

type TimeWindow {
  startTimeMillis: Long
  durationMillis: Long
}

type AssertionResult {
  type: AssertionResultType!
  severity: AssertionResultSeverity
  rowCount: Long
  missingCount: Long
  unexpectedCount: Long
  actualAggValue: Float
  externalUrl: String
  nativeResults: [StringMapEntry!]
  error: AssertionResultError
}

type AssertionResultError {
  type: AssertionResultErrorType
  properties: [StringMapEntry!]
}

enum OperationType {
  INSERT
  UPDATE
  DELETE
  CREATE
  ALTER
  DROP
  CUSTOM
  UNKNOWN
}

enum OperationSourceType {
  DATA_PROCESS
  DATA_PLATFORM
}

input ReportOperationInput {
  urn: String!
  operationType: OperationType!
  customOperationType: String
  sourceType: OperationSourceType!
  "Epoch milliseconds; now when absent."
  timestampMillis: Long
  numAffectedRows: Long
  partition: String
  customProperties: [StringMapEntryInput!]
}

type Operation {
  timestampMillis: Long!
  lastUpdatedTimestamp: Long!
  actor: String
  operationType: OperationType!
  customOperationType: String
  sourceType: OperationSourceType
  numAffectedRows: Long
  partition: String
  customProperties: [StringMapEntry!]
}

"All of and must hold."
input FilterInput {
  and: [FacetFilterInput!]!
}
`;
