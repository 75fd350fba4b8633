/**
 * The client of the projector's thread (projector-thread.ts): its progress and its life cycle.
 *
 *   starting → running      the thread reports its first progress
 *   starting → (rejected)   the first thread cannot open its stores: the service cannot start
 *   running  → pausing      the thread ended by itself; logged, shown by errors()
 *   pausing  → running      another thread runs, after a pause that doubles with each crash
 *   pausing  → given up     too many crashes without any progress between them; waits are rejected
 *   any      → closed       close()
 *
 * A restarted thread reads the checkpoints from the views: it applies the batch that was in flight
 * again, and a crash loses nothing else.
 */
import type { Worker } from "node:worker_threads";
import { CatalogError, messageOf } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { type Connection, connect } from "../../core/thread-calls.ts";
import { maxOf } from "../../lib/lists.ts";
import type { ParkingRecord } from "../../log/codecs/parking-codec.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ProjectorProgress } from "../projector.ts";
import type { GenerationSwap, Progress, Restoration } from "./progress.ts";
import type { ProjectorOwner, ProjectorThread } from "./projector-thread.ts";
import { startProjectorWorker } from "./projector-worker.ts";
import { createRestoreCalls } from "./restore-calls.ts";
import { createStuckViews } from "./stuck-views.ts";
import { createWakeUps } from "./wake-ups.ts";

export interface ProjectorClient extends Progress, Restoration, GenerationSwap {
  /** Views that were built with another model: their rows may differ from those of this one. */
  stale(): readonly string[];
  /** Views whose files are damaged: their rows may be wrong until they are rebuilt. */
  damaged(): readonly string[];
  /** Marks views as damaged until they are rebuilt. */
  markDamaged(views: readonly string[]): void;
  /** Called with each view that becomes damaged, and with each that is rebuilt. */
  onDamaged(listener: (view: string, isDamaged: boolean) => void): void;
  /**
   * The error of a view if the log was replaced: it lacks the view's last record
   * (log-comparison.ts).
   */
  replacedLog(): string | undefined;
  /** Views that this process projects. */
  projected(): readonly string[];
  /** Number of times each view was emptied: unreadable, or built from another log or model. */
  emptied(): Readonly<Record<string, number>>;
  /** Finishes the batch in flight and closes the views. Waits are rejected `unavailable`. */
  close(): Promise<void>;
}

export interface ProjectorThreadOptions {
  /** Configuration of the thread's stores; plain data. */
  readonly stores: unknown;
  /** The module that opens them (ThreadStores); src/app/stores.ts when absent. */
  readonly module?: URL | undefined;
  /** The first thread, if it is already running (startProjectorWorker). */
  readonly worker?: Worker | undefined;
  readonly logger: Pick<Logger, "info" | "warn" | "error">;
  /** Appends a parking record to the log; resolves when it is durable. */
  readonly writeParking: (view: string, record: ParkingRecord) => Promise<void>;
  /**
   * First and maximum pause before a crashed thread is restarted, and the maximum number of
   * crashes.
   */
  readonly restart?:
    | { readonly firstMs: number; readonly maxMs: number; readonly crashesMax: number }
    | undefined;
}

interface RunningThread {
  readonly worker: Worker;
  readonly connection: Connection<ProjectorThread>;
  /** Resolves when the exit of the thread is handled. */
  readonly exited: Promise<void>;
}

const RESTART = { firstMs: 200, maxMs: 30_000, crashesMax: 20 };
/** Time until a thread that does not stop is terminated; a batch takes milliseconds. */
const STOP_MS_MAX = 30_000;

