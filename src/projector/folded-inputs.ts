/**
 * What a write of an entity is folded from: its state and the latest events of its timeseries. They are
 * read from the views that have them, but for entities with records that this view passes over: those
 * views did take them, so that theirs come from the log.
 */
import type { EntityState } from "../core/entity-state.ts";
import type { Position } from "../core/position.ts";
import type { EntityWithout, IsPassed } from "./entity-without.ts";
import type { PassedOver } from "./sink.ts";

export interface Event {
  readonly time: number;
  /** Of its record. */
  readonly position: Position;
  /** JSON text. */
  readonly value: string;
}

/** By aspect. */
export type LatestEvents = ReadonlyMap<string, Event>;

export interface FoldedEntity {
  readonly urn: string;
  readonly entityType: string;
}

export interface FoldedInputs {
  /** From now on these are passed over. */
  heed(passedOver: PassedOver): void;
  isDropped: IsPassed;
  /**
   * For each urn; `restored`: of what is parked, that is to be seen. Else an entity that is parked is
   * as it was before.
   */
  states(urns: readonly string[], restored: boolean): Promise<readonly EntityState[]>;
  /** Of these timeseries, or of all that the view heeds. */
  latest(
    entities: readonly FoldedEntity[],
    restored: boolean,
    series?: readonly string[],
  ): Promise<ReadonlyMap<string, LatestEvents>>;
}

/** Records of an entity that are in no write of it. */
interface Passing {
  readonly isPassed: IsPassed;
  readonly parked: boolean;
}

const NONE: LatestEvents = new Map();

export function createFoldedInputs(parts: {
  readonly getEntities: (urns: readonly string[]) => Promise<readonly EntityState[]>;
  /** Absent: timeseries bear on nothing. */
  readonly events?:
    | {
        aspectsOf(entityType: string): readonly string[];
        latest(
          urns: readonly string[],
          aspects: readonly string[],
        ): Promise<readonly LatestEvents[]>;
      }
    | undefined;
  /** Absent: nothing is ever passed over. */
  readonly without?: EntityWithout | undefined;
}): FoldedInputs {
  const { getEntities, events, without } = parts;
  let passedOver: PassedOver | undefined;

  function passingOf(urn: string, restored: boolean): Passing | undefined {
    if (passedOver === undefined) return undefined;
    const { skips, isDropped, hasDropped, find } = passedOver;
    if (!restored && find(urn) !== undefined) {
      return { isPassed: (position) => skips({ urn, position }), parked: true };
    }
    return hasDropped(urn) ? { isPassed: isDropped, parked: false } : undefined;
  }

  /** What is dropped of events is never a removal: it says nothing where it is not among the latest. */
  const bearsOn = (latest: LatestEvents, { isPassed, parked }: Passing): boolean =>
    parked || latest.values().some(({ position }) => isPassed(position));

  return {
    heed(told) {
      passedOver = told;
    },
    isDropped: (at) => passedOver?.isDropped(at) ?? false,
    async states(urns, restored) {
      const found = [...(await getEntities(urns))];
      if (without === undefined) return found;
      for (const [n, urn] of urns.entries()) {
        const passing = passingOf(urn, restored);
        if (passing !== undefined) found[n] = await without.state(urn, passing.isPassed);
      }
      return found;
    },
    async latest(entities, restored, series) {
      const found = new Map<string, LatestEvents>();
      if (events === undefined) return found;
      for (const [type, some] of Map.groupBy(entities, ({ entityType }) => entityType)) {
        const aspects = series ?? events.aspectsOf(type);
        if (aspects.length === 0) continue;
        const urns = some.map(({ urn }) => urn);
        const latest = await events.latest(urns, aspects);
        for (const [n, urn] of urns.entries()) {
          const told = latest[n] ?? NONE;
          const passing = passingOf(urn, restored);
          const isOther = passing !== undefined && bearsOn(told, passing);
          const other = isOther && (await without?.latest(urn, aspects, passing.isPassed));
          found.set(urn, other || told);
        }
      }
      return found;
    },
  };
}
