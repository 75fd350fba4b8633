/**
 * What an entity would be if some of its records had never been: what a view of what entities are makes
 * of those that it passes over. As the views have it that it is made of, which pass over records
 * themselves.
 */
import type { PlacedChange } from "../core/change.ts";
import type { EntityState } from "../core/entity-state.ts";
import { foldEntity } from "../core/fold-entity.ts";
import { type Position, position, revision } from "../core/position.ts";
import { entityStream, parseStream } from "../core/stream.ts";
import type { ChangeLog } from "../log/change-log.ts";
import { decodeRecord } from "../log/record-codec.ts";
import type { Decode } from "./batch.ts";
import type { Event, LatestEvents } from "./folded-inputs.ts";
import {
  type HistoryLog,
  openHistories,
  ownStreams,
  recordsOf,
  timeseriesAspects,
} from "./history.ts";
import { parkingNow } from "./parking.ts";
import type { PassedOver } from "./sink.ts";

export type IsPassed = (at: Position) => boolean;

/** An aspect that an entity has, and the record that told it so last. */
export interface ToldAspect {
  readonly aspect: string;
  readonly position: Position;
  /** Whether the entity begins with it. */
  readonly key: boolean;
}

/** Of an entity, as the log has it. */
export interface EntityWithout {
  state(urn: string, isPassed: IsPassed): Promise<EntityState>;
  /** The latest event of each of these of its timeseries that has any. */
  latest(urn: string, aspects: readonly string[], isPassed: IsPassed): Promise<LatestEvents>;
  aspects(urn: string, isPassed: IsPassed): Promise<readonly ToldAspect[]>;
  /** Its first record. */
  beginning(urn: string): Promise<Position | undefined>;
}

type Skipping = Pick<PassedOver, "skips">;
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
    ask: (log: ReadLog, parking: Skipping) => Promise<T>,
  ): Promise<T> {
    const log = await openLog();
    try {
      return await ask(log, await parkingNow(log, view));
    } finally {
      await log.close();
    }
  }

  async function* changesOf(
    log: ReadLog,
    parking: Skipping,
    urn: string,
    isPassed: IsPassed,
  ): AsyncIterable<PlacedChange> {
    for await (const record of recordsOf(log, entityStream(urn))) {
      const { position } = record;
      if (isPassed(position) || parking.skips({ urn, position })) continue;
      const change = decodeRecord(record);
      if (change !== undefined) yield change;
    }
  }

  return {
    state: (urn, isPassed) =>
      asking(views.states, async (log, parking) => {
        const entity = foldEntity(urn, keyAspectOf);
        for await (const change of changesOf(log, parking, urn, isPassed)) entity.add(change);
        return entity.state();
      }),
    latest: (urn, aspects, isPassed) =>
      asking(views.events, async (log, parking) => {
        const series = foldEvents(urn);
        // What is passed over may be what cannot be decoded. Truncations are of no entity.
        const decode: Decode = (record) => {
          const { position, stream } = record;
          const of = { urn: parseStream(stream)?.urn ?? "", position };
          return isPassed(position) || parking.skips(of) ? undefined : decodeRecord(record);
        };
        for await (const change of (await openHistories(log, decode)).changes(urn, END)) {
          if (!change.timeseries || aspects.includes(change.aspect)) series.add(change);
        }
        const all = aspects.map((aspect) => [aspect, series.latest(aspect)] as const);
        return new Map(all.flatMap(([aspect, event]) => (event ? [[aspect, event]] : [])));
      }),
    aspects: (urn, isPassed) =>
      asking(views.states, async (log, parking) => {
        const told = new Map<string, ToldAspect>();
        for await (const change of changesOf(log, parking, urn, isPassed)) {
          const { aspect, changeType, entityType, position } = change;
          const key = keyAspectOf(entityType) === aspect;
          if (changeType !== "DELETE") told.set(aspect, { aspect, position, key });
          else if (key) told.clear();
          else told.delete(aspect);
        }
        return [...told.values()];
      }),
    async beginning(urn) {
      const log = await openLog();
      try {
        let first: Position | undefined;
        for (const stream of ownStreams(urn, await timeseriesAspects(log))) {
          const [record] = await log.readStream(stream, revision(0), { limit: 1 });
          if (record && !(first !== undefined && first < record.position)) first = record.position;
        }
        return first;
      } finally {
        await log.close();
      }
    },
  };
}
