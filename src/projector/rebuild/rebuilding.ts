/**
 * Rebuilds views while the service runs: threads build staging generations, which replace the live
 * ones near the head of the log.
 *
 *   1. the staging generations are built, closed and compared with the log (verify/verify-staging.ts);
 *      their readers are opened and warmed
 *   2. the projector pauses the views and brings the staging generations to the same position
 *   3. readers and projector switch to the staging generations
 *
 * In a server, a staging generation becomes live when it is closed: the view is paused before, and
 * compared while it is open, near the head.
 *
 * Readers never go back: they see everything that they saw before a step, and no position is reported
 * that their generation does not have. A failure before the end of the third step leaves the live
 * generations unchanged; their readers are opened again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import { START } from "../../core/position.ts";
import type { Parked } from "../parking/parking.ts";
import type { Staged } from "../sink.ts";
import type { Replacement } from "../thread/progress.ts";
import type { BuildProgress, RebuildProgress } from "./staging.ts";
import type { StagingWorker, startStagingWorkers } from "./staging-worker.ts";

/** How long views stay paused for pending reads; longer reads continue on the old generation. */
const ANSWERS_MS_MAX = 500;

export interface RebuildingParts {
  readonly replacement: Replacement;
  /** The view is in a server. Such views are not rebuilt together with others. */
  isShared(view: string): boolean;
  /** Groups of views with a thread each; the first group takes longest. */
  lanes(views: readonly string[]): Promise<readonly (readonly string[])[]>;
  startWorkers(
    lanes: readonly (readonly string[])[],
    options: Pick<Parameters<typeof startStagingWorkers>[0], "onProgress" | "compare">,
  ): StagingWorker;
  /** Compares staging generations with the log (verifyStaging). Rejects if they differ: nothing has changed then. */
  verify(
    generations: {
      readonly views: readonly string[];
      readonly parked: readonly Parked[];
      readonly staged?: Readonly<Record<string, Staged>> | undefined;
    },
    signal: AbortSignal,
  ): Promise<void>;
  /** The readers of the views. */
  readonly readers: {
    /**
     * Opens readers of the staging generations. `take` replaces the live readers at once, and
     * resolves when their pending reads are done.
     */
    prepare(views: readonly string[]): Promise<{ take(): Promise<void>; drop(): Promise<void> }>;
    /** Opens the readers again, on the live generations. */
    reopen(views: readonly string[]): Promise<void>;
  };
  /** Removes staging generations. */
  clear(views: readonly string[]): void;
}

export interface Rebuilding {
  /**
   * Resolves when the staging generations are live. Rejects `conflict` while a rebuild runs, and
   * with the signal's reason when it aborts before `onTaking` is called; then nothing has changed.
   */
  rebuild(
    views: readonly string[],
    options: {
      readonly signal: AbortSignal;
      readonly onProgress: (progress: BuildProgress) => void;
      /** From now on it cannot be canceled. */
      readonly onTaking: () => void;
    },
  ): Promise<void>;
  /** Progress by view of the rebuild that runs. */
  progress(): Readonly<Record<string, RebuildProgress>>;
}

export function createRebuilding(parts: RebuildingParts): Rebuilding {
  const { replacement, readers, clear } = parts;
  let current:
    | { readonly views: readonly string[]; readonly progress: Record<string, RebuildProgress> }
    | undefined;

  async function grow(
    views: readonly string[],
    { signal, onProgress, onTaking }: Parameters<Rebuilding["rebuild"]>[1],
  ): Promise<void> {
    const byView = current?.progress ?? {};
    const shared = views.some(parts.isShared);
    const lanes = shared ? [views] : await parts.lanes(views);
    const workers = parts.startWorkers(lanes, {
      onProgress(progress) {
        const { position, head, recordsPerSecond } = progress;
        for (const view of progress.views) byView[view] = { position, head, recordsPerSecond };
        if (!progress.beside) onProgress(progress);
      },
      compare: (found) => parts.verify({ ...found, views: Object.keys(found.staged) }, signal),
    });
    try {
      if (shared) {
        await orAborted(workers.near, signal);
        onTaking();
        await takeShared(views, workers);
        return;
      }
      await orAborted(workers.near, signal);
      const parked = await orAborted(workers.finish(START), signal);
      await parts.verify({ views, parked }, signal);
      const next = await readers.prepare(views);
      try {
        signal.throwIfAborted();
        onTaking();
        await take(views, parked, next);
      } finally {
        await next.drop();
      }
    } finally {
      await workers.end();
      clear(views);
    }
  }

  async function take(
    views: readonly string[],
    parked: readonly Parked[],
    next: { take(): Promise<void> },
  ): Promise<void> {
    await replacement.prepare(views, parked);
    await Promise.race([next.take(), delay(ANSWERS_MS_MAX)]);
    try {
      await replacement.release(views, true);
    } catch (error) {
      await readers.reopen(views);
      throw error;
    }
  }

  async function takeShared(views: readonly string[], workers: StagingWorker): Promise<void> {
    const upTo = await replacement.hold(views);
    try {
      await replacement.prepare(views, await workers.finish(upTo));
      await replacement.release(views, true);
    } catch (error) {
      // The hold may be over.
      await replacement.release(views, false).catch(() => {});
      throw error;
    }
  }

  return {
    async rebuild(views, options) {
      if (current !== undefined) {
        throw new CatalogError("conflict", `${current.views.join(", ")} are being rebuilt`, {
          hint: "Wait for the running rebuild job; listJobs names it",
        });
      }
      current = { views, progress: {} };
      try {
        clear(views);
        await grow(views, options);
      } finally {
        current = undefined;
      }
    },
    progress: () => ({ ...current?.progress }),
  };
}

/** Rejects with the signal's reason when it aborts. The work continues; its owner ends it. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
