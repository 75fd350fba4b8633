/**
 * Projects changes of the log into writes of the aspect view. Each record of an entity stream is one
 * write. Timeseries streams are ignored.
 *
 *   UPSERT of an aspect          value           adds its next value
 *   RESTATE of an aspect         confirm         confirms the current value
 *   DELETE of an aspect          remove          removes the current value; its history stays
 *   DELETE of the key aspect     remove_entity   does so for all aspects and deletes the entity
 */

import { assert } from "../src/core/errors.ts";
import type { Projection } from "../src/projector/sink.ts";
import type { AspectWrite } from "../src/views/aspects/aspect-table.ts";

/** The name of an entity type's key aspect; undefined for a type that is not in the model. */
export type KeyAspectOf = (entityType: string) => string | undefined;

export function createAspectProjection(keyAspectOf: KeyAspectOf): Projection<AspectWrite> {
  return (change) => {
    if (change.timeseries) return [];
    const { urn, aspect, position, revision, entityType, created } = change;
    const key = keyAspectOf(entityType) === aspect;
    switch (change.changeType) {
      case "UPSERT": {
        const { value } = change;
        assert(value !== undefined, `the change at position ${position} has no value`);
        return [
          {
            op: "value",
            urn,
            aspect,
            position,
            revision,
            version: versionOf(change),
            value,
            time: created.time,
            actor: created.actor,
            system: JSON.stringify(change.system),
            key,
            entityType,
          },
        ];
      }
      case "RESTATE":
        return [
          {
            op: "confirm",
            urn,
            aspect,
            position,
            revision,
            version: versionOf(change),
            system: JSON.stringify(change.system),
          },
        ];
      case "DELETE":
        return [{ op: key ? "remove_entity" : "remove", urn, aspect, position, revision }];
    }
  };
}

function versionOf({ system, position }: Parameters<Projection<AspectWrite>>[0]): number {
  const version = Number(system.version);
  assert(version >= 1, `the change at position ${position} has version "${system.version}"`);
  return version;
}
