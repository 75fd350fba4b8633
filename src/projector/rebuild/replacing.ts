/**
 * Replaces the live generations of a projector's views by staging ones, without a gap.
 *
 *   fed → held → fed
 *
 *   (fed)   the staging generation is opened and brought near the view's position          prepare
 *   held    the view is paused; the staging generation reaches its position and gets the
 *           same parked entities                                                           prepare
 *   fed     the staging generation becomes live, or the old one continues                  release
 *
 * While a view is held, both generations are equal, and readers can use either. In a server, a staging
 * generation becomes live when it is closed, so the view is held before (hold). A hold ends after
 * HOLD_MS_MAX; then nothing has changed.
 */
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { type ChangeLog, recordsBetween } from "../../log/change-log.ts";
import type { ParkingRecord } from "../../log/codecs/parking-codec.ts";
import type { Decode } from "../batch.ts";
import type { HistoryLog } from "../history.ts";
import { openParkingOf, type Parked, type Parking } from "../parking/parking.ts";
import { restoreEntities, restoreParked } from "../parking/restore.ts";
import type { View } from "../sink.ts";
import type { Failure } from "../start-checkpoints.ts";
import { createApplier } from "./staging.ts";

/** The state of a replaceable view in the projector. */
export interface Replaced {
  view: View;
  position: Position;
  /** The stored checkpoint; behind the position by at most some thousand records without writes. */
  checkpoint: Position;
  /** Name of the record at the position; if undefined, the sink may have stored it. */
  record: string | undefined;
  failure: Failure | undefined;
  parking: Parking | undefined;
  /** Pending while a shared view applies a batch or a view is held; never rejects. */
  feeding: Promise<void> | undefined;
  readonly movedAt: number | undefined;
  hold: Hold | undefined;
}

export interface Hold {
  readonly over: PromiseWithResolvers<void>;
  readonly timer: NodeJS.Timeout;
  next: Next | undefined;
}

interface Next {
  readonly view: View;
  readonly position: Position;
  readonly parking: Parking | undefined;
}

/** The generations in the stores. */
export interface GenerationStore {
  /** Opens the staging generations for writing, in the order of the names. */
  open(names: readonly string[]): Promise<readonly View[]>;
  /**
   * Makes the staging generations live. Returns a function that drops the old ones, for when their
   * writers have closed them.
   */
  putInPlace(names: readonly string[]): Promise<() => Promise<void>>;
}

export interface ReplacingParts {
  readonly viewStates: readonly Replaced[];
  readonly generations: GenerationStore | undefined;
  readonly log: HistoryLog & Pick<ChangeLog, "readAll" | "countBetween">;
  readonly decode: Decode;
  /** Runs `work` when no view is being fed by this process. */
  between<T>(work: () => Promise<T>): Promise<T>;
  /** Reads the parking of a view from the log. */
  parkingOf(view: View): Promise<Parking | undefined>;
}

const HOLD_MS_MAX = 60_000;
/** The views are held when the staging generations are at most so many records behind. */
const CLOSE = 500;
/** Attempts to get that close while the views move on. */
const CLOSER_MAX = 100;

