/** The privileges that the form for policies offers: of the platform, and of each type of resource. */
import { type Privilege, privileges } from "../../../auth/policies/privileges.ts";
import { shownType } from "../../schema/entity-types.ts";

interface Offered {
  readonly type: string;
  readonly displayName: string;
  readonly description: string;
}

const offered = (names: readonly Privilege[]): readonly Offered[] =>
  // Safe lookup: `names` is a closed list.
  names.map((type) => ({ type, displayName: privileges[type], description: privileges[type] }));

const reads: readonly Privilege[] = ["VIEW_ENTITY_PAGE", "GET_ENTITY_PRIVILEGE"];

const common: readonly Privilege[] = [
  ...reads,
  ...(["EDIT_ENTITY", "CREATE_ENTITY", "DELETE_ENTITY", "EDIT_ENTITY_STATUS"] as const),
  ...(["EDIT_ENTITY_TAGS", "EDIT_ENTITY_GLOSSARY_TERMS", "EDIT_ENTITY_OWNERS"] as const),
  ...(["EDIT_ENTITY_DOCS", "EDIT_ENTITY_DOC_LINKS", "EDIT_ENTITY_PROPERTIES"] as const),
  ...(["EDIT_DOMAINS_PRIVILEGE", "EDIT_DEPRECATION_PRIVILEGE"] as const),
  ...(["EDIT_ENTITY_DATA_PRODUCTS", "MANAGE_ASSET_SUMMARY"] as const),
];

const asset: readonly Privilege[] = [...common, "EDIT_LINEAGE", "EDIT_ENTITY_INCIDENTS"];

const dataset: readonly Privilege[] = [
  ...asset,
  ...(["EDIT_ENTITY_ASSERTIONS", "EDIT_ENTITY_ASSERTION_OWNERS", "EDIT_ENTITY_QUERIES"] as const),
  ...(["EDIT_ENTITY_DATA_CONTRACT", "EDIT_ENTITY_OPERATIONS"] as const),
  ...(["EDIT_ENTITY_EMBED", "EDIT_DATASET_COL_TAGS"] as const),
  ...(["EDIT_DATASET_COL_GLOSSARY_TERMS", "EDIT_DATASET_COL_DESCRIPTION"] as const),
  ...(["VIEW_DATASET_USAGE", "VIEW_DATASET_PROFILE", "VIEW_DATASET_OPERATIONS"] as const),
];

const glossary: readonly Privilege[] = [
  ...common,
  ...(["MANAGE_GLOSSARY_CHILDREN", "MANAGE_ALL_GLOSSARY_CHILDREN"] as const),
];

type Resource = readonly [type: string, displayName: string, names: readonly Privilege[]];

const resources: readonly Resource[] = [
  ["dataset", "Datasets", dataset],
  ["dashboard", "Dashboards", [...asset, "EDIT_ENTITY_EMBED"]],
  ["chart", "Charts", [...asset, "EDIT_ENTITY_EMBED"]],
  ["dataFlow", "Data Pipelines", asset],
  ["dataJob", "Data Tasks", asset],
  ["tag", "Tags", common],
  ["container", "Containers", common],
  ["domain", "Domains", common],
  ["dataProduct", "Data Products", common],
  ["application", "Applications", common],
  ["glossaryTerm", "Glossary Terms", common],
  ["glossaryNode", "Glossary Term Groups", glossary],
  ["corpGroup", "Groups", common],
  ["corpuser", "Users", common],
  ["notebook", "Notebooks", common],
  ["document", "Documents", common],
  ["dataPlatformInstance", "Platform Instances", common],
  ["mlModel", "ML Models", asset],
  ["mlModelGroup", "ML Model Groups", asset],
  ["mlFeature", "ML Features", asset],
  ["mlFeatureTable", "ML Feature Tables", asset],
  ["mlPrimaryKey", "ML Primary Keys", asset],
  ["structuredProperty", "Structured Properties", common],
  ["form", "Forms", common],
];

const ofResources = new Set(resources.flatMap(([, , names]) => names));

export const policiesConfig = {
  enabled: true,
  platformPrivileges: offered(
    (Object.keys(privileges) as Privilege[]).filter((name) => !ofResources.has(name)),
  ),
  resourcePrivileges: [
    ...resources.map(([resourceType, resourceTypeDisplayName, names]) => ({
      resourceType,
      resourceTypeDisplayName,
      entityType: shownType(resourceType),
      privileges: offered(names),
    })),
    {
      resourceType: "all",
      resourceTypeDisplayName: "All Types",
      entityType: null,
      privileges: offered([...ofResources]),
    },
  ],
};
