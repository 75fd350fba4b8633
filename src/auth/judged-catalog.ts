/**
 * The catalog as those who ask may use it, put together: who deletes a user ends their tokens; where
 * tokens are asked for, what decides about access is written by those who may, and what is withheld is
 * seen by them; where reads are authorised, policies say who sees the rest.
 */
import type { Catalog, Proposal, SnapshotProposal } from "../catalog/catalog.ts";
import type { Eyes } from "../catalog/sight.ts";
import type { EntityState } from "../core/entity-state.ts";
import type { PatchRules } from "../core/patch.ts";
import type { Model } from "../model/model.ts";
import { endTokensWithUsers } from "./ended-users.ts";
import { type FixedPolicies, keepFixedPolicies } from "./fixed-policies.ts";
import { guardCatalog, guarded } from "./guarded-catalog.ts";
import type { Lowering } from "./hierarchies.ts";
import type { OpenedAccess } from "./open-access.ts";
import { createReadAuthority } from "./read-authority.ts";
import type { SightFields } from "./sights.ts";
import { withheldNames } from "./withheld.ts";
import { authorizeWrites } from "./write-authority.ts";

interface JudgedCatalog {
  /** For who is known to nobody: it sees everything. */
  readonly catalog: Catalog;
  /** As the user sees it; undefined where all see everything. */
  readonly catalogFor: ((actor: string | undefined) => Catalog) | undefined;
}

interface Parts {
  readonly catalog: Catalog & {
    seenThrough(eyes: Eyes): Catalog;
    peek(urn: string): EntityState | undefined;
  };
  readonly access: Pick<OpenedAccess, "authority" | "entities" | "tokens">;
  readonly model: Model;
  /** The urn that a proposal is about; undefined where it says none that could be. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  /** A snapshot is its proposals. */
  readonly proposalsOf: (snapshots: readonly SnapshotProposal[]) => readonly Proposal[];
  readonly namespace: string;
  readonly fixedPolicies: FixedPolicies;
  /** Whether tokens are asked for. */
  readonly required: boolean;
  /** Absent: policies do not say who reads what. */
  readonly sightFields?: SightFields | undefined;
  /** Absent: policies do not say who writes what. */
  readonly patchRules?: PatchRules | undefined;
  /** With sightFields. */
  readonly lowering?: Lowering | undefined;
  readonly now: () => number;
}

export function judgeCatalog(parts: Parts): JudgedCatalog {
  const { access, model, namespace, required, sightFields, urnOf, proposalsOf } = parts;
  const systemActor = `urn:${namespace}:corpuser:__datahub_system`;
  const { authority, tokens } = access;
  const ending = { tokens, urnOf, namespace, systemActor };
  const { fixedPolicies } = parts;
  const own = { fixedPolicies, urnOf, proposalsOf, namespace, systemActor };
  const whole = <C extends Catalog>(one: C): C =>
    endTokensWithUsers(keepFixedPolicies(one, own), ending);
  const catalog = whole(parts.catalog);
  const { entities } = access;
  const ruled = new Set(
    Object.entries(guarded).flatMap(([n, { aspects }]) => (aspects ? [] : [n])),
  );
  const authorized = (one: Catalog): Catalog =>
    parts.patchRules === undefined
      ? one
      : authorizeWrites(one, {
          ...own,
          authority,
          entities,
          patchRules: parts.patchRules,
          ruled,
        });
  const guard = (one: Catalog): Catalog =>
    required
      ? guardCatalog(authorized(one), { authority, model, namespace, proposalsOf })
      : authorized(one);
  if (!required && sightFields === undefined && parts.patchRules === undefined) {
    return { catalog, catalogFor: undefined };
  }
  const { catalogFor } = createReadAuthority({
    guard,
    authority,
    urnOf,
    namespace,
    systemActor,
    now: parts.now,
    proposalsOf,
    catalog: {
      ...catalog,
      seenThrough: (eyes) => whole(catalog.seenThrough(eyes)),
    },
    withheld: required ? withheldNames(model) : undefined,
    fields: sightFields,
    lowering: parts.lowering,
  });
  return { catalog: catalogFor(undefined), catalogFor };
}
