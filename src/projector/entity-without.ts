/**
 * What an entity would be if some of its records had never been: what a view of what entities are makes
 * of those that it passes over. As the views have it that it is made of, which pass over records
 * themselves.
 */
import type { PlacedChange } from "../core/change.ts";
import type { EntityState } from "../core/entity-state.ts";
import { foldEntity } from "../core/fold-entity.ts";
import { type Position, position } from "../core/position.ts";
import { entityStream } from "../core/stream.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { decodeRecord } from "../log/record-codec.ts";
import type { Event, LatestEvents } from "./folded-inputs.ts";
import { type HistoryLog, openHistories, recordsOf } from "./history.ts";
import { openParking, type Parking, readParking } from "./parking.ts";

export type IsPassed = (at: Position) => boolean;

/** Of an entity, as the log has it. */
export interface EntityWithout {
  state(urn: string, isPassed: IsPassed): Promise<EntityState>;
  /** The latest event of each of these of its timeseries that has any. */
  latest(urn: string, aspects: readonly string[], isPassed: IsPassed): Promise<LatestEvents>;
}

type ReadLog = HistoryLog & Pick<ChangeLog, "close">;

const END = position(Number.MAX_SAFE_INTEGER);

export function createEntityWithout(parts: {
  /** Opened for each question, and closed after it. */
  readonly openLog: () => Promise<ReadLog>;
  /** The views that have the states of entities, and their events. */
  readonly views: { readonly states: string; readonly events: string };
  readonly keyAspectOf: (entityType: string) => string | undefined;
  /** What changes of an entity make of its timeseries. */
  readonly foldEvents: (urn: string) => {
    add(change: PlacedChange): void;
    latest(aspect: string): Event | undefined;
  };
}): EntityWithout {
  const { openLog, views, keyAspectOf, foldEvents } = parts;

  async function asking<T>(
    view: string,
    ask: (log: ReadLog, parking: Parking) => Promise<T>,
  ): Promise<T> {
    const log = await openLog();
    try {
      const notes = { load: () => readParking(log, view), write: async () => {} };
      return await ask(log, await openParking(view, notes, Date.now));
    } finally {
      await log.close();
    }
  }

  return {
    state: (urn, isPassed) =>
      asking(views.states, async (log, parking) => {
        const entity = foldEntity(urn, keyAspectOf);
        for await (const record of recordsOf(log, entityStream(urn))) {
          const { position } = record;
          if (isPassed(position) || parking.skips({ urn, position })) continue;
          const change = decodeRecord(record);
          if (change !== undefined) entity.add(change);
        }
        return entity.state();
      }),
    latest: (urn, aspects, isPassed) =>
      asking(views.events, async (log, parking) => {
        const series = foldEvents(urn);
        const histories = (await openHistories(log, decodeRecord)).without(
          (position) => isPassed(position) || parking.skips({ urn, position }),
        );
        for await (const change of histories.changes(urn, END)) {
          if (!change.timeseries || aspects.includes(change.aspect)) series.add(change);
        }
        const all = aspects.map((aspect) => [aspect, series.latest(aspect)] as const);
        return new Map(all.flatMap(([aspect, event]) => (event ? [[aspect, event]] : [])));
      }),
  };
}
