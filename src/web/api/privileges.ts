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

const aspectPrivileges = new Map<string, string>([
  ["globalTags", "EDIT_ENTITY_TAGS"],
  ["glossaryTerms", "EDIT_ENTITY_GLOSSARY_TERMS"],
  ["ownership", "EDIT_ENTITY_OWNERS"],
  ["institutionalMemory", "EDIT_ENTITY_DOC_LINKS"],
  ["domains", "EDIT_DOMAINS_PRIVILEGE"],
  ["deprecation", "EDIT_DEPRECATION_PRIVILEGE"],
  ["structuredProperties", "EDIT_ENTITY_PROPERTIES"],
]);

/** The privileges of which one allows writing an aspect. */
export const privilegesToWrite = (aspect: string): readonly string[] => {
  const own = aspectPrivileges.get(aspect);
  return own === undefined ? ["EDIT_ENTITY"] : ["EDIT_ENTITY", own];
};