export function createReplacing(parts: ReplacingParts) {
  const { viewStates, generations, log, decode, parkingOf } = parts;
  const named = (names: readonly string[]): readonly Replaced[] =>
    names.map((name) => {
      const found = viewStates.find(({ view }) => view.name === name);
      if (found === undefined) throw notFed(name, "this process does not feed it");
      return found;
    });

  function free(one: Replaced): void {
    if (one.hold === undefined) return;
    clearTimeout(one.hold.timer);
    one.feeding = undefined;
    one.hold.over.resolve();
    one.hold = undefined;
  }

  /** Resumes the live generations; the staging ones are closed and stay. */
  async function giveUp(some: readonly Replaced[]): Promise<void> {
    for (const one of some) {
      const next = one.hold?.next;
      free(one);
      await next?.view.sink.close().catch(() => {});
    }
  }

  /**
   * Adapts a staging generation to the parking in the log: restores the entities that only one of
   * the two parkings lists.
   */
  async function settleParking(
    { view, position }: { readonly view: View; readonly position: Position },
    staged: Parking,
    parking: Parking,
  ): Promise<void> {
    const urns = new Set([...staged.list(), ...parking.list()].map(({ urn }) => urn));
    const views = [{ view, position, parking }];
    const restore = (some: readonly string[]) => restoreEntities(some, { log, decode, views });
    if (view.onParking !== undefined) {
      // The restore lists differing values in the log's parking, and omits those dropped meanwhile.
      for (const { urn } of parking.dropped()) urns.add(urn);
      for (const { urn, reason } of await restore([...urns])) {
        const before = staged.find(urn);
        // A record that cannot be decoded; the live generation may not have read it.
        if (before === undefined || parking.find(urn) !== undefined) continue;
        await parking.park({ urn, position: before.position }, new Error(reason));
      }
      return;
    }
    const unlike = [...urns].filter((urn) => {
      const at = staged.find(urn)?.position;
      return at !== parking.find(urn)?.position || parking.isDropped(at ?? START);
    });
    for (const { urn, reason } of await restore(unlike)) {
      const before = staged.find(urn);
      const own = parking.find(urn) ?? before;
      if (own === undefined) continue;
      if (parking.find(urn) === undefined) {
        await parking.park({ urn, position: own.position }, new Error(reason));
      }
      // A staging generation that parked it at the same record has the right rows.
      if (own.position === before?.position) continue;
      await restoreParked(urn, { view, parking, before: own.position }, { log, decode });
    }
  }

  /** The parking of a staging generation: these entities, and the drops in the log; writes nothing. */
  async function openOwnParking(view: View, parked: readonly Parked[]): Promise<Parking> {
    const dropped = (await parkingOf(view))?.dropped() ?? [];
    const records = parked
      .filter((one) => one.view === view.name)
      .map((one): ParkingRecord => ({ ...one, kind: "parked", actor: null }));
    const load = async () => [...dropped, ...records];
    return openParkingOf(view, { load, write: async () => {} }, Date.now);
  }

  async function holdNow(asked: readonly Replaced[]): Promise<Position> {
    const held = asked.find(({ hold }) => hold !== undefined);
    if (held !== undefined) throw notFed(held.view.name, "it is held already");
    await Promise.all(asked.map(({ feeding }) => feeding));
    const watched = asked.find(({ movedAt }) => movedAt !== undefined);
    if (watched !== undefined) throw notFed(watched.view.name, "another process feeds it");
    for (const one of asked) {
      const over = Promise.withResolvers<void>();
      const timer = setTimeout(() => void giveUp([one]), HOLD_MS_MAX).unref();
      one.hold = { over, timer, next: undefined };
      one.feeding = over.promise;
    }
    return foremost(asked);
  }

  /** Brings the staging generations to the positions of the views, which are then held. */
  async function meet(
    asked: readonly Replaced[],
    views: readonly View[],
    parked: readonly Parked[],
  ): Promise<void> {
    const staged = await Promise.all(views.map((view) => openOwnParking(view, parked)));
    const from = await Promise.all(views.map(({ sink }) => sink.position()));
    const parkings = { parkings: staged, from: Math.min(...from) as Position };
    const applier = createApplier({ log, decode, views, ...parkings });
    const behind = () => recordsBetween(log, applier.position(), foremost(asked));
    for (let turn = 0; turn < CLOSER_MAX && behind() > CLOSE; turn++) {
      await applier.applyTo(foremost(asked));
    }
    if (asked.some(({ hold }) => hold === undefined)) await parts.between(() => holdNow(asked));
    const holds = asked.map(({ hold }) => hold);
    await applier.applyTo(foremost(asked));
    for (const [n, view] of views.entries()) {
      const position = await view.sink.position();
      const parking = await parkingOf(view);
      const own = staged[n];
      if (parking !== undefined && own !== undefined) {
        await settleParking({ view, position }, own, parking);
      }
      const hold = holds[n];
      if (hold === undefined || asked[n]?.hold !== hold) throw notHeld(view.name);
      hold.next = { view, position, parking };
    }
  }

  return {
    /** Resolves with the highest position of the views. */
    hold: (names: readonly string[]): Promise<Position> =>
      parts.between(() => holdNow(named(names))),

    /** Opens the staging generations, which are near; `parked`: their parked entities. */
    async prepare(names: readonly string[], parked: readonly Parked[]): Promise<void> {
      const asked = named(names);
      if (generations === undefined)
        throw notFed(names.join(", "), "its store has no staging generations");
      const views = await generations.open(names);
      try {
        await meet(asked, views, parked);
      } catch (error) {
        for (const { hold } of asked) if (hold !== undefined) hold.next = undefined;
        await giveUp(asked);
        for (const { sink } of views) await sink.close().catch(() => {});
        throw error;
      }
    },

    /** Continues with the staging generations (`take`), or with the old ones. */
    async release(names: readonly string[], take: boolean): Promise<void> {
      const asked = named(names);
      const nexts = asked.flatMap(({ hold }) => (hold?.next === undefined ? [] : [hold.next]));
      if (!take || nexts.length < asked.length || generations === undefined) {
        await giveUp(asked);
        if (take) throw notFed(names.join(", "), "its staging generation is gone");
        return;
      }
      let drop: () => Promise<void>;
      try {
        drop = await generations.putInPlace(names);
      } catch (error) {
        await giveUp(asked);
        throw error;
      }
      for (const [n, one] of asked.entries()) {
        const { view, position, parking } = nexts[n] as Next;
        const old = one.view;
        Object.assign(one, { view, position, checkpoint: position, parking });
        Object.assign(one, { record: undefined, failure: undefined });
        free(one);
        await old.sink.close().catch(() => {});
      }
      // The next start removes leftovers of the old ones.
      await drop().catch(() => {});
      for (const { view } of viewStates) void view.letGo?.();
    },

    /** Ends all holds. */
    freeAll: () => giveUp(viewStates.filter(({ hold }) => hold !== undefined)),
  };
}

const foremost = (some: readonly Replaced[]): Position =>
  Math.max(START, ...some.map(({ position }) => position)) as Position;

const notHeld = (view: string): CatalogError => notFed(view, "it is not held any more");

const notFed = (view: string, why: string): CatalogError =>
  new CatalogError("conflict", `the view "${view}" cannot be replaced: ${why}`, {
    hint: "Ask the process that feeds it, when nothing else replaces it",
  });
