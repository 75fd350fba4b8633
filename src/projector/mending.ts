/** Entities that are made anew in views, between two batches of a projector. */
import { type Position, position, START } from "../core/position.ts";
import { entityStream } from "../core/stream.ts";
import type { LogRecord } from "../log/change-log.ts";
import type { Decode } from "./batch.ts";
import { partition } from "./groups.ts";
import { type HistoryLog, recordsOf } from "./history.ts";
import { notParked, type Parked, type Parking } from "./parking.ts";
import { fedElsewhere, unknownView } from "./projector-errors.ts";
import { restoreEntities, type Unrestored } from "./restore.ts";
import type { View } from "./sink.ts";

interface Mended {
  readonly view: View;
  readonly position: Position;
  readonly parking: Parking | undefined;
  /** Undefined of a view that this process feeds. */
  readonly movedAt: number | undefined;
}

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
    return restore([urn], name);
  }

  /**
   * The record that the view cannot take. One that is made of what entities are was told of all of an
   * entity's records at once, and parked it with the first: there it is one with which it cannot take the
   * entity, and without which it can. Undefined where it is none of them, or it can take it now.
   */
  async function culpritOf(
    { refuses }: View,
    parking: Parking,
    { urn, position: first }: Parked,
  ): Promise<Position | undefined> {
    if (refuses === undefined) return first;
    const places: Pick<LogRecord, "position" | "revision">[] = [];
    for await (const record of recordsOf(log, entityStream(urn))) {
      const { position, revision } = record;
      if (position < first || parking.isDropped(position)) continue;
      if (!isReadable(record)) return position;
      places.push({ position, revision });
    }
    const refusesAt = (n: number) => refuses(urn, places[n]?.position ?? START);
    let [taken, refused] = [-1, places.length - 1];
    if (refused < 0 || !(await refusesAt(refused))) return undefined;
    // What it cannot take without any of them either is none of them: an event of a timeseries, say.
    if (await refuses(urn, position(first - 1))) return undefined;
    while (refused - taken > 1) {
      const middle = (taken + refused) >> 1;
      if (await refusesAt(middle)) refused = middle;
      else taken = middle;
    }
    const culprit = places[refused];
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
