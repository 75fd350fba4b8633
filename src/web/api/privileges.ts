/** The privileges of the signed-in user: the page offers only actions that they allow. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { queryGraphql, sessionStore } from "./http.ts";
import { typeOf } from "./urn.ts";

const query = `query ($input: GetGrantedPrivilegesInput!) {
  getGrantedPrivileges(input: $input) { privileges }
}`;

interface Reply {
  readonly getGrantedPrivileges: { readonly privileges: readonly string[] } | null;
}

/** `dataJob` → `DATA_JOB`, `mlModel` → `MLMODEL`, as GraphQL names the types of entities. */
const graphqlType = (type: string): string =>
  type === "corpuser"
    ? "CORP_USER"
    : type
        .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
        .toUpperCase()
        .replace(/^ML_/, "ML");

async function readPrivileges(urn: string): Promise<ReadonlySet<string>> {
  const actorUrn = sessionStore.get().actor;
  const resourceSpec =
    urn === "" ? undefined : { resourceType: graphqlType(typeOf(urn)), resourceUrn: urn };
  const { getGrantedPrivileges: granted } = await queryGraphql<Reply>(query, {
    input: { actorUrn, resourceSpec },
  });
  return new Set(granted?.privileges);
}

/** The privileges on an entity; without a urn, on the platform. */
export const privilegesQuery = (urn: string) =>
  queryOptions({
    queryKey: ["privileges", urn],
    queryFn: () => readPrivileges(urn),
    staleTime: 60_000,
    retry: false,
    enabled: sessionStore.get().signInRequired,
  });

/** True for an action that the user may take, by the privileges of which it needs one. */
export type May = (...anyOf: readonly string[]) => boolean;

/**
 * Everything is offered where nobody signs in, and where the privileges cannot be read: the service
 * checks each write.
 */
export function useMay(urn = ""): May {
  const { signInRequired } = sessionStore.get();
  const { data, error } = useQuery(privilegesQuery(urn));
  return (...anyOf) =>
    !signInRequired || error !== null || anyOf.some((privilege) => data?.has(privilege) === true);
}

/** Privileges that each allow writing one aspect. */
const aspectPrivileges = new Map<string, string>([
  ["globalTags", "EDIT_ENTITY_TAGS"],
  ["glossaryTerms", "EDIT_ENTITY_GLOSSARY_TERMS"],
  ["ownership", "EDIT_ENTITY_OWNERS"],
  ["institutionalMemory", "EDIT_ENTITY_DOC_LINKS"],
  ["domains", "EDIT_DOMAINS_PRIVILEGE"],
  ["deprecation", "EDIT_DEPRECATION_PRIVILEGE"],
  ["status", "EDIT_ENTITY_STATUS"],
  ["structuredProperties", "EDIT_ENTITY_PROPERTIES"],
  ["upstreamLineage", "EDIT_LINEAGE"],
  ["editableDatasetProperties", "EDIT_ENTITY_DOCS"],
  ["editableChartProperties", "EDIT_ENTITY_DOCS"],
  ["editableDashboardProperties", "EDIT_ENTITY_DOCS"],
  ["editableDataFlowProperties", "EDIT_ENTITY_DOCS"],
  ["editableDataJobProperties", "EDIT_ENTITY_DOCS"],
  ["editableNotebookProperties", "EDIT_ENTITY_DOCS"],
]);

/** Privileges that each allow writing all entities of a type. */
const managers = new Map<string, string>([
  ["corpuser", "MANAGE_USERS_AND_GROUPS"],
  ["corpGroup", "MANAGE_USERS_AND_GROUPS"],
  ["domain", "MANAGE_DOMAINS"],
  ["glossaryTerm", "MANAGE_GLOSSARIES"],
  ["glossaryNode", "MANAGE_GLOSSARIES"],
  ["tag", "MANAGE_TAGS"],
  ["structuredProperty", "MANAGE_STRUCTURED_PROPERTIES"],
  ["document", "MANAGE_DOCUMENTS"],
  ["dataHubPolicy", "MANAGE_POLICIES"],
  ["dataHubRole", "MANAGE_POLICIES"],
]);

const memberships = ["roleMembership", "groupMembership", "nativeGroupMembership"];

/** Aspects of access control: only the manager of the type writes them. */
const managedAspects = new Map<string, ReadonlySet<string>>([
  ["corpuser", new Set([...memberships, "status", "corpUserStatus", "corpUserCredentials"])],
  ["corpGroup", new Set([...memberships, "status", "ownership"])],
]);

