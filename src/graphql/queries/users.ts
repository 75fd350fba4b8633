/** Users as fields show them, and the viewer's privileges on tokens, policies and users. */
import { type Privilege, toGenerateTokens } from "../../auth/policies/privileges.ts";
import type { Viewer } from "../context.ts";
import { entityOf } from "./entity-source.ts";

export function userOf(urn: string, { entities }: Viewer) {
  return {
    ...entityOf(urn),
    properties: async () => (await entities.find(urn))?.corpUserInfo,
  };
}

export async function me(_: never, __: never, viewer: Viewer) {
  const { authority, actor = "" } = viewer;
  const may = (privilege: Privilege) => () => authority.allows(actor, [[privilege]]);
  return {
    corpUser: userOf(actor, viewer),
    platformPrivileges: {
      generatePersonalAccessTokens: () => authority.allows(actor, toGenerateTokens()),
      manageTokens: may("MANAGE_ACCESS_TOKENS"),
      manageServiceAccounts: may("MANAGE_SERVICE_ACCOUNTS"),
      managePolicies: may("MANAGE_POLICIES"),
      manageIdentities: may("MANAGE_USERS_AND_GROUPS"),
    },
  };
}
