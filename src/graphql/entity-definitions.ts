/**
 * The part of the schema that tells of entities. Every type has the fields that any entity may have,
 * and some of its own; `aspects` has whatever the fields do not tell.
 */

/** Fields that any entity may have; null where it does not. */
const common = /* GraphQL */ `
  urn: String!
  type: EntityType!
  "Whether there is such an entity."
  exists: Boolean
  "What it is called, or the last part of its urn."
  name: String
  properties: EntityProperties
  editableProperties: EditableProperties
  platform: DataPlatform
  dataPlatformInstance: DataPlatformInstance
  container: Container
  subTypes: SubTypes
  status: Status
  deprecation: Deprecation
  tags: GlobalTags
  globalTags: GlobalTags
  glossaryTerms: GlossaryTerms
  ownership: Ownership
  domain: DomainAssociation
  institutionalMemory: InstitutionalMemory
  "When a run of ingestion last told of it, in epoch milliseconds; null: none did."
  lastIngested: Long
  "Values of aspects as JSON text: of those that are named, or of all."
  aspects(input: AspectParams): [RawAspect!]
  "Neighbours in the graph."
  relationships(input: RelationshipsInput!): EntityRelationshipsResult
`;

/** Types of the reference, by entity type, with what is their own. */
export const entityTypeFields: Readonly<Record<string, readonly [type: string, own: string]>> = {
  dataset: [
    "Dataset",
    `origin: String
  description: String @deprecated(reason: "Use properties.description")
  "Of a version: 0 for the latest, n for the n-th, -k for the k-th before the latest."
  schemaMetadata(version: Long): SchemaMetadata
  editableSchemaMetadata: EditableSchemaMetadata
  "Assertions on this entity, oldest first. Soft-deleted ones are omitted and not counted."
  assertions(start: Int = 0, count: Int = 20, includeSoftDeleted: Boolean = false): EntityAssertionsResult
  "Latest first."
  operations(startTimeMillis: Long, endTimeMillis: Long, limit: Int, filter: FilterInput): [Operation!]`,
  ],
  chart: ["Chart", "tool: String\n  chartId: String"],
  dashboard: ["Dashboard", "tool: String\n  dashboardId: String"],
  dataJob: [
    "DataJob",
    `jobId: String
  dataFlow: DataFlow
  "Those told last first; of at most 10,000."
  runs(start: Int = 0, count: Int = 20): DataProcessInstanceResult`,
  ],
  dataFlow: ["DataFlow", "orchestrator: String\n  flowId: String\n  cluster: String"],
  dataProcessInstance: ["DataProcessInstance", "created: AuditStamp"],
  container: ["Container", ""],
  corpGroup: ["CorpGroup", ""],
  domain: ["Domain", "id: String\n  parentDomain: Domain"],
  dataProduct: ["DataProduct", ""],
  glossaryTerm: ["GlossaryTerm", "hierarchicalName: String\n  parentNode: GlossaryNode"],
  glossaryNode: ["GlossaryNode", "parentNode: GlossaryNode"],
  tag: ["Tag", 'description: String @deprecated(reason: "Use properties.description")'],
  mlModel: ["MLModel", ""],
  mlModelGroup: ["MLModelGroup", ""],
  mlFeature: ["MLFeature", "featureNamespace: String"],
  mlFeatureTable: ["MLFeatureTable", ""],
  mlPrimaryKey: ["MLPrimaryKey", "featureNamespace: String"],
  notebook: ["Notebook", ""],
  document: ["Document", "subType: String\n  info: EntityProperties"],
  dataPlatform: ["DataPlatform", ""],
  dataPlatformInstance: ["DataPlatformInstance", "instanceId: String"],
  schemaField: ["SchemaFieldEntity", "fieldPath: String\n  parent: Entity"],
  assertion: [
    "Assertion",
    `"Latest first."
  runEvents(status: AssertionRunStatus, startTimeMillis: Long, endTimeMillis: Long, limit: Int, filter: FilterInput): AssertionRunEventsResult`,
  ],
  versionSet: ["VersionSet", "latestVersion: Entity"],
};

const typeOf = ([type, own]: readonly [string, string]): string => `
type ${type} implements Entity {${common}  ${own}
}
`;

export const entityDefinitions = (): string =>
  `${definitions}${Object.values(entityTypeFields).map(typeOf).join("")}
"An entity of any other type."
type CatalogEntity implements Entity {${common}}

type CorpUser implements Entity {${common.replace("properties: EntityProperties", "properties: CorpUserProperties").replace("EditableProperties", "CorpUserEditableProperties")}  username: String!
  info: CorpUserProperties
}
`;

