/**
 * Grouping of lineage results: replaces an entity by the one that its urn contains, such as a column by
 * its dataset. A group has the paths of its members, so they end at the columns.
 */
import { CatalogError } from "../../core/errors.ts";
import { entityTypeOf, nestedUrn } from "../../core/urn.ts";
import type { SearchFields } from "../search/filter/fields.ts";
import type { GroupingCriterion, GroupingSpec } from "../search/requests.ts";
import type { Reached } from "./lineage.ts";

/** One entity that groups several reached ones, at the distance of the nearest. */
export interface Grouped extends Reached {
  /** The grouped entities, nearest first; absent for an entity that is not a group. */
  readonly members?: readonly Reached[] | undefined;
}

/** A group of the start itself is omitted. */
type Grouping = (start: string, reached: readonly Reached[]) => readonly Grouped[];

const COLUMN = "schemaField";
const DATASET = "dataset";

/** DataHub's default groups columns by dataset. A model may lack either type. */
const defaultsFor = (fields: Pick<SearchFields, "entityType">): readonly GroupingCriterion[] =>
  fields.entityType(COLUMN) === undefined || fields.entityType(DATASET) === undefined
    ? []
    : [{ baseEntityType: COLUMN, groupingEntityType: DATASET }];

/** Selects the default grouping of columns: a search applies it without a spec, a scroll always. */
export type GroupingForm = "search" | "scroll";

/** Throws `invalid` for an unknown entity type. */
export function groupingOf(
  spec: GroupingSpec | undefined,
  fields: Pick<SearchFields, "entityType" | "entityTypes">,
  form: GroupingForm,
): Grouping {
  const hasDefault = form === "scroll" || spec === undefined;
  const asked = spec?.groupingCriteria ?? [];
  const all = [...(hasDefault ? defaultsFor(fields) : []), ...asked].map((one) =>
    readCriterion(one, fields),
  );
  // Each counts once: every reached entity is compared with all criteria.
  const distinct = new Map(all.map((one) => [`${one.base} ${one.group}`, one]));
  const criteria = [...distinct.values()];
  if (criteria.length === 0) return (_start, reached) => reached;

  /** The entity that the first matching criterion groups the urn by; the urn itself if none matches. */
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
    const members = new Map<string, Reached[]>();
    for (const one of reached) {
      const urn = groupOf(one.urn);
      if (urn === start) continue;
      const known = members.get(urn);
      if (known === undefined) members.set(urn, [one]);
      else known.push(one);
    }
    // A Map keeps insertion order, so groups are in the order of their nearest member.
    return Array.from(members, ([urn, all]) => groupedAs(urn, all));
  };
}

function groupedAs(urn: string, members: readonly Reached[]): Grouped {
  const nearest = members[0] as Reached;
  return urn === nearest.urn && members.length === 1 ? nearest : { ...nearest, urn, members };
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
