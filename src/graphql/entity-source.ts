/** What stands for an entity where fields name one: its urn, and of which type of the schema it is. */

import { ownValue } from "../core/own-value.ts";
import { entityTypeOf } from "../core/urn.ts";
import { shownType, typenames } from "./entity-types.ts";

/** What stands for an entity between fields. */
export interface EntitySource {
  readonly __typename: string;
  readonly urn: string;
  readonly type: string;
}

export function entityOf(urn: string): EntitySource {
  const entityType = entityTypeOf(urn);
  const typename = ownValue(typenames, entityType) ?? "CatalogEntity";
  return { __typename: typename, urn, type: shownType(entityType) };
}

/** An entity where the value is a urn. */
export const namedBy = (value: unknown): EntitySource | null =>
  typeof value === "string" && /^urn:[^:]+:[^:]+:./.test(value) ? entityOf(value) : null;

export const namedAs = (typename: string, value: unknown): EntitySource | null => {
  const named = namedBy(value);
  return named?.__typename === typename ? named : null;
};
