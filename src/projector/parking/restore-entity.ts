/** Restores entities in views between two batches of the projector. */
import type { Position } from "../../core/position.ts";
import type { LogRecord } from "../../log/change-log.ts";
import { recordsOf } from "../../log/whole-reads.ts";
import type { Decode } from "../batch.ts";
import { partition } from "../batch-groups.ts";
import { entityStreams, type HistoryLog, timeseriesAspects } from "../history.ts";
import { projectedElsewhere, unknownView } from "../projector-errors.ts";
import type { View } from "../sink.ts";
import { notParked, type Parked, type Parking, WHOLE_DOCUMENT } from "./parking.ts";
import { restoreEntities, restoreParked, type Unrestored, unrestoredError } from "./restore.ts";

interface RestorableView {
  readonly view: View;
  readonly position: Position;
  readonly parking: Parking | undefined;
  /** Undefined for a view that this process projects. */
  readonly movedAt: number | undefined;
}

export function createEntityRestoring<F extends RestorableView>(parts: {
  readonly viewStates: readonly F[];
  readonly log: HistoryLog;
  readonly decode: Decode;
  /** Resolves when no batch is in flight for these views. */
  readonly whenIdle: (some: readonly F[]) => Promise<void>;
}) {
  const { viewStates, log, decode, whenIdle } = parts;

  async function restore(
    urns: readonly string[],
    name: string | undefined,
  ): Promise<readonly Unrestored[]> {
    // Views that are built from this view contain its data of the entity.
    const affected = viewStates.filter(
      ({ view, movedAt }) =>
        name === undefined ||
        view.name === name ||
        (movedAt === undefined && view.builtFrom?.includes(name)),
    );
    await whenIdle(affected);
    const [standby, own] = partition(affected, ({ movedAt }) => movedAt !== undefined);
    const views = await Promise.all(
      own.map(async ({ view, position, parking }) => {
        // The store may have committed a batch that failed.
        const kept = await view.sink.position();
        return { view, parking, position: kept > position ? kept : position };
      }),
    );
    const unrestored = await restoreEntities(urns, { log, decode, views });
    const elsewhere = standby.flatMap(({ view }) =>
      urns.map((urn) => ({ urn, view: view.name, reason: projectedElsewhere, elsewhere: true })),
    );
    return [...unrestored, ...elsewhere];
  }

  async function drop(
    urn: string,
    name: string,
    actor: string | undefined,
  ): Promise<readonly Unrestored[]> {
    const viewState = viewStates.find(({ view }) => view.name === name);
    if (viewState !== undefined) await whenIdle([viewState]);
    const parking = viewState?.parking;
    if (viewState === undefined || parking === undefined) throw unknownView(name);
    const { view, position } = viewState;
    const all = parking.list().filter((one) => one.urn === urn);
    if (all.length === 0) throw notParked(name, urn);
    if (view.onParking !== undefined) {
      for (const one of all) {
        // A document that is omitted stays omitted until a later record changes it.
        const at = one.aspect === WHOLE_DOCUMENT.aspect ? position : one.position;
        await parking.drop({ ...one, position: at }, actor);
      }
      return restore([urn], name);
    }
    const parked = parking.find(urn);
    const poison = parked && (await findPoison({ view, position }, parking, parked));
    if (poison !== undefined) await parking.drop({ urn, position: poison }, actor);
    const unrestored = await restore([urn], name);
    const left = parking.find(urn);
    if (left !== undefined && !unrestored.some(({ unavailable }) => unavailable)) {
      // The bisection may have left rows of an earlier state.
      const before = left.position;
      await restoreParked(urn, { view, parking, before }, { log, decode });
    }
    return unrestored;
  }

  /** The record that the view cannot apply; undefined if it can apply all of them now. */
  async function findPoison(
    { view, position: upTo }: Pick<RestorableView, "view" | "position">,
    parking: Parking,
    { urn, position: first }: Parked,
  ): Promise<Position | undefined> {
    const left: Position[] = [];
    for (const stream of entityStreams(urn, await timeseriesAspects(log))) {
      for await (const record of recordsOf(log, stream)) {
        const { position } = record;
        if (position < first || position > upTo || parking.isDropped(position)) continue;
        if (!isReadable(record)) return position;
        left.push(position);
      }
    }
    if (!parking.isDropped(first)) return first;
    // The first poison record was dropped before: a later record is poison, too.
    left.sort((a, b) => a - b);
    const isApplied = async (upTo: Position) => {
      const views = [{ view, position: upTo, without: parking.isDropped }];
      const [unrestored] = await restoreEntities([urn], { log, decode, views });
      if (unrestored?.unavailable) throw unrestoredError(unrestored);
      return unrestored === undefined;
    };
    let [applied, failing] = [-1, left.length];
    while (failing - applied > 1) {
      const middle = (applied + failing) >> 1;
      if (await isApplied(left[middle] ?? first)) applied = middle;
      else failing = middle;
    }
    return left[failing];
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
