/**
 * Evaluates policies. Each check reads them again: checks are few (tokens, policies, users, operations),
 * and a cached result would be wrong after an edit. The fixed policies always apply, even while the
 * stored ones cannot be read.
 */
import { CatalogError } from "../../core/errors.ts";
import { rootUserId } from "../../core/urn.ts";
import type { StoredEntities } from "../stored-entities.ts";
import type { FixedPolicies } from "./fixed-policies.ts";
import { meets, type Policy, type Principal } from "./policy.ts";
import { findPrincipal, findResource } from "./principals.ts";
import type { PrivilegeAlternatives } from "./privileges.ts";

/** The resource of a check: an entity, or all of a type. */
export interface About {
  readonly urn?: string | undefined;
  readonly entityType: string;
}

/** The input of checks for one user. */
export interface AuthContext {
  readonly principal: Principal;
  readonly policies: readonly Policy[];
}

export interface Authority {
  /** False without an actor; always true for the system actor. */
  allows(
    actor: string | undefined,
    alternatives: PrivilegeAlternatives,
    about?: About,
  ): Promise<boolean>;
  /** Undefined for a removed or suspended user, who has no privileges. */
  authContext(actor: string): Promise<AuthContext | undefined>;
}

export function createAuthority(
  entities: StoredEntities,
  {
    namespace,
    fixedPolicies,
  }: { readonly namespace: string; readonly fixedPolicies: FixedPolicies },
): Authority {
  const root = `urn:${namespace}:corpuser:${rootUserId}`;
  // Access tokens of a suspended root user are rejected; the admin token is no access token.
  const alone: Principal = { urn: root, groups: [], roles: [] };
  const systemActor = `urn:${namespace}:corpuser:__datahub_system`;

  const always = [...fixedPolicies.values()];

  async function policies(): Promise<readonly Policy[]> {
    const found: Policy[] = [...always];
    for (const [urn, { dataHubPolicyInfo }] of await entities.list("dataHubPolicy")) {
      if (dataHubPolicyInfo === undefined || fixedPolicies.has(urn)) continue;
      found.push(dataHubPolicyInfo as Policy);
    }
    return found;
  }

  async function principalOf(actor: string): Promise<Principal | undefined> {
    if (actor !== root) return findPrincipal(entities, actor);
    try {
      return (await findPrincipal(entities, actor)) ?? alone;
    } catch (error) {
      // The root user repairs the aspect view, and needs access while it cannot be read.
      if (error instanceof CatalogError && error.code === "unavailable") return alone;
      throw error;
    }
  }

  async function authContext(actor: string): Promise<AuthContext | undefined> {
    const principal = await principalOf(actor);
    return principal && { principal, policies: await policies() };
  }

  return {
    authContext,
    async allows(actor, alternatives, about) {
      if (actor === undefined) return false;
      if (actor === systemActor) return true;
      const principal = await principalOf(actor);
      if (principal === undefined) return false;
      const resource = about && (await findResource(entities, about.urn, about.entityType));
      // Stored policies come from the aspect view; the fixed ones work while it is unavailable.
      if (meets(always, principal, alternatives, resource)) return true;
      return meets(await policies(), principal, alternatives, resource);
    },
  };
}