/** Resolves when the thread runs; rejects when it cannot open its stores. */
export async function startProjectorThread(
  options: ProjectorThreadOptions,
): Promise<ProjectorClient> {
  const { logger, restart = RESTART } = options;
  let progress: ProjectorProgress = {};
  let positions: Readonly<Record<string, Position>> = {};
  /** The reason that no thread runs. */
  let unavailableReason: CatalogError | undefined;
  let thread: RunningThread | undefined;
  let running = false;
  let crashes = 0;
  let restarting: NodeJS.Timeout | undefined;
  let ended: "closed" | "given up" | undefined;
  const listeners: ((positions: Readonly<Record<string, Position>>) => void)[] = [];
  const waits = createWaits();
  const stuck = createStuckViews(waits.rejectStuck);
  const wakeUps = createWakeUps(() => {
    if (running) thread?.connection.notify("wake", undefined);
    return running;
  });
  const restores = createRestoreCalls();
  const stale = new Set<string>();
  const damaged = new Set<string>();
  const damageListeners: ((view: string, isDamaged: boolean) => void)[] = [];
  const emptied: Record<string, number> = {};
  const onEmptied = (view: string, why: string): void => {
    emptied[view] = (emptied[view] ?? 0) + 1;
    // During a start, app/log-and-views.ts rejects reads of the view until it has caught up.
    if (running || crashes > 0) setDamaged([view], true);
    logger.warn({ view }, why === "damaged" ? cannotBeRead : emptiedBecause(why));
  };
  function setDamaged(views: readonly string[], isDamaged: boolean): void {
    const moved = views.filter((view) => damaged.has(view) !== isDamaged);
    for (const view of moved) isDamaged ? damaged.add(view) : damaged.delete(view);
    // Invalidates cached reads of the damaged views.
    if (isDamaged && moved.length > 0) restores.allRestored();
    for (const view of moved) for (const listener of damageListeners) listener(view, isDamaged);
  }

  /** Throws `unavailable` while no thread runs. */
  function connection(): Connection<ProjectorThread> {
    if (!running || thread === undefined) throw unavailable("the projector does not run");
    return thread.connection;
  }

  /** Resolves with the first progress of the thread; rejects if the thread ends before. */
  function start(worker = startProjectorWorker(options.module)): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let reason: CatalogError | undefined;
    const connection = connect<ProjectorThread>(worker, {
      progress(next) {
        if (unavailableReason !== undefined) logger.info({}, "projector runs again");
        unavailableReason = undefined;
        running = true;
        resolve();
        onProgress(next);
      },
      emptied: ({ view, why }) => onEmptied(view, why),
      stale({ view, stale: isStale }) {
        if (isStale && !stale.has(view)) logger.warn({ view }, ofAnotherModel);
        if (isStale) stale.add(view);
        else stale.delete(view);
      },
      writeParking,
    } satisfies ProjectorOwner);
    const exit = Promise.withResolvers<void>();
    thread = { worker, connection, exited: exit.promise };
    connection.call("open", options.stores).catch((cause) => {
      reason ??=
        cause instanceof CatalogError
          ? cause
          : new CatalogError("internal", messageOf(cause), { cause });
    });
    worker.on("error", (cause) => {
      reason = new CatalogError("internal", `the projector ended: ${cause}`, { cause });
    });
    function onExit(code: number): void {
      reason ??= new CatalogError("internal", `the projector ended with exit code ${code}`);
      thread = undefined;
      exit.resolve();
      connection.end(unavailable(reason.message));
      if (running) onCrash(reason);
      else reject(reason);
    }
    // The error of `open` may arrive in the same iteration of the event loop, and is handled after it.
    worker.on("exit", (code) => setImmediate(onExit, code));
    return promise;
  }

  const writeParking: ProjectorOwner["writeParking"] = async ({ view, record }) => {
    const { kind, urn, position, reason } = record;
    try {
      await options.writeParking(view, record);
    } catch (cause) {
      const why = `the record could not be written to the log: ${messageOf(cause)}`;
      throw new CatalogError("unavailable", why, { cause });
    }
    if (kind === "parked") logger.error({ view, urn, position, reason }, "a record is parked");
    else logger.info({ view, urn, position }, `a record is ${kind}`);
  };

  function onProgress(next: ProjectorProgress): void {
    logErrors(progress, next, logger);
    progress = next;
    const before = positions;
    positions = Object.fromEntries(
      Object.entries(next).map(([view, { position }]) => [view, position]),
    );
    wakeUps.reached(maxOf([0, ...Object.values(positions)]));
    stuck.update(errors());
    const moved = Object.keys(positions).some((view) => positions[view] !== before[view]);
    if (!moved) return;
    crashes = 0;
    waits.reached(positions);
    for (const listener of listeners) listener(positions);
  }

  function onCrash(reason: CatalogError): void {
    running = false;
    if (ended !== undefined) return;
    crashes++;
    unavailableReason = reason;
    stuck.update(errors());
    if (crashes > restart.crashesMax) {
      ended = "given up";
      logger.error({ err: reason, crashes }, "projector given up");
      waits.rejectAll(reason);
      return;
    }
    const pauseMs = Math.min(restart.firstMs * 2 ** (crashes - 1), restart.maxMs);
    logger.error({ err: reason, crashes, pauseMs }, "projector crashed");
    restarting = setTimeout(() => start().catch(onCrash), pauseMs);
  }

  function errors(): Readonly<Record<string, string>> {
    const texts = Object.entries(progress).map(([view, { error }]) => [
      view,
      unavailableReason?.text ?? error,
    ]);
    return Object.fromEntries(texts.filter(([, text]) => text !== undefined));
  }

  await start(options.worker);
  return {
    positions: () => positions,
    errors,
    reached(view, position, options: WaitOptions) {
      const at = positions[view];
      if (at === undefined) return Promise.reject(unreached(view, at, position, "there is none"));
      if (at >= position) return Promise.resolve();
      wakeUps.flush();
      if (ended !== undefined) {
        return Promise.reject(
          unreached(view, at, position, unavailableReason?.text ?? "it is closed"),
        );
      }
      const error = (why: string) =>
        unreached(view, positions[view], position, errors()[view] ?? why);
      if (stuck.has(view) && options.patient !== true) {
        return Promise.reject(error("it does not move"));
      }
      return waits.add(view, position, options, error);
    },
    onProgress: (listener) => void listeners.push(listener),
    parked() {
      const counts = Object.entries(progress).map(([view, { parked }]) => [view, parked]);
      return Object.fromEntries(counts.filter(([, parked]) => parked !== undefined));
    },
    restore: (urns, view) =>
      restores.restored(urns, async () => connection().call("restore", { urns, view })),
    drop: (urn, view, actor) =>
      restores.restored([urn], async () => connection().call("drop", { urn, view, actor })),
    pause: async (views) => connection().call("pause", views),
    prepare: async (views, parked) => connection().call("prepare", { views, parked }),
    async resume(views, take) {
      await connection().call("resume", { views, take });
      if (!take) return;
      for (const view of views) stale.delete(view);
      setDamaged(views, false);
      restores.allRestored();
    },
    stale: () => [...stale],
    damaged: () => [...damaged],
    markDamaged: (views) => setDamaged(views, true),
    onDamaged: (listener) => void damageListeners.push(listener),
    emptied: () => emptied,
    replacedLog: () => Object.values(progress).find(({ mismatched }) => mismatched)?.error,
    projected: () => Object.keys(progress).filter((view) => progress[view]?.elsewhere !== true),
    restorations: restores.restorations,
    onRestored: restores.onRestored,
    notifyAppended: wakeUps.appended,
    async close() {
      if (ended === "closed") return;
      ended = "closed";
      clearTimeout(restarting);
      wakeUps.flush();
      stuck.close();
      waits.rejectAll(new CatalogError("unavailable", "the projector is closed"));
      if (thread !== undefined) await stopThread(thread);
    },
  };
}

