/**
 * May they? The one place where policies are judged: those that are stored, and the defaults that
 * nobody has written. Policies are read for each question, since the questions are few (tokens,
 * policies, users, operations) and an answer from before an edit would be wrong.
 */
import { CatalogError } from "../core/errors.ts";
import { defaultPolicies, rootUserId } from "./default-policies.ts";
import { meets, type Policy, type Principal } from "./policy.ts";
import { findPrincipal, findResource } from "./principals.ts";
import type { Demand } from "./privileges.ts";
import type { StoredEntities } from "./stored-entities.ts";

/** What the question is about: an entity, or those of a type. */
export interface About {
  readonly urn?: string | undefined;
  readonly entityType: string;
}

/** What a user's questions are judged by. */
export interface Grounds {
  readonly principal: Principal;
  readonly policies: readonly Policy[];
}

export interface Authority {
  /** Nobody (undefined) may nothing, the system everything. */
  allows(actor: string | undefined, demand: Demand, about?: About): Promise<boolean>;
  /** Undefined for a user who is removed or suspended, and may do nothing. */
  grounds(actor: string): Promise<Grounds | undefined>;
}

export function createAuthority(
  entities: StoredEntities,
  { namespace }: { readonly namespace: string },
): Authority {
  const defaults = [...defaultPolicies(namespace)];
  const urns = defaults.map(([id]) => `urn:${namespace}:dataHubPolicy:${id}`);
  const root = `urn:${namespace}:corpuser:${rootUserId}`;
  // Access tokens of a suspended root user are refused like any; the operator's token is not one.
  const alone: Principal = { urn: root, groups: [], roles: [] };
  const systemActor = `urn:${namespace}:corpuser:__datahub_system`;

  // Whatever somebody may have written under their urns.
  const always = defaults.flatMap(([, policy]) => (policy.editable ? [] : [policy]));

  async function policies(): Promise<readonly Policy[]> {
    const found: Policy[] = [...always];
    for (const { dataHubPolicyInfo } of (await entities.list("dataHubPolicy", urns)).values()) {
      if (dataHubPolicyInfo !== undefined) found.push(dataHubPolicyInfo as Policy);
    }
    return found;
  }

  async function principalOf(actor: string): Promise<Principal | undefined> {
    if (actor !== root) return findPrincipal(entities, actor);
    try {
      return (await findPrincipal(entities, actor)) ?? alone;
    } catch (error) {
      // Whoever mends the aspect view must get in while it cannot be read.
      if (error instanceof CatalogError && error.code === "unavailable") return alone;
      throw error;
    }
  }

  async function grounds(actor: string): Promise<Grounds | undefined> {
    const principal = await principalOf(actor);
    return principal && { principal, policies: await policies() };
  }

  return {
    grounds,
    async allows(actor, demand, about) {
      if (actor === undefined) return false;
      if (actor === systemActor) return true;
      const principal = await principalOf(actor);
      if (principal === undefined) return false;
      const resource = about && (await findResource(entities, about.urn, about.entityType));
      // Others are listed in the aspect view: whoever mends that must get in while it stands still.
      if (meets(always, principal, demand, resource)) return true;
      return meets(await policies(), principal, demand, resource);
    },
  };
}
