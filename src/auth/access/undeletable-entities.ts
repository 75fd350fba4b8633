/**
 * Entities that no request deletes: the root user, the built-in types of ownership and roles, the modules
 * and the template of the home page, and users that are marked as users of the system. Others refer
 * to them by fixed urns. Their aspects can be changed. All but users can be marked as removed
 * (core/rules/write-rules.ts).
 */
import type { Catalog, Proposal } from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf, withNamespace } from "../../core/urn.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { Model } from "../../model/model.ts";
import type { StoredEntities } from "../stored-entities.ts";

interface BuiltIn {
  readonly urn: string;
  readonly entityType: string;
  readonly value: object;
}

const always = () => true;

/** Conditions on the value of a built-in entity, by entity type. */
const undeletable: Readonly<Record<string, (value: Readonly<Record<string, unknown>>) => boolean>> =
  {
    corpuser: ({ system }) => system === true,
    ownershipType: always,
    dataHubRole: ({ editable }) => editable === false,
    dataHubPageModule: always,
    dataHubPageTemplate: always,
  };

/** The urns of the built-in entities that no request deletes. Policies have stricter rules. */
export const undeletableOf = (entities: readonly BuiltIn[]): ReadonlySet<string> =>
  new Set(
    entities
      .filter(({ entityType, value }) => ownValue(undeletable, entityType)?.({ ...value }))
      .map(({ urn }) => urn),
  );

interface Dependencies {
  readonly undeletableEntities: ReadonlySet<string>;
  readonly entities: Pick<StoredEntities, "find">;
  readonly model: Pick<Model, "findEntity">;
  /** Urn of the proposal's entity; undefined for a proposal without a valid one. */
  readonly urnOf: (proposal: Proposal) => string | undefined;
  readonly namespace: string;
}

/** The catalog; a request that deletes such an entity throws `invalid`. */
export function keepUndeletable<C extends Pick<Catalog, "ingest" | "delete">>(
  catalog: C,
  { undeletableEntities, entities, model, urnOf, namespace }: Dependencies,
): C {
  const isKey = (entityType: string, aspectName: string | undefined): boolean => {
    const keyAspect = model.findEntity(entityType)?.keyAspect;
    return aspectName === undefined || aspectName === "" || aspectName === keyAspect;
  };

  async function isSystemUser(urn: string): Promise<boolean> {
    if (!urn.startsWith(`urn:${namespace}:corpuser:`)) return false;
    const { corpUserInfo } = (await entities.find(urn)) ?? {};
    return (corpUserInfo as { readonly system?: unknown } | undefined)?.system === true;
  }

  async function rejectBuiltIn(urn: string | undefined): Promise<void> {
    if (urn === undefined) return;
    if (!undeletableEntities.has(urn) && !(await isSystemUser(urn))) return;
    throw new CatalogError("invalid", `"${urn}" is built-in and cannot be deleted`, {
      hint: "Change its aspects instead",
    });
  }

  const deletes = ({ changeType, entityType, aspectName }: Proposal): boolean =>
    changeType === "DELETE" && isKey(entityType, aspectName);

  async function ingestDeleting(...[proposals, caller]: Parameters<Catalog["ingest"]>) {
    for (const proposal of proposals) if (deletes(proposal)) await rejectBuiltIn(urnOf(proposal));
    return catalog.ingest(proposals, caller);
  }

  return {
    ...catalog,
    ingest: (proposals, caller) =>
      proposals.some(deletes)
        ? ingestDeleting(proposals, caller)
        : catalog.ingest(proposals, caller),
    async delete(request, caller) {
      const urn = withNamespace(request.urn, namespace);
      if (isKey(entityTypeOf(urn), request.aspectName)) await rejectBuiltIn(urn);
      return catalog.delete(request, caller);
    },
  };
}
