/**
 * What an entity would be if some of its records had never been: what a view of what entities are makes
 * of those that it has dropped. As the aspect view has it, which passes over records itself.
 */
import type { EntityState } from "../core/entity-state.ts";
import { foldEntity } from "../core/fold-entity.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { decodeRecord } from "../log/record-codec.ts";
import { openHistories } from "./history.ts";
import { openParking, readParking } from "./parking.ts";
import type { Dropped } from "./sink.ts";

export async function stateWithout(
  urn: string,
  { isDropped }: Pick<Dropped, "isDropped">,
  parts: {
    readonly log: ChangeLog;
    /** The view that has the states of entities. */
    readonly states: string;
    readonly keyAspectOf: (entityType: string) => string | undefined;
  },
): Promise<EntityState> {
  const { log, states, keyAspectOf } = parts;
  const notes = { load: () => readParking(log, states), write: async () => {} };
  const parking = await openParking(states, notes, Date.now);
  const histories = await openHistories(log, decodeRecord, [urn]);
  const told = histories.without((at) => isDropped(at) || parking.skips({ urn, position: at }));
  const entity = foldEntity(urn, keyAspectOf);
  for await (const change of told.changes(urn, await log.head())) {
    if (change.urn === urn && !change.timeseries) entity.add(change);
  }
  return entity.state();
}
