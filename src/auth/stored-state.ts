/** An entity in memory, for access checks: parses each aspect at its first use. */
import { currentAspect, type EntityState } from "../core/entity-state.ts";
import type { Stored } from "./stored-entities.ts";

const cache = new WeakMap<EntityState, Stored>();

/** Lazy, because most checks need few aspects. */
export function storedState(state: EntityState): Stored {
  let stored = cache.get(state);
  if (stored === undefined) {
    stored = new Proxy<Record<string, unknown>>(
      {},
      {
        get(parsed, name: string) {
          if (!Object.hasOwn(parsed, name)) {
            const value = currentAspect(state, name)?.value;
            parsed[name] = value === undefined ? undefined : JSON.parse(value);
          }
          // Safe lookup: the object has the member, as set above.
          return parsed[name];
        },
      },
    );
    cache.set(state, stored);
  }
  return stored;
}

/** True when the entity has aspects now. */
export const isStored = ({ aspects }: EntityState): boolean => {
  for (const { removed } of aspects.values()) if (!removed) return true;
  return false;
};
