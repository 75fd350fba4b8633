/**
 * The projector: applies the records of the log to the views, continuously.
 *
 * Views that are at the same position form a group: the log is read and decoded once for it. Each
 * turn applies one batch to every group, the one with the highest position first.
 *
 * State of a view (`ViewState`)
 *
 *   following    the view has all writes up to its position; `failure` is undefined
 *   failing      the last batch could not be read or applied; `failure` has the error and the time
 *                of the next attempt. A poison record is parked instead
 *
 *   standby      a projector of another process applies batches to it; its position is polled
 *   mismatched   the log does not contain its last record: no batch is applied
 *
 *   following → following   a batch was applied                                applyBatch
 *   following → failing     an error was thrown                                fail (view-state.ts)
 *   failing   → failing     a later attempt failed; the pause doubles          fail
 *   failing   → following   a batch was applied after the pause, or the view is
 *                           at the head of the log                 applyBatch, clearFailure
 *   any       → mismatched  the log lacks the view's last record               log-comparison.ts
 *   mismatched → any        the log contains it again, or the view was rebuilt log-comparison.ts
 *   any       → standby     another projector has moved the (shared) view      applyBatch
 *   standby   → following   the view is behind and no projector moved it for
 *                           a while                                            poll (standby.ts)
 *
 * State of the projector: running → (stop) → stopping → stopped, after the batch in flight.
 *
 * Invariants
 *
 *   1. A view gets every record after its checkpoint once per attempt, in the order of the log.
 *      (advance reads from the group's position; only applyBatch, recover and a swap of
 *      generations move a view's position)
 *   2. A checkpoint is never ahead of what was applied. (the sink stores it with the rows; after a
 *      failure the projector reads it again, because the write may have been committed: recover)
 *   3. A failing view does not delay others, and recovers by itself. (ready omits it until its pause
 *      is over; then it forms a group of its own until it has caught up)
 *   4. A view that is less than a batch behind another joins its group. (turn lets the view ahead wait
 *      for that batch; advance ends the batch at `ahead`)
 *   5. Work is bounded: records and bytes of a batch, the pause between attempts, and the time for
 *      which the thread is blocked (one turn).
 *   6. New records are found even without a wake-up. (waitForWork ends after idleMs)
 *   7. An entity is restored between two turns, while no view applies a batch. (runQueued)
 *   8. A costly view does not delay the others, and they delay it for a bounded time: it gets a batch
 *      in each turn in which they reach the end of the log, and otherwise in every COSTLY_TURN-th turn.
 *      (turn)
 *   9. The maintenance of a view runs after the turns of the others, with pauses. (maintainViews)
 *  10. A shared view applies its batch in the background: a slow server does not delay other views.
 *      It gets no other call until the batch is done. (advance, whenIdle)
 *  11. One of several projectors applies batches to a shared view. When it ends, another takes over:
 *      soon if it has the view's model, later if it has another. (isAbandoned)
 *      Concurrent projectors are safe: a sink moves the checkpoint by compare-and-set, and otherwise
 *      rejects `conflict`. (applyBatch, poll)
 *  12. A paused view stays at its position until it is resumed, with its live generation or with the
 *      staging one, which is not behind. (swap-generations.ts)
 *  13. Views at the end of the log wait for the next wake-up, so that small writes are batched and most
 *      of the CPU is left to writers. (run, thread/wake-ups.ts)
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../core/change.ts";
import type { Position } from "../core/position.ts";
import { minOf } from "../lib/lists.ts";
import { recordsBetween } from "../log/change-log.ts";
import { applyToView } from "./apply-batch.ts";
import type { Batch } from "./batch.ts";
import { batchEnd, groupsOf, isBehindAtMost, partition } from "./batch-groups.ts";
import { createBatchReader } from "./batch-reader.ts";
import { createLogComparison } from "./log-comparison.ts";
import { openParkingOf, type Parking } from "./parking/parking.ts";
import { createEntityRestoring } from "./parking/restore-entity.ts";
import { asError, isConflict, stopped } from "./projector-errors.ts";
import type { Projector, ProjectorParts } from "./projector-parts.ts";
import { type Advanced, IDLE, type QueuedWork } from "./projector-parts.ts";
import { createGenerationSwap } from "./rebuild/swap-generations.ts";
import type { View } from "./sink.ts";
import { createStandby } from "./standby.ts";
import { checkAhead } from "./start-checkpoints.ts";
import { type ProjectorProgress, progressOf } from "./thread/progress-snapshot.ts";
import { createFailing, openViewState, type ViewState } from "./view-state.ts";

export type { ProjectorProgress } from "./thread/progress-snapshot.ts";

/** Records of a batch: a transaction of this size takes some tens of milliseconds. */
const BATCH_MAX = 2_000;

/** Maximum ignored records between two checkpoints: rereading is cheaper than frequent commits. */
const IGNORED_MAX = 10_000;

/** Pauses between attempts: short, because an attempt on an unavailable store is cheap. */
const RETRY_MS = { first: 100, max: 5_000 };

const IDLE_MS = 200;

