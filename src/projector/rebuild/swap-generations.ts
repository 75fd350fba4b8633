/**
 * Swaps the live generations of a projector's views for the staging ones, without losing a record.
 *
 *   prepare   opens the staging generations and applies the log to near the positions of the views;
 *             pauses the views, applies the rest, and reconciles the parked entities
 *   resume    makes the staging generations live, or continues with the old ones; ends the pause
 *
 * After `prepare`, both generations are equal, and readers can use either. On a server, the thread
 * that builds a staging generation makes it live (Sink.publish) before `prepare`, so `pause` pauses
 * the view first. A pause ends after PAUSE_MS_MAX; then the old generations continue.
 */
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import { maxOf, minOf } from "../../lib/lists.ts";
import { type ChangeLog, recordsBetween } from "../../log/change-log.ts";
import type { ParkingRecord } from "../../log/codecs/parking-codec.ts";
import type { Decode } from "../batch.ts";
import type { HistoryLog } from "../history.ts";
import { openParkingOf, type Parked, type Parking } from "../parking/parking.ts";
import { restoreEntities, restoreParked } from "../parking/restore.ts";
import type { View } from "../sink.ts";
import type { Failure } from "../start-checkpoints.ts";
import { createApplier } from "./staging.ts";

/** The state of a view whose generation can be swapped. */
export interface SwappableView {
  view: View;
  position: Position;
  /** The stored checkpoint. Only records without writes lie between it and the position. */
  checkpoint: Position;
  /** Name of the record at the position; if undefined, the sink may have stored it. */
  record: string | undefined;
  failure: Failure | undefined;
  parking: Parking | undefined;
  /** Pending while a shared view applies a batch or a view is paused; never rejects. */
  busy: Promise<void> | undefined;
  readonly movedAt: number | undefined;
  pause: Pause | undefined;
}

interface Pause {
  readonly ended: PromiseWithResolvers<void>;
  readonly timer: NodeJS.Timeout;
  staging: StagingView | undefined;
}

interface StagingView {
  readonly view: View;
  readonly position: Position;
  readonly parking: Parking | undefined;
}

/** The generations in the stores. */
export interface GenerationStore {
  /** Opens the staging generations for writing, in the order of the names. */
  openStaging(names: readonly string[]): Promise<readonly View[]>;
  /**
   * Makes the staging generations live. Returns a function that drops the old ones, for when their
   * writers have closed them.
   */
  makeLive(names: readonly string[]): Promise<() => Promise<void>>;
}

interface GenerationSwapParts {
  readonly viewStates: readonly SwappableView[];
  readonly generations: GenerationStore | undefined;
  readonly log: HistoryLog & Pick<ChangeLog, "readAll" | "countBetween">;
  readonly decode: Decode;
  /** Runs `work` while no batch is applied. */
  betweenTurns<T>(work: () => Promise<T>): Promise<T>;
  /** Reads the parking of a view from the log. */
  parkingOf(view: View): Promise<Parking | undefined>;
}

const PAUSE_MS_MAX = 60_000;
/** Maximum lag of the staging generations, in records, at which the views are paused. */
const NEAR_RECORDS = 500;
/** Maximum number of catch-up rounds; the live generations move during each. */
const CATCH_UP_ROUNDS_MAX = 100;

