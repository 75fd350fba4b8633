/** The urn that a proposal is about, before anything else of it is looked at. */
import { withNamespace } from "../core/urn.ts";
import { urnOfKey } from "../model/entity-key.ts";
import type { Model } from "../model/model.ts";
import type { Proposal } from "./catalog.ts";

/** Undefined where it says none that could be: ingesting it will be refused. */
export function createProposalUrns(
  model: Pick<Model, "findEntity">,
  namespace: string,
): (proposal: Proposal) => string | undefined {
  return ({ entityType, entityUrn, entityKeyAspect }) => {
    if (entityUrn !== undefined) return withNamespace(entityUrn, namespace);
    const entity = model.findEntity(entityType);
    if (entity === undefined || entityKeyAspect === undefined) return undefined;
    try {
      const { value } = entityKeyAspect;
      return urnOfKey(entity, typeof value === "string" ? JSON.parse(value) : value, namespace);
    } catch {
      // Ingesting says what is wrong with it.
      return undefined;
    }
  };
}
