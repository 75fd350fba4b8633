/** Entities that are made anew in views, between two batches of a projector. */
import { type Position, position, START } from "../core/position.ts";
import { entityStream, type StreamName, timeseriesStream } from "../core/stream.ts";
import type { LogRecord } from "../log/change-log.ts";
import type { Decode } from "./batch.ts";
import { partition } from "./groups.ts";
import { type HistoryLog, recordsOf, timeseriesAspects } from "./history.ts";
import { notParked, type Parked, type Parking } from "./parking.ts";
import { fedElsewhere, unknownView } from "./projector-errors.ts";
import { restoreEntities, type Unrestored } from "./restore.ts";
import type { Trials, View } from "./sink.ts";

interface Mended {
  readonly view: View;
  readonly position: Position;
  readonly parking: Parking | undefined;
  /** Undefined of a view that this process feeds. */
  readonly movedAt: number | undefined;
}

type Place = Pick<LogRecord, "position" | "revision">;

export function createMending<F extends Mended>(parts: {
  readonly followers: readonly F[];
  readonly log: HistoryLog;
  readonly decode: Decode;
  /** Resolves when nothing is on its way into these views. */
  readonly settled: (some: readonly F[]) => Promise<void>;
}) {
  const { followers, log, decode, settled } = parts;

  async function restore(
    urns: readonly string[],
    name: string | undefined,
  ): Promise<readonly Unrestored[]> {
    // What is made of the view tells of the entity what that told.
    const asked = followers.filter(
      ({ view, movedAt }) =>
        name === undefined ||
        view.name === name ||
        (movedAt === undefined && view.madeOf?.includes(name)),
    );
    await settled(asked);
    const [watched, fed] = partition(asked, ({ movedAt }) => movedAt !== undefined);
    const views = await Promise.all(
      fed.map(async ({ view, position, parking }) => {
        // A batch that failed may have been kept all the same.
        const kept = await view.sink.position();
        return { view, parking, position: kept > position ? kept : position };
      }),
    );
    const unrestored = await restoreEntities(urns, { log, decode, views });
    const elsewhere = watched.flatMap(({ view }) =>
      urns.map((urn) => ({ urn, view: view.name, reason: fedElsewhere, elsewhere: true })),
    );
    return [...unrestored, ...elsewhere];
  }

  async function drop(
    urn: string,
    name: string,
    actor: string | undefined,
  ): Promise<readonly Unrestored[]> {
    const follower = followers.find(({ view }) => view.name === name);
    if (follower !== undefined) await settled([follower]);
    const parking = follower?.parking;
    if (follower === undefined || parking === undefined) throw unknownView(name);
    const parked = parking.find(urn);
    if (parked === undefined) throw notParked(name, urn);
    const culprit = await culpritOf(follower.view, parking, parked);
    if (culprit !== undefined) await parking.drop(urn, culprit, actor);
    const unrestored = await restore([urn], name);
    if (parking.find(urn) !== undefined) await follower.view.trials?.end(urn, parked.position);
    return unrestored;
  }

  /**
   * The record that the view cannot take. One that is made of what entities are was told of all of an
   * entity's records at once, and parked it with the first: there it is one with which it cannot take the
   * entity, and without which it can. Undefined where it is none of them, or it can take it now.
   */
  async function culpritOf(
    { trials }: View,
    parking: Parking,
    { urn, position: first }: Parked,
  ): Promise<Position | undefined> {
    if (trials === undefined) return first;
    const own: Place[] = [];
    for (const stream of await streamsOf(urn)) {
      for await (const record of recordsOf(log, stream)) {
        const { position, revision } = record;
        if (position < first || parking.isDropped(position)) continue;
        if (!isReadable(record)) return position;
        if (stream === entityStream(urn)) own.push({ position, revision });
      }
    }
    const last = own.at(-1)?.position ?? first;
    if (await trials.takes(urn, last)) return undefined;
    if (await trials.takes(urn, last, [])) return eventOf(trials, urn, last);
    return recordOf(own, (upTo) => trials.takes(urn, upTo, []), first);
  }

  async function streamsOf(urn: string): Promise<readonly StreamName[]> {
    const aspects = await timeseriesAspects(log);
    return [entityStream(urn), ...aspects.map((aspect) => timeseriesStream(urn, aspect))];
  }

  /** Only the latest event of a timeseries bears on an entity: one that a view cannot take is one of them. */
  async function eventOf(
    trials: Trials,
    urn: string,
    last: Position,
  ): Promise<Position | undefined> {
    const taken: string[] = [];
    for (const { series, position } of await trials.events(urn)) {
      taken.push(series);
      if (!(await trials.takes(urn, last, taken))) return position;
    }
    return undefined;
  }

  async function recordOf(
    own: readonly Place[],
    takes: (upTo: Position) => Promise<boolean>,
    first: Position,
  ): Promise<Position | undefined> {
    let [taken, refused] = [-1, own.length - 1];
    // What it cannot take without any of them either is none of them.
    if (refused < 0 || !(await takes(position(first - 1)))) return undefined;
    while (refused - taken > 1) {
      const middle = (taken + refused) >> 1;
      if (await takes(own[middle]?.position ?? START)) taken = middle;
      else refused = middle;
    }
    const culprit = own[refused];
    // Without its first record there is no entity, and nothing to take.
    return culprit?.revision === 0 ? undefined : culprit?.position;
  }

  function isReadable(record: LogRecord): boolean {
    try {
      decode(record);
      return true;
    } catch {
      return false;
    }
  }

  return { restore, drop };
}