const definitions = /* GraphQL */ `
extend type Query {
  "An entity; null when it is not there."
  entity(urn: String!): Entity
  "In the order of the urns; null for those that are not there. At most 1,000."
  entities(urns: [String!]!): [Entity]
  entityExists(urn: String!): Boolean
  dataset(urn: String!): Dataset
  chart(urn: String!): Chart
  dashboard(urn: String!): Dashboard
  dataJob(urn: String!): DataJob
  dataFlow(urn: String!): DataFlow
  container(urn: String!): Container
  corpUser(urn: String!): CorpUser
  corpGroup(urn: String!): CorpGroup
  domain(urn: String!): Domain
  dataProduct(urn: String!): DataProduct
  glossaryTerm(urn: String!): GlossaryTerm
  glossaryNode(urn: String!): GlossaryNode
  tag(urn: String!): Tag
  mlModel(urn: String!): MLModel
  mlModelGroup(urn: String!): MLModelGroup
  mlFeature(urn: String!): MLFeature
  mlFeatureTable(urn: String!): MLFeatureTable
  mlPrimaryKey(urn: String!): MLPrimaryKey
  dataPlatform(urn: String!): DataPlatform
  assertion(urn: String!): Assertion
  "What clients ask of the service itself."
  appConfig: AppConfig
}

type AppConfig {
  telemetryConfig: TelemetryConfig
  semanticSearchConfig: SemanticSearchConfig
}

"There is none."
type SemanticSearchConfig {
  enabled: Boolean!
  enabledEntities: [String!]!
}

type TelemetryConfig {
  "Never."
  enableThirdPartyLogging: Boolean
}

interface Entity {
  urn: String!
  type: EntityType!
}

"What the entity's own aspect of properties says."
type EntityProperties {
  name: String
  displayName: String
  qualifiedName: String
  description: String
  externalUrl: String
  customProperties: [CustomPropertiesEntry!]
  email: String
  colorHex: String
  logoUrl: String
  title: String
}

type CustomPropertiesEntry {
  key: String!
  value: String
}

"What people wrote over it."
type EditableProperties {
  name: String
  description: String
}

type CorpUserEditableProperties {
  displayName: String
  title: String
  aboutMe: String
  email: String
}

type SubTypes {
  typeNames: [String!]
}

type Status {
  removed: Boolean!
}

type Deprecation {
  deprecated: Boolean!
  "Epoch milliseconds."
  decommissionTime: Long
  note: String
  actor: String
  replacement: Entity
}

type GlobalTags {
  tags: [TagAssociation!]
}

type TagAssociation {
  tag: Tag!
  context: String
  associatedUrn: String!
}

type GlossaryTerms {
  terms: [GlossaryTermAssociation!]
}

type GlossaryTermAssociation {
  term: GlossaryTerm!
  associatedUrn: String!
}

type Ownership {
  "Users and groups."
  owners: [Owner!]
  lastModified: AuditStamp
}

union OwnerType = CorpUser | CorpGroup

type Owner {
  owner: OwnerType!
  type: String
  ownershipType: OwnershipTypeEntity
  associatedUrn: String!
}

type OwnershipTypeEntity {
  urn: String!
}

type AuditStamp {
  time: Long!
  actor: String
}

type DataProcessInstanceResult {
  start: Int
  count: Int
  total: Int
  runs: [DataProcessInstance]
}

type DomainAssociation {
  domain: Domain!
  associatedUrn: String!
}

type InstitutionalMemory {
  elements: [InstitutionalMemoryMetadata!]!
}

type InstitutionalMemoryMetadata {
  url: String!
  label: String
  description: String
}

type SchemaMetadata {
  name: String
  version: Long
  primaryKeys: [String!]
  fields: [SchemaField!]!
  "Time at which this version was written, in epoch milliseconds."
  createdAt: Long
}

type SchemaField {
  fieldPath: String!
  nullable: Boolean
  description: String
  nativeDataType: String
  tags: GlobalTags
  glossaryTerms: GlossaryTerms
}

type EditableSchemaMetadata {
  editableSchemaFieldInfo: [EditableSchemaFieldInfo!]!
}

type EditableSchemaFieldInfo {
  fieldPath: String!
  description: String
  tags: GlobalTags
  globalTags: GlobalTags
  glossaryTerms: GlossaryTerms
}

input AspectParams {
  "None: all."
  aspectNames: [String!]
}

type RawAspect {
  aspectName: String!
  "JSON text."
  payload: String
}

input RelationshipsInput {
  "Names of relationships."
  types: [String!]!
  direction: RelationshipDirection!
  start: Int
  count: Int
  "False: the page omits soft-deleted entities, and the total does not count those it omits."
  includeSoftDelete: Boolean = true
}

enum RelationshipDirection {
  INCOMING
  OUTGOING
}

type EntityRelationshipsResult {
  start: Int
  count: Int
  total: Int
  relationships: [EntityRelationship!]!
}

type EntityRelationship {
  type: String!
  direction: RelationshipDirection!
  entity: Entity
}
`;
