/** The urn of a proposal, before the rest is validated. */
import { withNamespace } from "../../../core/urn.ts";
import { urnOfKey } from "../../../model/entity-key.ts";
import type { Model } from "../../../model/model.ts";
import type { Proposal } from "../../catalog.ts";

/** Undefined if it has no valid urn: ingestion will reject it. */
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
      // Ingestion reports the error.
      return undefined;
    }
  };
}
