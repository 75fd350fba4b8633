/**
 * The projector: applies the records of the log to the views, continuously.
 *
 * Views that are at the same position form a group: the log is read and decoded once for it. Each
 * turn takes every group one batch further, the foremost first.
 *
 * State of a view (`ViewState`)
 *
 *   following    it has all writes up to its position; `failure` is undefined
 *   failing      the last batch could not be read or applied; `failure` has the error and the time
 *                of the next attempt. A poison record is parked instead
 *
 *   following → following   a batch was applied                                   feed
 *   following → failing     something threw                                       fail (view-state.ts)
 *   failing   → failing     the same on a later attempt; the pause doubles        fail
 *   failing   → following   a batch was applied after the pause                   feed
 *   any       → stopped     the log does not hold the view's last record          log-comparison.ts
 *   stopped   → any         the log holds it again, or the view is another one    log-comparison.ts
 *   any       → watching    another projector moved the (shared) view meanwhile   feed
 *   watching  → following   nobody moved it for a while, though it is behind      look (standby.ts)
 *
 *   watching     a projector of another process feeds it; its position is polled
 *
 * State of the projector: running → (stop) → stopping → stopped, the batch in flight finished.
 *
 * Invariants
 *
 *   1. A view gets every record after its checkpoint once per attempt, in the order of the log.
 *      (advance reads from the group's position; a view's position moves only in feed and recover)
 *   2. A checkpoint is never ahead of what was applied. (the sink stores it with the rows; after a
 *      failure the projector reads it again, because the write may have been committed: recover)
 *   3. A failing view does not delay others, and recovers by itself. (ready leaves it out until its
 *      pause is over; then it is a group of its own until it has caught up)
 *   4. A view that is less than a batch behind another meets it and shares its reading from there.
 *      (turn lets the one ahead wait for that batch, advance cuts it at `ahead`)
 *   5. Work is bounded: records and bytes of a batch, the pause between attempts, and the time for
 *      which the thread is blocked (one turn).
 *   6. New records are found without a poke, too. (rest ends after idleMs)
 *   7. An entity is restored between two turns, in which no view takes a batch. (runWanted)
 *   8. A costly view neither holds up the others nor is held up for good by them: it has a batch in
 *      each turn in which they reach the end of the log, and in one of COSTLY_TURN when they do not.
 *      (turn)
 *   9. Deferred work of a view is done after the turns of the others, with pauses. (tidy)
 *  10. A shared view applies its batch in the background: a slow server does not delay other views.
 *      It gets no other call until the batch is done. (advance, settled)
 *  11. Of several projectors of a shared view one feeds it, another takes over when that one ends:
 *      soon if it has the view's model, later if it has another. (isLeft)
 *      Two that try at once do no harm: a sink moves the checkpoint by compare and set, and rejects
 *      `conflict` otherwise. (feed, look)
 *  12. A held view stays at its position until it is released, with its live generation or with the
 *      staging one, which is not behind. (swap-generations.ts)
 *  13. Views that have reached the end of the log wait for the next poke: small writes are applied
 *      together, and most of the processor is left to writers. (run, thread/wake-ups.ts)
 */

import { setImmediate as otherTurns } from "node:timers/promises";
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import { recordsBetween } from "../log/change-log.ts";
import { applyToView } from "./apply-batch.ts";
import type { Batch } from "./batch.ts";
import { endOf, groupsOf, isWithin, partition } from "./batch-groups.ts";
import { createBatchReader } from "./batch-reader.ts";
import { createLogComparison } from "./log-comparison.ts";
import { openParkingOf, type Parking } from "./parking/parking.ts";
import { createEntityRestoring } from "./parking/restore-entity.ts";
import { asError, isConflict, stopped } from "./projector-errors.ts";
import type { Projector, ProjectorParts } from "./projector-parts.ts";
import { type Advanced, IDLE, type Wanted } from "./projector-parts.ts";
import { createGenerationSwap } from "./rebuild/swap-generations.ts";
import type { View } from "./sink.ts";
import { createStandby } from "./standby.ts";
import { checkAhead } from "./start-checkpoints.ts";
import { type ProjectorProgress, progressOf } from "./thread/progress-snapshot.ts";
import { createFailing, openViewState, type ViewState } from "./view-state.ts";