/** The types of which only the manager writes any aspect. */
const managedTypes: ReadonlySet<string> = new Set(["dataHubPolicy", "dataHubRole"]);

const present = (values: readonly (string | undefined)[]): readonly string[] =>
  values.filter((value) => value !== undefined);

/** The privileges of which one allows writing an aspect of an entity. */
function privilegesToWrite(urn: string, aspect: string): readonly string[] {
  const type = typeOf(urn);
  const manager = managers.get(type);
  if (managedTypes.has(type) || managedAspects.get(type)?.has(aspect) === true) {
    return present([manager]);
  }
  return present(["EDIT_ENTITY", aspectPrivileges.get(aspect), manager]);
}

/** The aspects that an edit of the description writes. Descriptions of other types are not edited. */
export const descriptionAspects: ReadonlyMap<string, string> = new Map<string, string>([
  ["dataset", "editableDatasetProperties"],
  ["chart", "editableChartProperties"],
  ["dashboard", "editableDashboardProperties"],
  ["dataJob", "editableDataJobProperties"],
  ["dataFlow", "editableDataFlowProperties"],
  ["container", "editableContainerProperties"],
  ["corpGroup", "corpGroupEditableInfo"],
  ["domain", "domainProperties"],
  ["dataProduct", "dataProductProperties"],
  ["glossaryTerm", "glossaryTermInfo"],
  ["glossaryNode", "glossaryNodeInfo"],
  ["tag", "tagProperties"],
  ["mlModel", "editableMlModelProperties"],
  ["mlModelGroup", "editableMlModelGroupProperties"],
  ["mlFeature", "editableMlFeatureProperties"],
  ["mlFeatureTable", "editableMlFeatureTableProperties"],
  ["mlPrimaryKey", "editableMlPrimaryKeyProperties"],
  ["notebook", "editableNotebookProperties"],
  ["document", "documentInfo"],
]);

/** True for an aspect of the entity that the user may write. */
export function useMayWrite(urn: string): (aspect: string) => boolean {
  const may = useMay(urn);
  return (aspect) => may(...privilegesToWrite(urn, aspect));
}

/** True where the user may edit the description of the entity. */
export function useMayDescribe(urn: string): boolean {
  const mayWrite = useMayWrite(urn);
  const aspect = descriptionAspects.get(typeOf(urn));
  return aspect !== undefined && mayWrite(aspect);
}

/** True where the user may delete aspects of the entity. */
export function useMayDelete(urn: string): boolean {
  const may = useMay(urn);
  const type = typeOf(urn);
  const manager = managers.get(type);
  return managedTypes.has(type)
    ? may(...present([manager]))
    : may(...present(["DELETE_ENTITY", manager]));
}

/** The platform privileges of which one allows creating an entity of a type. */
const creators = new Map<string, readonly string[]>([
  ["tag", ["CREATE_TAGS", "MANAGE_TAGS"]],
  ["domain", ["CREATE_DOMAINS", "MANAGE_DOMAINS"]],
  ["glossaryTerm", ["MANAGE_GLOSSARIES"]],
  ["glossaryNode", ["MANAGE_GLOSSARIES"]],
  ["dataProduct", ["MANAGE_DATA_PRODUCTS", "CREATE_ENTITY", "EDIT_ENTITY"]],
  ["corpGroup", ["MANAGE_USERS_AND_GROUPS"]],
]);

export const privilegesToCreate = (type: string): readonly string[] => creators.get(type) ?? [];

/** Durations of tokens, the shortest first. A privilege for one of them covers the shorter ones. */
const tokenDurations = [
  "ONE_HOUR",
  "ONE_DAY",
  "ONE_WEEK",
  "ONE_MONTH",
  "THREE_MONTHS",
  "SIX_MONTHS",
  "ONE_YEAR",
] as const;

export type TokenDuration = (typeof tokenDurations)[number] | "NO_EXPIRY";

/** The privileges of which one allows creating tokens of a duration; without one, of any duration. */
export function privilegesForTokens(duration?: TokenDuration): readonly string[] {
  const bounded =
    duration === "NO_EXPIRY"
      ? []
      : tokenDurations.slice(duration === undefined ? 0 : tokenDurations.indexOf(duration));
  return [
    "GENERATE_PERSONAL_ACCESS_TOKENS",
    "MANAGE_ACCESS_TOKENS",
    ...bounded.map((bound) => `GENERATE_PERSONAL_ACCESS_TOKENS_${bound}`),
  ];
}
