/** Filters out soft-deleted entities (`removed` in `status`). Urns without an entity stay. */
import { currentAspect } from "../../core/entity-state.ts";
import type { EntityCache } from "../write/entity-cache.ts";

export async function withoutSoftDeleted(
  urns: readonly string[],
  states: Pick<EntityCache, "read">,
): Promise<string[]> {
  const found = await states.read(urns);
  return urns.filter((_, i) => {
    const status = found[i] && currentAspect(found[i], "status");
    return status === undefined || JSON.parse(status.value).removed !== true;
  });
}