export type { ProjectorProgress, ViewProgress } from "./thread/progress-snapshot.ts";

/** Large enough to make a transaction cheap, small enough to take some ten milliseconds. */
const BATCH_MAX = 2_000;

/**
 * A view that has no writes for a batch keeps its checkpoint for so many records: to read again
 * after a crash what it ignores is cheaper than a transaction for every batch.
 */
const IGNORED_MAX = 10_000;

/** A store that comes back is not kept waiting: an attempt at one that is away costs next to nothing. */
const RETRY_MS = { first: 100, max: 5_000 };

const IDLE_MS = 200;

const TAKE_OVER_MS = 3_000;

const COMPARE_MS = 60_000;

/** Polling of watched views after a poke: a caller may wait for them. */
const WATCHED = { everyMs: 25, forMs: 2_000 };

/**
 * Deferred work of a view, such as deleting a million rows, leaves disk and cores to requests: after
 * each part it pauses for `times` as long. A million rows take some 150 parts, and 25 seconds.
 * Costly views have less time for it, and lose more without it.
 */
const TIDY_PAUSE = { costly: { times: 4, msMax: 200 }, others: { times: 20, msMax: 155 } };

/** Of so many turns in which other views do not reach the end of the log, costly ones have one. */
const COSTLY_TURN = 4;

/** Between turns while the log grows, where no poke comes: another process may have written. */
const BUSY_MS = 50;

/**
 * Reads the checkpoints and begins. Rejects when a view cannot read its own, is ahead of the log, or
 * covers a record that the log does not have.
 */
