/**
 * Grouping what lineage came to: instead of an entity the one that it belongs to is found, a
 * dataset for its columns. What an entity belongs to, its urn says: it is a part of its key.
 */
import { CatalogError } from "../core/errors.ts";
import { entityTypeOf, nestedUrn } from "../core/urn.ts";
import type { Reached } from "./lineage.ts";
import type { SearchFields } from "./search-fields.ts";
import type { GroupingCriterion, GroupingSpec } from "./search-requests.ts";

/** `start` is not found in the place of anything. */
export type Grouping = (start: string, reached: readonly Reached[]) => readonly Reached[];

/** Throws `invalid` for an entity type that there is none of. */
export function groupingOf(
  spec: GroupingSpec | undefined | null,
  fields: Pick<SearchFields, "entityType" | "entityTypes">,
): Grouping {
  const told = (spec?.groupingCriteria ?? []).map((one) => readCriterion(one, fields));
  // Each counts once: of all that is reached, all that are left are asked.
  const distinct = new Map(told.map((one) => [`${one.base} ${one.group}`, one]));
  const criteria = [...distinct.values()];
  if (criteria.length === 0) return (_start, reached) => reached;

  /** By the first criterion that says something of it. */
  function groupOf(urn: string): string {
    const type = entityTypeOf(urn);
    for (const { base, group } of criteria) {
      if (base !== undefined && base !== type) continue;
      const found = type === group ? urn : nestedUrn(urn, group);
      if (found !== undefined) return found;
    }
    return urn;
  }

  return (start, reached) => {
    const groups = new Map<string, Reached>();
    for (const one of reached) {
      const urn = groupOf(one.urn);
      // The nearest stands for all.
      if (urn !== start && !groups.has(urn))
        groups.set(urn, urn === one.urn ? one : { ...one, urn });
    }
    return [...groups.values()];
  };
}

function readCriterion(
  { baseEntityType, groupingEntityType }: GroupingCriterion,
  fields: Pick<SearchFields, "entityType" | "entityTypes">,
): { readonly base: string | undefined; readonly group: string } {
  const typeNamed = (name: string): string => {
    const type = fields.entityType(name);
    if (type !== undefined) return type;
    throw new CatalogError("invalid", `there is no entity type "${name}" to group by`, {
      hint: 'Name entity types, such as {"baseEntityType": "schemaField", "groupingEntityType": "dataset"}',
    });
  };
  const base = baseEntityType ?? undefined;
  return {
    base: base === undefined ? undefined : typeNamed(base),
    group: typeNamed(groupingEntityType),
  };
}
