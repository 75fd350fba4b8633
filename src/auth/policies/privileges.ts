/** Privileges, and the privileges that actions require. Policies grant privileges (policy.ts). */
import { type TokenDuration, tokenDurations } from "../../lib/token-durations.ts";

/** The privileges that the service checks, by their names in policies. Other names grant nothing. */
export const privileges = {
  GENERATE_PERSONAL_ACCESS_TOKENS: "Generate Personal Access Tokens",
  GENERATE_PERSONAL_ACCESS_TOKENS_ONE_HOUR: "Generate Personal Access Tokens for an hour",
  GENERATE_PERSONAL_ACCESS_TOKENS_ONE_DAY: "Generate Personal Access Tokens for a day",
  GENERATE_PERSONAL_ACCESS_TOKENS_ONE_WEEK: "Generate Personal Access Tokens for a week",
  GENERATE_PERSONAL_ACCESS_TOKENS_ONE_MONTH: "Generate Personal Access Tokens for a month",
  GENERATE_PERSONAL_ACCESS_TOKENS_THREE_MONTHS: "Generate Personal Access Tokens for 3 months",
  GENERATE_PERSONAL_ACCESS_TOKENS_SIX_MONTHS: "Generate Personal Access Tokens for 6 months",
  GENERATE_PERSONAL_ACCESS_TOKENS_ONE_YEAR: "Generate Personal Access Tokens for a year",
  MANAGE_ACCESS_TOKENS: "Manage All Access Tokens",
  MANAGE_SERVICE_ACCOUNTS: "Manage Service Accounts",
  MANAGE_POLICIES: "Manage Policies",
  MANAGE_USERS_AND_GROUPS: "Manage Users & Groups",
  MANAGE_USER_CREDENTIALS: "Manage User Credentials",
  MANAGE_SECRETS: "Manage Secrets",
  MANAGE_CONNECTIONS: "Manage Connections",
  MANAGE_GLOBAL_SETTINGS: "Manage Platform Settings",
  MANAGE_DOMAINS: "Manage Domains",
  MANAGE_GLOSSARIES: "Manage Glossaries",
  MANAGE_SYSTEM_OPERATIONS: "Manage System Operations",
  MANAGE_SCHEMA_REGISTRY: "Manage Schema Registry",
  GET_PLATFORM_EVENTS: "Get Platform Events",
  GET_METADATA_CHANGE_LOG_EVENTS: "Get Metadata Change Log Events",
  PRODUCE_PLATFORM_EVENT_PRIVILEGE: "Produce Platform Event",
  RESTORE_INDICES_PRIVILEGE: "Restore Indices",
  GET_ES_TASK_STATUS_PRIVILEGE: "Get Task Status",
  TRUNCATE_TIMESERIES_INDEX_PRIVILEGE: "Truncate Timeseries Index",
  GET_TIMESERIES_INDEX_SIZES_PRIVILEGE: "Get Timeseries Index Sizes",
  MANAGE_TAGS: "Manage Tags",
  MANAGE_STRUCTURED_PROPERTIES: "Manage Structured Properties",
  MANAGE_INGESTION: "Manage Metadata Ingestion",
  MANAGE_TESTS: "Manage Tests",
  MANAGE_GLOBAL_VIEWS: "Manage Public Views",
  MANAGE_GLOBAL_OWNERSHIP_TYPES: "Manage Ownership Types",
  MANAGE_GLOBAL_ANNOUNCEMENTS: "Manage Announcements",
  CREATE_GLOBAL_ANNOUNCEMENTS: "Create Announcements",
  MANAGE_HOME_PAGE_TEMPLATES: "Manage Home Page Templates",
  MANAGE_DOCUMENTS: "Manage Documents",
  MANAGE_DOCUMENTATION_FORMS: "Manage Documentation Forms",
  CREATE_BUSINESS_ATTRIBUTE: "Create Business Attribute",
  MANAGE_BUSINESS_ATTRIBUTE: "Manage Business Attribute",
  CREATE_LOGICAL_MODELS: "Create Logical Models",
  MANAGE_DATA_PRODUCTS: "Manage Data Products",
  VIEW_TESTS: "View Tests",
  MANAGE_APPLICATIONS: "Manage Applications",
  MANAGE_FEATURES: "Manage Features",
  VIEW_STRUCTURED_PROPERTIES_PAGE: "View Structured Properties Page",
  VIEW_MANAGE_TAGS: "View Manage Tags",
  VIEW_ANALYTICS: "View Analytics",
  GET_ANALYTICS_PRIVILEGE: "Get Analytics",
  CREATE_DOMAINS: "Create Domains",
  CREATE_TAGS: "Create Tags",
  CREATE_ENTITY: "Create Entity",
  EDIT_ENTITY: "Edit Entity",
  EDIT_ENTITY_TAGS: "Edit Tags",
  EDIT_ENTITY_GLOSSARY_TERMS: "Edit Glossary Terms",
  EDIT_ENTITY_OWNERS: "Edit Owners",
  EDIT_ENTITY_DOC_LINKS: "Edit Links",
  EDIT_DOMAINS_PRIVILEGE: "Edit Domain",
  EDIT_DEPRECATION_PRIVILEGE: "Edit Deprecation",
  EDIT_ENTITY_STATUS: "Edit Status",
  EDIT_ENTITY_DOCS: "Edit Description",
  EDIT_ENTITY_EMBED: "Edit Embedded Content",
  EDIT_ENTITY_PROPERTIES: "Edit Properties",
  EDIT_ENTITY_DATA_PRODUCTS: "Edit Data Products",
  EDIT_ENTITY_APPLICATIONS_PRIVILEGE: "Edit Applications",
  EDIT_DATASET_COL_TAGS: "Edit Dataset Column Tags",
  EDIT_DATASET_COL_GLOSSARY_TERMS: "Edit Dataset Column Glossary Terms",
  EDIT_DATASET_COL_DESCRIPTION: "Edit Dataset Column Descriptions",
  EDIT_DATASET_COL_BUSINESS_ATTRIBUTE_PRIVILEGE: "Edit Dataset Column Business Attribute",
  CREATE_ENTITY_ER_MODEL_RELATIONSHIP: "Create ER Model Relationship",
  MANAGE_ASSET_SUMMARY: "Manage Asset Summary",
  EDIT_LINEAGE: "Edit Lineage",
  EDIT_CONTACT_INFO: "Edit Contact Information",
  EDIT_USER_PROFILE: "Edit User Profile",
  EDIT_ENTITY_INCIDENTS: "Edit Incidents",
  EDIT_ENTITY_ASSERTIONS: "Edit Assertions",
  EDIT_ENTITY_ASSERTION_OWNERS: "Edit Assertion Owners",
  EDIT_ENTITY_DATA_CONTRACT: "Edit Contract",
  EDIT_ENTITY_OPERATIONS: "Edit Operations",
  EDIT_ENTITY_QUERIES: "Edit Queries",
  MANAGE_GLOSSARY_CHILDREN: "Manage Direct Glossary Children",
  MANAGE_ALL_GLOSSARY_CHILDREN: "Manage All Glossary Children",
  VIEW_DATASET_USAGE: "View Dataset Usage",
  VIEW_DATASET_PROFILE: "View Dataset Profile",
  VIEW_DATASET_OPERATIONS: "View Dataset Operations",
  DELETE_ENTITY: "Delete Entity",
  VIEW_ENTITY_PAGE: "View Entity Page",
  GET_ENTITY_PRIVILEGE: "Get Entity",
} as const;

