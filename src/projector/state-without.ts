/**
 * What an entity would be if some of its records had never been: what a view of what entities are makes
 * of those that it passes over. As the aspect view has it, which passes over records itself.
 */
import type { EntityState } from "../core/entity-state.ts";
import { foldEntity } from "../core/fold-entity.ts";
import type { Position } from "../core/position.ts";
import { entityStream } from "../core/stream.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { decodeRecord } from "../log/record-codec.ts";
import { recordsOf } from "./history.ts";
import { openParking, readParking } from "./parking.ts";

export async function stateWithout(
  urn: string,
  isPassed: (at: Position) => boolean,
  parts: {
    readonly log: Pick<ChangeLog, "readStream">;
    /** The view that has the states of entities. */
    readonly states: string;
    readonly keyAspectOf: (entityType: string) => string | undefined;
  },
): Promise<EntityState> {
  const { log, states, keyAspectOf } = parts;
  const notes = { load: () => readParking(log, states), write: async () => {} };
  const parking = await openParking(states, notes, Date.now);
  const entity = foldEntity(urn, keyAspectOf);
  for await (const record of recordsOf(log, entityStream(urn))) {
    const { position } = record;
    if (isPassed(position) || parking.skips({ urn, position })) continue;
    const change = decodeRecord(record);
    if (change !== undefined) entity.add(change);
  }
  return entity.state();
}
