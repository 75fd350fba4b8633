/** The privileges of the signed-in user: the page offers only actions that they allow. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { queryGraphql, sessionStore } from "./http.ts";
import { graphqlType } from "./type-names.ts";
import { typeOf } from "./urn.ts";

const query = `query ($input: GetGrantedPrivilegesInput!) {
  getGrantedPrivileges(input: $input) { privileges }
}`;

interface Reply {
  readonly getGrantedPrivileges: { readonly privileges: readonly string[] } | null;
}

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

/** As `useMay`, for writes that are authorized only with write authorization. */
export function useMayChange(urn = ""): May {
  const may = useMay(urn);
  return sessionStore.get().writeAuthorization ? may : () => true;
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
  ["dataHubAccessToken", "MANAGE_ACCESS_TOKENS"],
  ["dataHubSecret", "MANAGE_SECRETS"],
  ["dataHubConnection", "MANAGE_CONNECTIONS"],
  ["inviteToken", "MANAGE_USERS_AND_GROUPS"],
  ["globalSettings", "MANAGE_GLOBAL_SETTINGS"],
]);

const memberships = ["roleMembership", "groupMembership", "nativeGroupMembership"];

/** Writes that always need a privilege: aspects of access control, or all aspects of the type. */
const managedAspects = new Map<string, ReadonlySet<string> | "all">([
  [
    "corpuser",
    new Set([...memberships, "status", "corpUserStatus", "corpUserCredentials", "subTypes"]),
  ],
  ["corpGroup", new Set([...memberships, "status", "ownership"])],
  ["dataHubConnection", new Set(["dataHubConnectionDetails"])],
  ["dataHubPolicy", "all"],
  ["dataHubRole", "all"],
  ["dataHubAccessToken", "all"],
  ["dataHubSecret", "all"],
  ["inviteToken", "all"],
  ["globalSettings", "all"],
]);

const isManaged = (type: string, aspect: string): boolean => {
  const managed = managedAspects.get(type);
  return managed === "all" || managed?.has(aspect) === true;
};

const present = (values: readonly (string | undefined)[]): readonly string[] =>
  values.filter((value) => value !== undefined);

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

/** True for an aspect of the entity that one of the privileges, or the manager of its type, may write. */
function useMayEdit(urn: string): (aspect: string, ...anyOf: readonly string[]) => boolean {
  const [may, mayChange] = [useMay(urn), useMayChange(urn)];
  const type = typeOf(urn);
  const manager = present([managers.get(type)]);
  return (aspect, ...anyOf) =>
    isManaged(type, aspect) ? may(...manager) : mayChange(...anyOf, ...manager);
}

/** True for an aspect of the entity that the user may write. */
export function useMayWrite(urn: string): (aspect: string) => boolean {
  const mayEdit = useMayEdit(urn);
  return (aspect) => mayEdit(aspect, "EDIT_ENTITY", ...present([aspectPrivileges.get(aspect)]));
}

/** True where the user may edit the description of the entity. */
export function useMayDescribe(urn: string): boolean {
  const mayWrite = useMayWrite(urn);
  const aspect = descriptionAspects.get(typeOf(urn));
  return aspect !== undefined && mayWrite(aspect);
}

/** True for an aspect of the entity that the user may delete. */
export function useMayDelete(urn: string): (aspect: string) => boolean {
  const mayEdit = useMayEdit(urn);
  return (aspect) => mayEdit(aspect, "DELETE_ENTITY");
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

/** True for a type of which the user may create entities. Creating a group writes a managed aspect. */
export function useMayCreate(): (type: string) => boolean {
  const [may, mayChange] = [useMay(), useMayChange()];
  return (type) => (type === "corpGroup" ? may : mayChange)(...(creators.get(type) ?? []));
}

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
