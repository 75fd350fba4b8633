/**
 * Folds the changes of an entity's stream into its state. The aspect view stores the same state, but
 * it can be behind the log or unavailable.
 */
import type { PlacedChange } from "./change.ts";
import { type AspectState, type EntityState, unknownEntity } from "./entity-state.ts";
import { assert } from "./errors.ts";

interface EntityFold {
  /** The next change of the entity's stream. */
  add(change: PlacedChange): void;
  state(): EntityState;
}

/** `keyAspectOf`: the key aspect of an entity type; undefined for a type that the model lacks. */
export function foldEntity(
  urn: string,
  keyAspectOf: (entityType: string) => string | undefined,
): EntityFold {
  const aspects = new Map<string, AspectState>();
  let { revision } = unknownEntity(urn);

  function remove(name: string): void {
    const aspect = aspects.get(name);
    if (aspect !== undefined) aspects.set(name, { ...aspect, removed: true });
  }

  return {
    add(change) {
      const { aspect: name, changeType, created, system, value, entityType } = change;
      revision = change.revision;
      switch (changeType) {
        case "UPSERT": {
          assert(value !== undefined, `the change at position ${change.position} has no value`);
          const version = Number(system.version);
          const { time, actor } = created;
          aspects.set(name, { name, version, value, time, actor, system, removed: false });
          return;
        }
        case "RESTATE": {
          const aspect = aspects.get(name);
          if (aspect?.version === Number(system.version)) aspects.set(name, { ...aspect, system });
          return;
        }
        case "DELETE":
          for (const one of keyAspectOf(entityType) === name ? [...aspects.keys()] : [name]) {
            remove(one);
          }
      }
    },
    state: () => ({ urn, revision, aspects }),
  };
}
