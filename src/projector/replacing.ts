/**
 * Putting another edition of views in the place of those that a projector feeds, without a gap.
 *
 *   fed → held → fed
 *
 *   (fed)   the next edition is opened and brought to near where the views are             prepare
 *   held    nothing is fed to the views; the next edition comes to where they are, and
 *           passes over what they pass over                                                prepare
 *   fed     by the next edition, or by the old one when that is not to be taken            release
 *
 * Between the two the editions are the same, and readers can be given either. Where a view is in a
 * server, in which the next edition takes its place as it is closed, it is held before that (hold). A
 * hold that nobody ends is over after HOLD_MS_MAX, and then nothing has changed.
 */
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import { type ChangeLog, recordsBetween } from "../log/change-log.ts";
import type { ParkingRecord } from "../log/parking-codec.ts";
import type { Decode } from "./batch.ts";
import type { HistoryLog } from "./history.ts";
import { openParkingOf, type Parked, type Parking } from "./parking.ts";
import { restoreEntities, restoreParked } from "./restore.ts";
import type { View } from "./sink.ts";
import { createApplier } from "./staging.ts";
import type { Failure } from "./start-places.ts";

/** What the projector knows of a view that may be replaced. */
export interface Replaced {
  view: View;
  position: Position;
  /** What the sink keeps; at most some thousand records without writes behind the position. */
  checkpoint: Position;
  /** Name of the record at the position; when undefined, the sink may have it. */
  record: string | undefined;
  failure: Failure | undefined;
  parking: Parking | undefined;
  /** While a shared view takes a batch, or one is held; never rejects. Nothing is asked of it then. */
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

/** The stores' part. */
export interface Editions {
  /** The next editions, for writing, in the order of the names. */
  open(names: readonly string[]): Promise<readonly View[]>;
  /**
   * From now on whoever opens the views finds the next editions. The function that it gives back
   * drops the old ones, when their writers have closed them.
   */
  putInPlace(names: readonly string[]): Promise<() => Promise<void>>;
}

export interface ReplacingParts {
  readonly followers: readonly Replaced[];
  readonly editions: Editions | undefined;
  readonly log: HistoryLog & Pick<ChangeLog, "readAll" | "countBetween">;
  readonly decode: Decode;
  /** Runs `work` when no view is being fed by this process. */
  between<T>(work: () => Promise<T>): Promise<T>;
  /** As the log states it now. */
  parkingOf(view: View): Promise<Parking | undefined>;
}

const HOLD_MS_MAX = 60_000;
/** Records that the next edition may be behind when the views are held for it: some milliseconds. */
const CLOSE = 500;
/** How often it is brought to where the views were, while they go on. */
const CLOSER_MAX = 100;

export function createReplacing(parts: ReplacingParts) {
  const { followers, editions, log, decode, parkingOf } = parts;
  const named = (names: readonly string[]): readonly Replaced[] =>
    names.map((name) => {
      const found = followers.find(({ view }) => view.name === name);
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

  /** Back to what was fed before; the next edition stays beside. */
  async function giveUp(some: readonly Replaced[]): Promise<void> {
    for (const one of some) {
      const next = one.hold?.next;
      free(one);
      await next?.view.sink.close().catch(() => {});
    }
  }

  /**
   * What the next edition passes over is what the log says is parked. What it had passed over and
   * was mended meanwhile, or the other way round, is made anew in it.
   */
  async function settleParking(
    { view, position }: { readonly view: View; readonly position: Position },
    passedOver: Parking,
    parking: Parking,
  ): Promise<void> {
    const urns = new Set([...passedOver.list(), ...parking.list()].map(({ urn }) => urn));
    const views = [{ view, position, parking }];
    const restore = (some: readonly string[]) => restoreEntities(some, { log, decode, views });
    if (view.useParking !== undefined) {
      // The parking in the log lists what differs, and what was dropped meanwhile is omitted.
      for (const { urn } of parking.dropped()) urns.add(urn);
      for (const { urn, reason } of await restore([...urns])) {
        const before = passedOver.find(urn);
        // A record that cannot be decoded; the live generation may not have read it.
        if (before === undefined || parking.find(urn) !== undefined) continue;
        await parking.park({ urn, position: before.position }, new Error(reason));
      }
      return;
    }
    const unlike = [...urns].filter((urn) => {
      const at = passedOver.find(urn)?.position;
      return at !== parking.find(urn)?.position || parking.isDropped(at ?? START);
    });
    for (const { urn, reason } of await restore(unlike)) {
      const before = passedOver.find(urn);
      const own = parking.find(urn) ?? before;
      if (own === undefined) continue;
      if (parking.find(urn) === undefined) {
        await parking.park({ urn, position: own.position }, new Error(reason));
      }
      // An edition that parked it at the same record has the right rows.
      if (own.position === before?.position) continue;
      await restoreParked(urn, { view, parking, before: own.position }, { log, decode });
    }
  }

  /** Of an edition that is not in place: lists these, and what the log says was dropped; writes nothing. */
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

  /** Brings the next editions to where the views are, which are held then. */
  async function meet(
    asked: readonly Replaced[],
    views: readonly View[],
    parked: readonly Parked[],
  ): Promise<void> {
    const passedOver = await Promise.all(views.map((view) => openOwnParking(view, parked)));
    const from = await Promise.all(views.map(({ sink }) => sink.position()));
    const parkings = { parkings: passedOver, from: Math.min(...from) as Position };
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
      const own = passedOver[n];
      if (parking !== undefined && own !== undefined) {
        await settleParking({ view, position }, own, parking);
      }
      const hold = holds[n];
      if (hold === undefined || asked[n]?.hold !== hold) throw notHeld(view.name);
      hold.next = { view, position, parking };
    }
  }

  return {
    /** Resolves with the position of the foremost. */
    hold: (names: readonly string[]): Promise<Position> =>
      parts.between(() => holdNow(named(names))),

    /** Opens the next editions, which are near; `parked`: what they pass over. */
    async prepare(names: readonly string[], parked: readonly Parked[]): Promise<void> {
      const asked = named(names);
      if (editions === undefined) throw notFed(names.join(", "), "there are no other editions");
      const views = await editions.open(names);
      try {
        await meet(asked, views, parked);
      } catch (error) {
        for (const { hold } of asked) if (hold !== undefined) hold.next = undefined;
        await giveUp(asked);
        for (const { sink } of views) await sink.close().catch(() => {});
        throw error;
      }
    },

    /** Goes on with the next editions (`take`), or with the old ones. */
    async release(names: readonly string[], take: boolean): Promise<void> {
      const asked = named(names);
      const nexts = asked.flatMap(({ hold }) => (hold?.next === undefined ? [] : [hold.next]));
      if (!take || nexts.length < asked.length || editions === undefined) {
        await giveUp(asked);
        if (take) throw notFed(names.join(", "), "the next edition is not there any more");
        return;
      }
      let drop: () => Promise<void>;
      try {
        drop = await editions.putInPlace(names);
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
      // What is left of the old ones is removed by the next start.
      await drop().catch(() => {});
      for (const { view } of followers) void view.letGo?.();
    },

    /** Ends all holds. */
    freeAll: () => giveUp(followers.filter(({ hold }) => hold !== undefined)),
  };
}

const foremost = (some: readonly Replaced[]): Position =>
  Math.max(START, ...some.map(({ position }) => position)) as Position;

const notHeld = (view: string): CatalogError => notFed(view, "it is not held any more");

const notFed = (view: string, why: string): CatalogError =>
  new CatalogError("conflict", `the view "${view}" cannot be replaced: ${why}`, {
    hint: "Ask the process that feeds it, when nothing else replaces it",
  });