const unavailable = (why: string): CatalogError =>
  new CatalogError("unavailable", why, {
    hint: "Try again; /health reports the state of the views",
  });

const emptiedBecause = (why: string): string =>
  `view was built from ${why}; it is emptied and built again`;
const cannotBeRead =
  "view could not be read; its file is renamed to .damaged, and it is built again";
const ofAnotherModel =
  "view was built with another model; its rows may be outdated until it is rebuilt";

interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly patient?: boolean;
}

async function stopThread({ worker, connection, exited }: RunningThread): Promise<void> {
  const terminateTimer = setTimeout(() => void worker.terminate(), STOP_MS_MAX);
  connection.notify("stop", undefined);
  await exited;
  clearTimeout(terminateTimer);
}

function logErrors(
  before: ProjectorProgress,
  now: ProjectorProgress,
  logger: ProjectorThreadOptions["logger"],
): void {
  for (const [view, { error, position }] of Object.entries(now)) {
    const last = before[view]?.error;
    if (error === last) continue;
    if (error !== undefined)
      logger.error({ view, position, error }, "view does not follow the log");
    else logger.info({ view, position }, "view follows the log again");
  }
}

interface Wait {
  readonly view: string;
  readonly position: Position;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** Rejects the wait if the view is stuck; undefined for a patient wait. */
  readonly stuck: (() => void) | undefined;
}

/** Pending waits for views to reach a position. */
function createWaits() {
  const waiting = new Set<Wait>();
  return {
    add(
      view: string,
      position: Position,
      { timeoutMs, signal, patient = false }: WaitOptions,
      error: (why: string) => Error,
    ): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stuck = patient ? undefined : () => reject(error("it does not move"));
      const wait: Wait = { view, position, resolve, reject, stuck };
      const timer = setTimeout(() => reject(error(`waited ${timeoutMs} ms`)), timeoutMs);
      const abort = () => reject(error("the wait was given up"));
      signal?.addEventListener("abort", abort);
      waiting.add(wait);
      if (signal?.aborted) abort();
      return promise.finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        waiting.delete(wait);
      });
    },
    reached(positions: Readonly<Record<string, Position>>): void {
      for (const { view, position, resolve } of waiting) {
        if ((positions[view] ?? -1) >= position) resolve();
      }
    },
    rejectAll(error: Error): void {
      for (const { reject } of waiting) reject(error);
    },
    rejectStuck(name: string): void {
      for (const { view, stuck } of waiting) if (view === name) stuck?.();
    },
  };
}

const unreached = (
  view: string,
  at: Position | undefined,
  wanted: Position,
  why: string,
): CatalogError =>
  new CatalogError(
    "unavailable",
    `the view "${view}" is at position ${at ?? "none"} and has not reached ${wanted}: ${why}`,
    { hint: "Try again; /health reports the position of each view" },
  );
