/** Soft-deleted entities: `removed` in `status`. */
import { currentAspect, type EntityState } from "../../core/entity-state.ts";
import type { EntityCache } from "../write/entity-cache.ts";

export function isSoftDeleted(state: EntityState): boolean {
  const status = currentAspect(state, "status");
  return status !== undefined && JSON.parse(status.value).removed === true;
}

/** Urns without an entity stay. */
export async function withoutSoftDeleted(
  urns: readonly string[],
  states: Pick<EntityCache, "read">,
): Promise<string[]> {
  const found = await states.read(urns);
  return urns.filter((_, i) => found[i] === undefined || !isSoftDeleted(found[i]));
}