export async function startProjector(parts: ProjectorParts): Promise<Projector> {
  const { log, decode, onProgress, batchMax = BATCH_MAX } = parts;
  const { retryMs = RETRY_MS, idleMs = IDLE_MS, takeOverMs = TAKE_OVER_MS } = parts;
  const between = (from: Position, to: Position) => recordsBetween(log, from, to);
  const parkingOf = async (view: View): Promise<Parking | undefined> =>
    parts.notes && openParkingOf(view, parts.notes, Date.now);
  const viewStates: readonly ViewState[] = await Promise.all(
    parts.views.map((view) => openViewState(view, parkingOf, retryMs)),
  );
  checkAhead(viewStates, await log.head());
  const comparison = createLogComparison<ViewState>({
    ...{ viewStates, log, openLog: parts.openLog, everyMs: parts.compareMs ?? COMPARE_MS },
    retryMs,
    onFailure: (viewState, error) => fail(viewState, error),
    onCompared() {
      report();
      wakeUp();
    },
  });
  await comparison.atStart();
  let stopping = false;
  let poked = false;
  let pokedAt = Number.NEGATIVE_INFINITY;
  let turnsWithout = 0;
  /** When more of what was put off is to be done (performance.now). */
  let wake: () => void = () => {};
  const wanted: Wanted[] = [];
  const batches = createBatchReader({ log, decode, viewStates });
  const generationSwap = createGenerationSwap({
    ...{ viewStates, log, decode, parkingOf },
    generations: parts.generations,
    betweenTurns: want,
  });

  const progress = (): ProjectorProgress => progressOf(viewStates);
  const report = (): void => onProgress(progress());
  const failing = createFailing(retryMs, report);
  const { fail } = failing;
  const watching = createStandby({
    ...{ viewStates, failing, head: () => log.head(), parkingOf, takeOverMs, report, wakeUp },
  });

  async function run(): Promise<void> {
    while (!stopping) {
      poked = false;
      comparison.look();
      watching.look();
      const { moved, more } = await turn();
      await runWanted();
      await tidy();
      if (!more && !poked && !stopping) await rest(moved ? Math.min(BUSY_MS, idleMs) : idleMs);
      // Sinks may work without ever waiting: messages must get in between all the same.
      await otherTurns();
    }
    for (const { reject } of wanted.splice(0)) reject(stopped());
    await generationSwap.endHolds();
    await settled(viewStates);
    await comparison.settled();
    await Promise.all(viewStates.map(keepPosition));
  }

  async function runWanted(): Promise<void> {
    for (const { work } of wanted.splice(0)) {
      await work();
      report();
    }
  }

  /** Runs `work` between two turns. */
  function want<T>(work: () => Promise<T>): Promise<T> {
    if (stopping) return Promise.reject(stopped());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    wanted.push({ work: () => work().then(resolve, (error) => reject(asError(error))), reject });
    wakeUp();
    return promise;
  }

  /** Does a part of each view's deferred work, if its pause is over. */
  async function tidy(): Promise<void> {
    for (const viewState of viewStates) {
      const { sink } = viewState.view;
      const begun = performance.now();
      if (sink.tidy === undefined || !mayTidy(viewState) || (viewState.tidyAt ?? 0) > begun)
        continue;
      try {
        const more = await sink.tidy();
        const now = performance.now();
        const costly = viewState.view.costly === true;
        const { times, msMax } = costly ? TIDY_PAUSE.costly : TIDY_PAUSE.others;
        viewState.tidyAt = more ? now + Math.min((now - begun) * times, msMax) : undefined;
      } catch (error) {
        fail(viewState, error);
        report();
      }
    }
  }

  const mayTidy = ({ failure, movedAt, busy: feeding }: ViewState): boolean =>
    failure === undefined && movedAt === undefined && feeding === undefined;

  /** Stores the checkpoint, so that the next start reads nothing again. Errors only cost that reading. */
  async function keepPosition(viewState: ViewState): Promise<void> {
    const { view, position, checkpoint, record, failure, mismatch, movedAt } = viewState;
    if (failure !== undefined || mismatch !== undefined) return;
    if (movedAt !== undefined || checkpoint === position) return;
    await view.sink.apply([], position, record).catch(() => {});
  }

  /** One batch for every group, for costly views when it is their turn. */
  async function turn(): Promise<Advanced> {
    const [costly, others] = partition(await ready(), ({ view }) => view.costly === true);
    const first = await advanceAll(others);
    turnsWithout = first.more ? turnsWithout + 1 : COSTLY_TURN;
    if (turnsWithout < COSTLY_TURN) return first;
    turnsWithout = 0;
    const then = await advanceAll(costly);
    return { moved: first.moved || then.moved, more: first.more || then.more };
  }

  async function advanceAll(due: readonly ViewState[]): Promise<Advanced> {
    let [moved, more, waits] = [false, false, false];
    let ahead: Position | undefined;
    const groups = groupsOf(due);
    for (const [n, group] of groups.entries()) {
      if (stopping) break;
      if (isWithin(log, batchMax, group, groups[n + 1])) waits = true;
      else {
        const advanced = await advance(group, ahead);
        moved ||= advanced.moved;
        more ||= advanced.more;
      }
      ahead = group[0]?.position;
    }
    // A group that waits for one behind it continues when that one has moved.
    return { moved, more: more || (waits && moved) };
  }

  /** The views that follow, and those whose pause is over. */
  async function ready(): Promise<readonly ViewState[]> {
    const found: ViewState[] = [];
    for (const viewState of viewStates) {
      const { failure, movedAt, busy: feeding, mismatch } = viewState;
      if (movedAt !== undefined || feeding !== undefined || mismatch !== undefined) continue;
      if (failure !== undefined && !viewState.recovered) {
        if (failure.retryAt > Date.now()) continue;
        if (viewState.view.shared !== undefined) {
          watching.recoverLater(viewState);
          continue;
        }
        if (!(await failing.recover(viewState))) continue;
      }
      viewState.recovered = viewState.unchecked;
      if (viewState.unchecked) comparison.soon();
      else found.push(viewState);
    }
    return found;
  }

  async function advance(
    group: readonly ViewState[],
    ahead: Position | undefined,
  ): Promise<Advanced> {
    const [first] = group;
    if (first === undefined) return IDLE;
    const after = first.position;
    const costly = first.view.costly === true;
    const end = endOf(group, ahead, viewStates);
    if (end !== undefined && end <= after) return IDLE;
    let batch: Batch<PlacedChange>;
    let full: boolean;
    try {
      const read = await batches.read(after, { limit: batchMax, end, costly });
      // After a lost connection, the records may be those of another log.
      if (comparison.isInDoubt()) return IDLE;
      [batch, full] = [read.batch, read.full];
      if (read.atHead) {
        for (const viewState of group) failing.heal(viewState);
        return IDLE;
      }
    } catch (error) {
      for (const viewState of group) fail(viewState, error);
      comparison.doubt();
      report();
      return IDLE;
    }
    const [shared, own] = partition(group, ({ view }) => view.shared !== undefined);
    for (const viewState of shared) {
      viewState.busy = feed(viewState, batch).finally(() => {
        viewState.busy = undefined;
        report();
        poked = true;
        wake();
      });
    }
    if (own.length === 0) return IDLE;
    await Promise.all(own.map((viewState) => feed(viewState, batch)));
    report();
    const moved = own.some(({ position }) => position > after);
    const behind = own.some(({ position }) => position < (end ?? batch.upTo));
    return { moved, more: moved && (full || behind) };
  }

  const settled = async (some: readonly ViewState[]): Promise<void> => {
    await Promise.all(some.map(({ busy: feeding }) => feeding));
  };

  async function feed(viewState: ViewState, changes: Batch<PlacedChange>): Promise<void> {
    const { view, parking, checkpoint, position: after } = viewState;
    try {
      const always = (upTo: Position) =>
        view.awaited === true || between(checkpoint, upTo) >= IGNORED_MAX;
      const { upTo, moved, failure, record } = await applyToView(view, changes, after, {
        parking,
        always,
      });
      if (upTo > after) {
        if (moved) viewState.checkpoint = upTo;
        viewState.position = upTo;
        viewState.record = record;
        viewState.failure = undefined;
      }
      if (failure !== undefined) throw failure;
    } catch (error) {
      if (view.shared !== undefined && isConflict(error)) viewState.movedAt = Date.now();
      else fail(viewState, error);
    }
  }

  /** Until a poke, the end, the next attempt, or so many milliseconds. */
  function rest(msMax: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const idle = viewStates.filter(({ busy: feeding }) => feeding === undefined);
    const retryAt = Math.min(...idle.map(({ failure }) => failure?.retryAt ?? Infinity));
    const watches = viewStates.some(({ movedAt }) => movedAt !== undefined);
    const quick = watches && Date.now() - pokedAt < WATCHED.forMs;
    const tidyMs =
      Math.min(...viewStates.map(({ tidyAt = Infinity }) => tidyAt)) - performance.now();
    const ms = Math.min(quick ? WATCHED.everyMs : msMax, retryAt - Date.now(), tidyMs);
    const timer = setTimeout(resolve, Math.max(0, ms));
    wake = resolve;
    return promise.finally(() => clearTimeout(timer));
  }

  function wakeUp(): void {
    poked = true;
    wake();
  }
  const restoring = createEntityRestoring({ viewStates, log, decode, settled });
  const running = run();
  return {
    progress,
    views: () => viewStates.map(({ view }) => view),
    poke() {
      pokedAt = Date.now();
      wakeUp();
    },
    restore: (urns, view) =>
      want(() => {
        const wrong = viewStates.find(
          (one) => one.mismatch !== undefined && (view === undefined || view === one.view.name),
        );
        return wrong?.mismatch === undefined
          ? restoring.restore(urns, view)
          : Promise.reject(wrong.mismatch);
      }),
    drop: (urn, view, actor) => want(() => restoring.drop(urn, view, actor)),
    hold: generationSwap.hold,
    prepare: generationSwap.prepare,
    release: (views, take) =>
      generationSwap.release(views, take).finally(() => {
        comparison.soon();
        wakeUp();
      }),
    stop() {
      stopping = true;
      wake();
      return running;
    },
  };
}
