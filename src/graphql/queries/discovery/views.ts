/** Views: stored filters that searches apply in addition to their own. */

import type { SearchRequest } from "../../../catalog/catalog.ts";
import { type Criterion, type Filter, intersectFilters } from "../../../core/query/filter.ts";
import { objectsIn, stringsIn } from "../../../lib/json.ts";
import type { Viewer } from "../../context.ts";
import type { LoadedEntity } from "../../entity-loader.ts";
import { memberAt } from "../../mapping/mapping.ts";
import type { Maybe } from "../../maybe.ts";

interface ViewDefinition {
  /** Names of the model; empty for all types. */
  readonly entityTypes: readonly string[];
  readonly filter: Filter | undefined;
}

/** The definition of a view; undefined without a urn, and for a view that does not exist. */
export async function viewOf(
  viewUrn: Maybe<string>,
  { loader }: Viewer,
): Promise<ViewDefinition | undefined> {
  if (!viewUrn) return undefined;
  const { aspect }: LoadedEntity = await loader.load(viewUrn);
  const definition = aspect("dataHubViewInfo")?.definition;
  if (definition === undefined) return undefined;
  const groups = objectsIn(memberAt(definition, ["filter", "or"])).map(({ and }) => ({
    and: objectsIn(and) as readonly unknown[] as readonly Criterion[],
  }));
  return {
    entityTypes: stringsIn(memberAt(definition, ["entityTypes"])),
    filter: groups.length === 0 ? undefined : { or: groups },
  };
}

/** Matches no entity. */
const none: Criterion = { field: "urn", condition: "IN", values: [] };

/** The request within the view: its entity types are intersected, both filters must hold. */
export function withinView<Request extends SearchRequest>(
  request: Request,
  view: ViewDefinition | undefined,
): Request {
  if (view === undefined) return request;
  const { entities = [], usualEntities = [] } = request;
  const asked = entities.length > 0 ? entities : usualEntities;
  const shown = new Set(view.entityTypes.map((one) => one.toLowerCase()));
  const kept = shown.size === 0 ? entities : asked.filter((one) => shown.has(one.toLowerCase()));
  const filter = intersectFilters(request.filter, view.filter);
  if (shown.size > 0 && kept.length === 0) {
    return { ...request, filter: intersectFilters(filter, { or: [{ and: [none] }] }) };
  }
  return { ...request, entities: kept, filter };
}

/** A filter that also requires all of the criteria. */
export const withCriteria = (
  filter: Filter | undefined,
  criteria: readonly Criterion[],
): Filter | undefined =>
  criteria.length === 0 ? filter : intersectFilters(filter, { or: [{ and: criteria }] });
