/**
 * Assembles the authorized catalog. Deleting a user revokes their tokens. With token authentication,
 * writes to access control and reads of restricted entities need privileges. With read authorization,
 * policies decide about all other reads.
 */

import type { AccessContext } from "../../catalog/access/access-filter.ts";
import type { Catalog, Proposal } from "../../catalog/catalog.ts";
import type { EntityState } from "../../core/entity-state.ts";
import type { PatchRules } from "../../core/patch/patch.ts";
import type { Model } from "../../model/model.ts";
import type { OpenedAccess } from "../open-auth.ts";
import { type FixedPolicies, keepFixedPolicies } from "../policies/fixed-policies.ts";
import type { PolicyExpansion } from "../policies/policy-expansion.ts";
import type { FilterFields } from "../policies/policy-filter.ts";
import { sealWrites } from "../sign-in/sealed-writes.ts";
import { revokeTokensOnUserDelete } from "../tokens/revoke-on-user-delete.ts";
import { authorizePrivilegedWrites, privilegedTypes } from "./privileged-writes.ts";
import { createReadAuthority } from "./read-authority.ts";
import { restrictedNames } from "./restricted-entities.ts";
import { keepUndeletable } from "./undeletable-entities.ts";
import { authorizeWrites } from "./write-authority.ts";

interface AuthorizedCatalog {
  /** For internal callers: only passwords and invites are hidden. */
  readonly catalog: Catalog;
  /** The catalog of one user. */
  readonly catalogFor: (actor: string | undefined) => Catalog;
}

interface Parts {
  readonly catalog: Catalog & {
    authorizedFor(context: AccessContext): Catalog;
    peek(urn: string): EntityState | undefined;
  };
  readonly access: Pick<OpenedAccess, "authority" | "entities" | "tokens">;
  readonly model: Model;
  /** The urn of a proposal's entity; undefined when it has no valid one. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  readonly namespace: string;
  readonly fixedPolicies: FixedPolicies;
  readonly undeletableEntities: ReadonlySet<string>;
  /** True with token authentication. */
  readonly required: boolean;
  /** Absent without read authorization. */
  readonly filterFields?: FilterFields | undefined;
  /** Absent without write authorization. */
  readonly patchRules?: PatchRules | undefined;
  /** With filterFields. */
  readonly policyExpansion?: PolicyExpansion | undefined;
  readonly now: () => number;
}

export function authorizeCatalog(parts: Parts): AuthorizedCatalog {
  const { access, model, namespace, required, filterFields, urnOf } = parts;
  const systemActor = `urn:${namespace}:corpuser:__datahub_system`;
  const { authority, tokens } = access;
  const ending = { tokens, urnOf, namespace, systemActor };
  const { fixedPolicies, undeletableEntities } = parts;
  const own = { fixedPolicies, urnOf, namespace, systemActor };
  const { entities } = access;
  const keeping = { undeletableEntities, entities, model, urnOf, namespace };
  const whole = <C extends Catalog>(one: C): C => {
    const kept = keepFixedPolicies(keepUndeletable(one, keeping), own);
    return sealWrites(revokeTokensOnUserDelete(kept, ending), { ...own, entities });
  };
  const catalog = whole(parts.catalog);
  const coveredTypes = new Set(
    Object.entries(privilegedTypes).flatMap(([n, { aspects }]) => (aspects ? [] : [n])),
  );
  const authorized = (one: Catalog): Catalog =>
    parts.patchRules === undefined
      ? one
      : authorizeWrites(one, {
          ...own,
          authority,
          entities,
          patchRules: parts.patchRules,
          coveredTypes,
        });
  const guard = (one: Catalog): Catalog =>
    required
      ? authorizePrivilegedWrites(authorized(one), { authority, entities, model, namespace })
      : authorized(one);
  const { catalogFor } = createReadAuthority({
    guard,
    authority,
    urnOf,
    namespace,
    systemActor,
    now: parts.now,
    catalog: {
      ...catalog,
      authorizedFor: (context) => whole(catalog.authorizedFor(context)),
    },
    sealed: restrictedNames(model, "sealed"),
    restricted: restrictedNames(model, required ? "all" : "sealed"),
    fields: filterFields,
    policyExpansion: parts.policyExpansion,
  });
  return { catalog: catalogFor(undefined), catalogFor };
}