export type Privilege = keyof typeof privileges;

/** Any of these, each all of its members. */
export type PrivilegeAlternatives = readonly (readonly Privilege[])[];

/**
 * The privileges to create personal tokens with this duration; of any duration when absent. The
 * privilege of a duration includes shorter ones.
 */
export function toGenerateTokens(duration?: TokenDuration): PrivilegeAlternatives {
  const bounds = tokenDurations.slice(
    duration === undefined ? 0 : tokenDurations.indexOf(duration),
  );
  const bounded = bounds.flatMap((bound) =>
    bound === "NO_EXPIRY" ? [] : [[`GENERATE_PERSONAL_ACCESS_TOKENS_${bound}`] as const],
  );
  return [["GENERATE_PERSONAL_ACCESS_TOKENS"], ...bounded];
}

/** To read, create and revoke the tokens of others. */
export const toManageTokens: PrivilegeAlternatives = [
  ["MANAGE_ACCESS_TOKENS"],
  ["EDIT_ENTITY", "DELETE_ENTITY"],
];

export const toManageUsers: PrivilegeAlternatives = [["MANAGE_USERS_AND_GROUPS"]];

export const toManageSettings: PrivilegeAlternatives = [["MANAGE_GLOBAL_SETTINGS"]];

export const toManageConnections: PrivilegeAlternatives = [["MANAGE_CONNECTIONS"]];

export const toManageIngestion: PrivilegeAlternatives = [["MANAGE_INGESTION"]];

/** To read an entity with read authorization: any of these. */
export const toRead = [
  ["VIEW_ENTITY_PAGE"],
  ["GET_ENTITY_PRIVILEGE"],
  ["EDIT_ENTITY"],
  ["DELETE_ENTITY"],
] as const satisfies PrivilegeAlternatives;

/** Privileges as text: `Manage Policies`, `A, or B and C`. */
export const alternativesText = (alternatives: PrivilegeAlternatives): string =>
  alternatives
    .map((all) => all.map((privilege) => privileges[privilege]).join(" and "))
    .join(", or ");
