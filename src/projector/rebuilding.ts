/**
 * Rebuilding views while the service runs: regrown beside those in use by a thread of their own, near
 * the head of the log they take their place.
 *
 *   1. the next editions are grown, while another thread folds the log; closed and compared with what
 *      it says (verify/verify-editions.ts); readers of them are opened and warmed
 *   2. the projector brings them to where the views are, and feeds nothing meanwhile
 *   3. readers are given them, and the projector goes on with them
 *
 * A view in a server changes its edition as that is closed: it is held before, and compared while it
 * is open, near the head.
 *
 * Nothing is older after a step than before it: what a reader was shown it is shown again, and no
 * position is told that the readers' edition does not have. Until the third step is done, whatever
 * fails leaves the views as they were; then readers are opened again where the views are.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../core/errors.ts";
import { START } from "../core/position.ts";
import type { Parked } from "./parking.ts";
import type { Replacement } from "./progress.ts";
import type { BuildProgress, RebuildProgress } from "./staging.ts";
import type { GrownViews, StagingWorker, startStagingWorkers } from "./staging-worker.ts";

/** How long views are held so that what was asked of them is answered; long lists go on longer. */
const ANSWERS_MS_MAX = 500;

export interface RebuildingParts {
  readonly replacement: Replacement;
  /** Whether a view is in a server. They are not rebuilt together with others. */
  isShared(view: string): boolean;
  /** Views that are grown by a thread each; those of the first have the longest way. */
  lanes(views: readonly string[]): Promise<readonly (readonly string[])[]>;
  startWorkers(
    lanes: readonly (readonly string[])[],
    options: Pick<Parameters<typeof startStagingWorkers>[0], "onProgress" | "compare" | "threads">,
  ): StagingWorker;
  /**
   * Compares the next editions with the log: those that stand still in servers, and those that are
   * closed when `parked` resolves. Rejects when they are not to be taken: then nothing has changed.
   */
  verify(
    editions: GrownViews & { readonly views: readonly string[] },
    signal: AbortSignal,
  ): Promise<void>;
  verifyGrowing(
    editions: {
      readonly views: readonly string[];
      /** Threads that grow them. */
      readonly growers: number;
      readonly parked: Promise<readonly Parked[]>;
    },
    signal: AbortSignal,
  ): Promise<void>;
  /** The readers of the views. */
  readonly readers: {
    /**
     * Opens those of the next editions. `take` puts them in the others' place at once, and resolves
     * when what was asked of those is answered.
     */
    prepare(views: readonly string[]): Promise<{ take(): Promise<void>; drop(): Promise<void> }>;
    /** Opens them again, on what is in place. */
    reopen(views: readonly string[]): Promise<void>;
  };
  /** Removes what was grown and is not in place. */
  clear(views: readonly string[]): void;
}

export interface Rebuilding {
  /**
   * Resolves when the next editions are in place. Rejects `conflict` while others are rebuilt, and
   * with the signal's reason when it aborts before `onTaking` is called; then nothing has changed.
   */
  rebuild(
    views: readonly string[],
    options: {
      readonly signal: AbortSignal;
      readonly onProgress: (progress: BuildProgress) => void;
      /** From now on it cannot be given up. */
      readonly onTaking: () => void;
    },
  ): Promise<void>;
  /** Of the views that are being rebuilt. */
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
    const told = current?.progress ?? {};
    const shared = views.some(parts.isShared);
    const lanes = shared ? [views] : await parts.lanes(views);
    const workers = parts.startWorkers(lanes, {
      // Where others compare while these are grown (compared).
      threads: shared ? 1 : lanes.length + 1,
      onProgress(progress) {
        const { position, head, recordsPerSecond } = progress;
        for (const view of progress.views) told[view] = { position, head, recordsPerSecond };
        if (!progress.beside) onProgress(progress);
      },
      compare: (found) => parts.verify({ ...found, views: Object.keys(found.grown) }, signal),
    });
    try {
      if (shared) {
        await orAborted(workers.near, signal);
        onTaking();
        await takeShared(views, workers);
        return;
      }
      const parked = await compared({ views, growers: lanes.length }, workers, signal);
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

  /** Resolves, when the views are grown, closed and what the log says, with what they pass over. */
  async function compared(
    asked: { readonly views: readonly string[]; readonly growers: number },
    workers: StagingWorker,
    signal: AbortSignal,
  ): Promise<readonly Parked[]> {
    const closed = Promise.withResolvers<readonly Parked[]>();
    const verified = parts.verifyGrowing({ ...asked, parked: closed.promise }, signal);
    // Growing may fail before anybody waits.
    verified.catch(() => {});
    try {
      await orAborted(workers.near, signal);
      closed.resolve(await orAborted(workers.finish(START), signal));
    } catch (error) {
      closed.reject(error);
      throw error;
    } finally {
      await Promise.allSettled([verified]);
    }
    await verified;
    return closed.promise;
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
      // Nobody may be there any more who holds them.
      await replacement.release(views, false).catch(() => {});
      throw error;
    }
  }

  return {
    async rebuild(views, options) {
      if (current !== undefined) {
        throw new CatalogError("conflict", `${current.views.join(", ")} are being rebuilt`, {
          hint: "Wait for the job that does it; listJobs names it",
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

/** What is under way goes on, and whoever has begun it has to end it. */
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