export function createGenerationSwap(parts: GenerationSwapParts) {
  const { viewStates, generations, log, decode, parkingOf } = parts;
  const statesOf = (names: readonly string[]): readonly SwappableView[] =>
    names.map((name) => {
      const found = viewStates.find(({ view }) => view.name === name);
      if (found === undefined) throw cannotSwap(name, "this process does not project it");
      return found;
    });

  function endPause(one: SwappableView): void {
    if (one.pause === undefined) return;
    clearTimeout(one.pause.timer);
    one.busy = undefined;
    one.pause.ended.resolve();
    one.pause = undefined;
  }

  /** Resumes the live generations and closes the staging ones, whose files stay. */
  async function resumeLive(some: readonly SwappableView[]): Promise<void> {
    for (const one of some) {
      const next = one.pause?.staging;
      endPause(one);
      await next?.view.sink.close().catch(() => {});
    }
  }

  /**
   * Adapts a staging generation to the parking in the log: restores the entities that only one of
   * the two parkings lists.
   */
  async function reconcileParking(
    { view, position }: { readonly view: View; readonly position: Position },
    staged: Parking,
    parking: Parking,
  ): Promise<void> {
    const urns = new Set([...staged.list(), ...parking.list()].map(({ urn }) => urn));
    const views = [{ view, position, parking }];
    const restore = (some: readonly string[]) => restoreEntities(some, { log, decode, views });
    if (view.onParking !== undefined) {
      // The restore parks differing values in the log, and omits values dropped during the build.
      for (const { urn } of parking.dropped()) urns.add(urn);
      for (const { urn, reason } of await restore([...urns])) {
        const before = staged.find(urn);
        // A record that cannot be decoded; the live generation may not have read it.
        if (before === undefined || parking.find(urn) !== undefined) continue;
        await parking.park({ urn, position: before.position }, new Error(reason));
      }
      return;
    }
    const differing = [...urns].filter((urn) => {
      const at = staged.find(urn)?.position;
      return at !== parking.find(urn)?.position || parking.isDropped(at ?? START);
    });
    for (const { urn, reason } of await restore(differing)) {
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

  /**
   * The parking of a staging generation: these entities, and the drops in the log; writes nothing.
   */
  async function openStagingParking(view: View, parked: readonly Parked[]): Promise<Parking> {
    const dropped = (await parkingOf(view))?.dropped() ?? [];
    const records = parked
      .filter((one) => one.view === view.name)
      .map((one): ParkingRecord => ({ ...one, kind: "parked", actor: null }));
    const load = async () => [...dropped, ...records];
    return openParkingOf(view, { load, write: async () => {} }, Date.now);
  }

  async function pauseViews(requested: readonly SwappableView[]): Promise<Position> {
    const paused = requested.find(({ pause }) => pause !== undefined);
    if (paused !== undefined) throw cannotSwap(paused.view.name, "another swap has paused it");
    await Promise.all(requested.map(({ busy }) => busy));
    const standby = requested.find(({ movedAt }) => movedAt !== undefined);
    if (standby !== undefined) throw cannotSwap(standby.view.name, "another process projects it");
    for (const one of requested) {
      const over = Promise.withResolvers<void>();
      const timer = setTimeout(() => void resumeLive([one]), PAUSE_MS_MAX).unref();
      one.pause = { ended: over, timer, staging: undefined };
      one.busy = over.promise;
    }
    return highestPosition(requested);
  }

  /** Catches up with the views, pauses them, and applies the remaining records. */
  async function catchUpAndPause(
    requested: readonly SwappableView[],
    views: readonly View[],
    parked: readonly Parked[],
  ): Promise<void> {
    const staged = await Promise.all(views.map((view) => openStagingParking(view, parked)));
    const from = await Promise.all(views.map(({ sink }) => sink.position()));
    const parkings = { parkings: staged, from: minOf(from) as Position };
    const applier = createApplier({ log, decode, views, ...parkings });
    const behind = () => recordsBetween(log, applier.position(), highestPosition(requested));
    for (let round = 0; round < CATCH_UP_ROUNDS_MAX && behind() > NEAR_RECORDS; round++) {
      await applier.applyTo(highestPosition(requested));
    }
    if (requested.some(({ pause }) => pause === undefined))
      await parts.betweenTurns(() => pauseViews(requested));
    const pauses = requested.map(({ pause }) => pause);
    await applier.applyTo(highestPosition(requested));
    for (const [n, view] of views.entries()) {
      const position = await view.sink.position();
      const parking = await parkingOf(view);
      const own = staged[n];
      if (parking !== undefined && own !== undefined) {
        await reconcileParking({ view, position }, own, parking);
      }
      const pause = pauses[n];
      if (pause === undefined || requested[n]?.pause !== pause) throw pauseEnded(view.name);
      pause.staging = { view, position, parking };
    }
  }

  return {
    /** Resolves with the highest position of the views. */
    pause: (names: readonly string[]): Promise<Position> =>
      parts.betweenTurns(() => pauseViews(statesOf(names))),

    /**
     * Opens the staging generations and pauses the views. `parked`: the parked entities of the
     * build.
     */
    async prepare(names: readonly string[], parked: readonly Parked[]): Promise<void> {
      const requested = statesOf(names);
      if (generations === undefined)
        throw cannotSwap(names.join(", "), "its store has no staging generations");
      const views = await generations.openStaging(names);
      try {
        await catchUpAndPause(requested, views, parked);
      } catch (error) {
        for (const { pause } of requested) if (pause !== undefined) pause.staging = undefined;
        await resumeLive(requested);
        for (const { sink } of views) await sink.close().catch(() => {});
        throw error;
      }
    },

    /** Ends the pauses: continues with the staging generations (`take`), or with the old ones. */
    async resume(names: readonly string[], take: boolean): Promise<void> {
      const requested = statesOf(names);
      const stagingViews = requested.flatMap(({ pause }) =>
        pause?.staging === undefined ? [] : [pause.staging],
      );
      if (!take || stagingViews.length < requested.length || generations === undefined) {
        await resumeLive(requested);
        if (take) throw cannotSwap(names.join(", "), "its staging generation was closed");
        return;
      }
      let drop: () => Promise<void>;
      try {
        drop = await generations.makeLive(names);
      } catch (error) {
        await resumeLive(requested);
        throw error;
      }
      for (const [n, one] of requested.entries()) {
        const { view, position, parking } = stagingViews[n] as StagingView;
        const old = one.view;
        Object.assign(one, { view, position, checkpoint: position, parking });
        Object.assign(one, { record: undefined, failure: undefined });
        endPause(one);
        await old.sink.close().catch(() => {});
      }
      // The next start removes old generations that could not be dropped.
      await drop().catch(() => {});
      for (const { view } of viewStates) void view.followSources?.();
    },

    /** Ends all pauses. */
    endPauses: () => resumeLive(viewStates.filter(({ pause }) => pause !== undefined)),
  };
}

const highestPosition = (some: readonly SwappableView[]): Position =>
  maxOf([START, ...some.map(({ position }) => position)]) as Position;

const pauseEnded = (view: string): CatalogError => cannotSwap(view, "its pause has ended");

const cannotSwap = (view: string, why: string): CatalogError =>
  new CatalogError("conflict", `the generation of the view "${view}" cannot be swapped: ${why}`, {
    hint: "Send the request to the node that projects the view, when no other rebuild runs",
  });
