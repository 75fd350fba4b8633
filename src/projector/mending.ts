/** Entities that are made anew in views, between two batches of a projector. */
import type { Position } from "../core/position.ts";
import type { Decode } from "./batch.ts";
import { partition } from "./groups.ts";
import type { HistoryLog } from "./history.ts";
import type { Parking } from "./parking.ts";
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
    if (parking === undefined) throw unknownView(name);
    await parking.drop(urn, actor);
    return restore([urn], name);
  }

  return { restore, drop };
}
