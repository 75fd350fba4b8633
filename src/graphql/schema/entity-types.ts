/**
 * Entity types as members of the enum EntityType. Clients of DataHub derive most names from the
 * model's; some types have another name for historical reasons.
 */
import { ownValue } from "../../lib/own-value.ts";

const TRADITIONAL: Readonly<Record<string, string>> = {
  corpuser: "CORP_USER",
  mlModel: "MLMODEL",
  mlModelGroup: "MLMODEL_GROUP",
  mlModelDeployment: "MLMODEL_DEPLOYMENT",
  mlFeatureTable: "MLFEATURE_TABLE",
  mlFeature: "MLFEATURE",
  mlPrimaryKey: "MLPRIMARY_KEY",
  ownershipType: "CUSTOM_OWNERSHIP_TYPE",
  dataHubPolicy: "DATAHUB_POLICY",
  dataHubRole: "DATAHUB_ROLE",
  dataHubView: "DATAHUB_VIEW",
  dataHubConnection: "DATAHUB_CONNECTION",
  dataHubPageTemplate: "DATAHUB_PAGE_TEMPLATE",
  dataHubPageModule: "DATAHUB_PAGE_MODULE",
  dataHubFile: "DATAHUB_FILE",
};

/** Entity types with their own type in the schema; all others are a CatalogEntity. */
export const typenames: Readonly<Record<string, string>> = {
  dataset: "Dataset",
  chart: "Chart",
  dashboard: "Dashboard",
  dataJob: "DataJob",
  dataFlow: "DataFlow",
  dataProcessInstance: "DataProcessInstance",
  container: "Container",
  corpGroup: "CorpGroup",
  domain: "Domain",
  dataProduct: "DataProduct",
  glossaryTerm: "GlossaryTerm",
  glossaryNode: "GlossaryNode",
  tag: "Tag",
  mlModel: "MLModel",
  mlModelGroup: "MLModelGroup",
  mlFeature: "MLFeature",
  mlFeatureTable: "MLFeatureTable",
  mlPrimaryKey: "MLPrimaryKey",
  notebook: "Notebook",
  document: "Document",
  dataPlatform: "DataPlatform",
  dataPlatformInstance: "DataPlatformInstance",
  schemaField: "SchemaFieldEntity",
  assertion: "Assertion",
  versionSet: "VersionSet",
  corpuser: "CorpUser",
  role: "Role",
  dataHubPolicy: "DataHubPolicy",
  dataHubRole: "DataHubRole",
  dataHubView: "DataHubView",
  dataHubConnection: "DataHubConnection",
  dataHubExecutionRequest: "ExecutionRequest",
  dataHubFile: "DataHubFile",
  dataHubPageModule: "DataHubPageModule",
  dataHubPageTemplate: "DataHubPageTemplate",
  query: "QueryEntity",
  erModelRelationship: "ERModelRelationship",
  post: "Post",
  application: "Application",
  ownershipType: "OwnershipTypeEntity",
  entityType: "EntityTypeEntity",
  dataType: "DataTypeEntity",
  businessAttribute: "BusinessAttribute",
  form: "Form",
  incident: "Incident",
  metric: "Metric",
  semanticModel: "SemanticModel",
  structuredProperty: "StructuredPropertyEntity",
  test: "Test",
  dataContract: "DataContract",
};

/** `glossaryTerm` → GLOSSARY_TERM, `dataHubPolicy` → POLICY */
export const shownType = (entityType: string): string =>
  ownValue(TRADITIONAL, entityType) ?? derivedType(entityType);

const derivedType = (entityType: string): string =>
  entityType
    .replace(/[A-Z]/g, (letter) => `_${letter}`)
    .toUpperCase()
    .replace(/^_/, "")
    .replace(/^DATA_HUB_/, "");

/** Alternative names, for clients that derive names by another rule. */
const alsoShownAs = (entityType: string): readonly string[] => {
  const derived = derivedType(entityType);
  return entityType.startsWith("dataHub") ? [derived, `DATAHUB_${derived}`] : [derived];
};

/** Members of the enum that are no entity type of the model. */
const withoutEntities = ["ACCESS_TOKEN", "CORP_USER", "RESTRICTED", "OTHER"];

export interface EntityTypes {
  /** The model's names. */
  readonly names: ReadonlySet<string>;
  /** Members of the enum. */
  readonly members: readonly string[];
  /** The model's name; undefined for a member without an entity type. */
  find(member: string): string | undefined;
}

export function entityTypesOf(entityNames: Iterable<string>): EntityTypes {
  const names = new Set(entityNames);
  const found = new Map<string, string>();
  for (const name of names) {
    for (const member of [shownType(name), ...alsoShownAs(name)]) {
      if (!found.has(member)) found.set(member, name);
    }
  }
  const members = new Set([...found.keys(), ...withoutEntities]);
  return { names, members: [...members], find: (member) => found.get(member) };
}