const TAKE_OVER_MS = 3_000;

const COMPARE_MS = 60_000;

/** Polling of standby views after a wake-up: a caller may wait for them. */
const STANDBY_POLL = { everyMs: 25, forMs: 2_000 };

/**
 * Pauses after each step of a view's maintenance, such as deleting a million rows: `times` the
 * duration of the step, at most `msMax`. Requests then get disk and cores. A million rows take some
 * 150 steps and 25 seconds. Costly views pause less: their reads are slower until the end.
 */
const MAINTENANCE_PAUSE = { costly: { times: 4, msMax: 200 }, others: { times: 20, msMax: 155 } };

/** Costly views get every n-th turn while the other views are behind the end of the log. */
const COSTLY_TURN = 4;

/** Pause between turns while the log grows without wake-ups, because another process writes. */
const BUSY_MS = 50;

/**
 * Reads the checkpoints and begins. Rejects when a view cannot read its own, is ahead of the log,
 * or covers a record that the log does not have.
 */
export async function startProjector(parts: ProjectorParts): Promise<Projector> {
  const { log, decode, onProgress, batchMax = BATCH_MAX } = parts;
  const { retryMs = RETRY_MS, idleMs = IDLE_MS, takeOverMs = TAKE_OVER_MS } = parts;
  const between = (from: Position, to: Position) => recordsBetween(log, from, to);
  const parkingOf = async (view: View): Promise<Parking | undefined> =>
    parts.parkingStore && openParkingOf(view, parts.parkingStore, Date.now);
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
  let woken = false;
  let wokenAt = Number.NEGATIVE_INFINITY;
  let turnsWithoutCostly = 0;
  let wake: () => void = () => {};
  const queued: QueuedWork[] = [];
  const readAfter = createBatchReader({ log, decode, viewStates });
  const generationSwap = createGenerationSwap({
    ...{ viewStates, log, decode, parkingOf },
    generations: parts.generations,
    betweenTurns: runBetweenTurns,
  });

  const progress = (): ProjectorProgress => progressOf(viewStates);
  const report = (): void => onProgress(progress());
  const failing = createFailing(retryMs, report);
  const { fail } = failing;
  const standby = createStandby({
    ...{ viewStates, failing, head: () => log.head(), parkingOf, takeOverMs, report, wakeUp },
  });

  async function run(): Promise<void> {
    while (!stopping) {
      woken = false;
      comparison.compareIfDue();
      standby.poll();
      const { moved, more } = await turn();
      await runQueued();
      await maintainViews();
      if (!more && !woken && !stopping)
        await waitForWork(moved ? Math.min(BUSY_MS, idleMs) : idleMs);
      // Sinks may be synchronous: yield, so that the thread receives its messages.
      await yieldToEventLoop();
    }
    for (const { reject } of queued.splice(0)) reject(stopped());
    await generationSwap.endPauses();
    await whenIdle(viewStates);
    await comparison.whenIdle();
    await Promise.all(viewStates.map(storeCheckpoint));
  }

  async function runQueued(): Promise<void> {
    for (const { work } of queued.splice(0)) {
      await work();
      report();
    }
  }

  function runBetweenTurns<T>(work: () => Promise<T>): Promise<T> {
    if (stopping) return Promise.reject(stopped());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    queued.push({ work: () => work().then(resolve, (error) => reject(asError(error))), reject });
    wakeUp();
    return promise;
  }

  /** Runs one step of each view's maintenance, if its pause is over. */
  async function maintainViews(): Promise<void> {
    for (const viewState of viewStates) {
      const { sink } = viewState.view;
      const begun = performance.now();
      const isDue = (viewState.maintainAt ?? 0) <= begun;
      if (sink.maintain === undefined || !mayMaintain(viewState) || !isDue) continue;
      try {
        const more = await sink.maintain();
        const now = performance.now();
        const costly = viewState.view.costly === true;
        const { times, msMax } = costly ? MAINTENANCE_PAUSE.costly : MAINTENANCE_PAUSE.others;
        viewState.maintainAt = more ? now + Math.min((now - begun) * times, msMax) : undefined;
      } catch (error) {
        fail(viewState, error);
        report();
      }
    }
  }

  const mayMaintain = ({ failure, movedAt, busy }: ViewState): boolean =>
    failure === undefined && movedAt === undefined && busy === undefined;

  /** Stores the checkpoint. If that fails, the next start reads some records again. */
  async function storeCheckpoint(viewState: ViewState): Promise<void> {
    const { view, position, checkpoint, record, failure, mismatch, movedAt } = viewState;
    if (failure !== undefined || mismatch !== undefined) return;
    if (movedAt !== undefined || checkpoint === position) return;
    await view.sink.apply([], position, record).catch(() => {});
  }

  /** Applies one batch to every group, and to costly views in their turns. */
  async function turn(): Promise<Advanced> {
    const [costly, others] = partition(await ready(), ({ view }) => view.costly === true);
    const first = await advanceAll(others);
    turnsWithoutCostly = first.more ? turnsWithoutCostly + 1 : COSTLY_TURN;
    if (turnsWithoutCostly < COSTLY_TURN) return first;
    turnsWithoutCostly = 0;
    const then = await advanceAll(costly);
    return { moved: first.moved || then.moved, more: first.more || then.more };
  }

  async function advanceAll(due: readonly ViewState[]): Promise<Advanced> {
    let [moved, more, waits] = [false, false, false];
    let ahead: Position | undefined;
    const groups = groupsOf(due);
    for (const [n, group] of groups.entries()) {
      if (stopping) break;
      if (isBehindAtMost(log, batchMax, group, groups[n + 1])) waits = true;
      else {
        const advanced = await advance(group, ahead);
        moved ||= advanced.moved;
        more ||= advanced.more;
      }
      ahead = group[0]?.position;
    }
    // A group that waits for a group behind it continues when that group has moved.
    return { moved, more: more || (waits && moved) };
  }

  /** Views that can apply a batch: following views, and failing ones whose pause is over. */
  async function ready(): Promise<readonly ViewState[]> {
    const found: ViewState[] = [];
    for (const viewState of viewStates) {
      const { failure, movedAt, busy, mismatch } = viewState;
      if (movedAt !== undefined || busy !== undefined || mismatch !== undefined) continue;
      if (failure !== undefined && !viewState.recovered) {
        if (failure.retryAt > Date.now()) continue;
        if (viewState.view.shared !== undefined) {
          standby.recoverLater(viewState);
          continue;
        }
        if (!(await failing.recover(viewState))) continue;
      }
      viewState.recovered = viewState.unchecked;
      if (viewState.unchecked) comparison.compareSoon();
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
    const end = batchEnd(group, ahead, viewStates);
    if (end !== undefined && end <= after) return IDLE;
    let batch: Batch<PlacedChange>;
    let full: boolean;
    try {
      const read = await readAfter(after, { limit: batchMax, end, costly });
      // After a lost connection, the log may be another one.
      if (comparison.hasReconnected()) return IDLE;
      [batch, full] = [read.batch, read.full];
      if (read.atHead) {
        for (const viewState of group) failing.clearFailure(viewState);
        return IDLE;
      }
    } catch (error) {
      for (const viewState of group) fail(viewState, error);
      comparison.markUnchecked();
      report();
      return IDLE;
    }
    const [shared, own] = partition(group, ({ view }) => view.shared !== undefined);
    for (const viewState of shared) {
      viewState.busy = applyBatch(viewState, batch).finally(() => {
        viewState.busy = undefined;
        report();
        woken = true;
        wake();
      });
    }
    if (own.length === 0) return IDLE;
    await Promise.all(own.map((viewState) => applyBatch(viewState, batch)));
    report();
    const moved = own.some(({ position }) => position > after);
    const behind = own.some(({ position }) => position < (end ?? batch.upTo));
    return { moved, more: moved && (full || behind) };
  }

  const whenIdle = async (some: readonly ViewState[]): Promise<void> => {
    await Promise.all(some.map(({ busy }) => busy));
  };

  async function applyBatch(viewState: ViewState, changes: Batch<PlacedChange>): Promise<void> {
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

  /** Resolves on a wake-up, on `stop`, when a retry or maintenance is due, or after `msMax`. */
  function waitForWork(msMax: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const idle = viewStates.filter(({ busy }) => busy === undefined);
    const retryAt = minOf(idle.map(({ failure }) => failure?.retryAt ?? Infinity));
    const hasStandby = viewStates.some(({ movedAt }) => movedAt !== undefined);
    const polls = hasStandby && Date.now() - wokenAt < STANDBY_POLL.forMs;
    const dueAt = minOf(viewStates.map(({ maintainAt = Infinity }) => maintainAt));
    const ms = Math.min(
      polls ? STANDBY_POLL.everyMs : msMax,
      retryAt - Date.now(),
      dueAt - performance.now(),
    );
    const timer = setTimeout(resolve, Math.max(0, ms));
    wake = resolve;
    return promise.finally(() => clearTimeout(timer));
  }

  function wakeUp(): void {
    woken = true;
    wake();
  }
  const restoring = createEntityRestoring({ viewStates, log, decode, whenIdle });
  const running = run();
  return {
    progress,
    views: () => viewStates.map(({ view }) => view),
    wake() {
      wokenAt = Date.now();
      wakeUp();
    },
    restore: (urns, view) =>
      runBetweenTurns(() => {
        const wrong = viewStates.find(
          (one) => one.mismatch !== undefined && (view === undefined || view === one.view.name),
        );
        return wrong?.mismatch === undefined
          ? restoring.restore(urns, view)
          : Promise.reject(wrong.mismatch);
      }),
    drop: (urn, view, actor) => runBetweenTurns(() => restoring.drop(urn, view, actor)),
    pause: generationSwap.pause,
    prepare: generationSwap.prepare,
    resume: (views, take) =>
      generationSwap.resume(views, take).finally(() => {
        comparison.compareSoon();
        wakeUp();
      }),
    stop() {
      stopping = true;
      wake();
      return running;
    },
  };
}
