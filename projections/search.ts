/**
 * How the search view follows from the log: one document for each entity, the fold of its aspects.
 */
import type { EntityState } from "../src/core/entity-state.ts";
import type { SearchDocument } from "../src/search/search.ts";
import type { SearchRules } from "./search-rules.ts";

/** The document of an entity; undefined when the entity is not there (its key aspect has no value). */
export type SearchProjection = (
  state: EntityState,
  entityType: string,
) => SearchDocument | undefined;

export function createSearchProjection({ fields }: SearchRules): SearchProjection {
  return ({ urn, aspects }, entityType) => {
    if (fields[entityType] === undefined || aspects.size === 0) return undefined;
    return { urn, entityType, values: { urn: [urn], _entityType: [entityType] }, texts: [] };
  };
}
