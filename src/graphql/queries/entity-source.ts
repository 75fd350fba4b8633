/** The source of an entity in the schema: its urn and its GraphQL type. */

import { entityTypeOf } from "../../core/urn.ts";
import { ownValue } from "../../lib/own-value.ts";
import type { LoadedEntity } from "../entity-loader.ts";
import { shownType, typenames } from "../schema/entity-types.ts";

/** Passed from a field that names an entity to the fields of the entity. */
export interface EntitySource {
  readonly __typename: string;
  readonly urn: string;
  readonly type: string;
  /** The entity itself, where the query asks for more than its urn. */
  readonly loaded?: LoadedEntity;
}

export function entityOf(urn: string): EntitySource {
  const entityType = entityTypeOf(urn);
  const typename = ownValue(typenames, entityType) ?? "CatalogEntity";
  return { __typename: typename, urn, type: shownType(entityType) };
}

/** An entity when the value is a urn. */
export const namedBy = (value: unknown): EntitySource | null =>
  typeof value === "string" && /^urn:[^:]+:[^:]+:./.test(value) ? entityOf(value) : null;

export const namedAs = (typename: string, value: unknown): EntitySource | null => {
  const named = namedBy(value);
  return named?.__typename === typename ? named : null;
};
