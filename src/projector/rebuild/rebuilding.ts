/**
 * Rebuilds views while the service runs: threads build staging generations, which are swapped for
 * the live ones near the head of the log.
 *
 *   1. the staging generations are built, closed and compared with the log (verify/verify-staging.ts),
 *      each group of views in threads of its own; their readers are opened and warmed
 *   2. the projector pauses the views and brings the staging generations to the same position
 *      (swap-generations.ts)
 *   3. readers and projector switch to the staging generations
 *
 * On a server, a staging generation is compared while it is open, near the head. The thread that
 * builds the generation makes it live (Sink.publish) while the projector pauses the view.
 *
 * Reads are monotonic: a reader never returns an older state after a step, and never reports a
 * position that its generation does not have. A failure before the end of the third step leaves the
 * live generations unchanged; their readers are opened again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import { START } from "../../core/position.ts";
import { orAborted } from "../../lib/or-aborted.ts";
import type { Parked } from "../parking/parking.ts";
import type { Staged } from "../sink.ts";
import type { GenerationSwap } from "../thread/progress.ts";
import type { Verified } from "../verify/verified-state.ts";
import type { BuildProgress, RebuildProgress } from "./staging.ts";
import type { StagingWorker, startStagingWorker } from "./staging-worker.ts";

/** Maximum pause of views for pending reads; longer reads continue on the old generation. */
const PENDING_READS_MS_MAX = 500;

export interface RebuildingParts {
  readonly generationSwap: GenerationSwap;
  /** True if the view is on a server. A rebuild of such views cannot include other views. */
  isShared(view: string): boolean;
  /** Groups of views, one per thread; the first group takes longest. */
  workerGroups(views: readonly string[]): Promise<readonly (readonly string[])[]>;
  startWorker(
    views: readonly string[],
    options: Pick<Parameters<typeof startStagingWorker>[0], "onProgress" | "compare">,
  ): StagingWorker;
  /**
   * Compares staging generations with the log (verifyStaging). Rejects if they differ, before any
   * change.
   */
  verify(
    generations: {
      readonly views: readonly string[];
      readonly parked: readonly Parked[];
      readonly staged?: Readonly<Record<string, Staged>> | undefined;
    },
    signal: AbortSignal,
  ): Promise<readonly Verified[]>;
  /** Stores the results of `verify`, when the staging generations are live. */
  storeResults(results: readonly Verified[]): void;
  /** The readers of the views. */
  readonly readers: {
    /**
     * Opens readers of the staging generations. `swap` replaces the live readers at once, and
     * resolves when their pending reads are done. `close` closes readers that were not swapped in.
     */
    prepare(views: readonly string[]): Promise<{ swap(): Promise<void>; close(): Promise<void> }>;
    /** Opens the readers again, on the live generations. */
    reopen(views: readonly string[]): Promise<void>;
  };
  /** Removes staging generations. */
  removeStaging(views: readonly string[]): void;
}

export interface Rebuilding {
  /**
   * Resolves when the staging generations are live. Rejects `conflict` while a rebuild runs, and
   * with the signal's reason when it aborts before `onSwap` is called; then nothing has changed.
   */
  rebuild(
    views: readonly string[],
    options: {
      readonly signal: AbortSignal;
      readonly onProgress: (progress: BuildProgress) => void;
      /** Called before the swap: from then on the rebuild cannot be canceled. */
      readonly onSwap: () => void;
    },
  ): Promise<void>;
  /** Progress by view of the rebuild that runs. */
  progress(): Readonly<Record<string, RebuildProgress>>;
}

/** A group of views in files that equal the log. */
interface BuiltGroup {
  readonly parked: readonly Parked[];
  readonly results: readonly Verified[];
}

export function createRebuilding(parts: RebuildingParts): Rebuilding {
  const { generationSwap, readers, removeStaging } = parts;
  let current:
    | { readonly views: readonly string[]; readonly progress: Record<string, RebuildProgress> }
    | undefined;

  type Options = Parameters<Rebuilding["rebuild"]>[1];

  function recordProgress(progress: BuildProgress): void {
    const { position, head, recordsPerSecond } = progress;
    for (const view of progress.views) {
      if (current !== undefined) current.progress[view] = { position, head, recordsPerSecond };
    }
  }

  async function rebuildInServer(
    views: readonly string[],
    { signal, onProgress, onSwap }: Options,
  ): Promise<void> {
    let results: readonly Verified[] = [];
    const worker = parts.startWorker(views, {
      onProgress(progress) {
        recordProgress(progress);
        onProgress(progress);
      },
      async compare(found) {
        results = await parts.verify({ ...found, views: Object.keys(found.staged) }, signal);
      },
    });
    try {
      await orAborted(worker.near, signal);
      onSwap();
      await swapInServer(views, worker);
      parts.storeResults(results);
    } finally {
      await worker.end();
    }
  }

  async function rebuildFiles(views: readonly string[], options: Options): Promise<void> {
    const built = await buildGroups(await parts.workerGroups(views), options);
    const next = await readers.prepare(views);
    try {
      options.signal.throwIfAborted();
      options.onSwap();
      const parked = built.flatMap((group) => group.parked);
      await swapFiles(views, parked, next);
      parts.storeResults(built.flatMap((group) => group.results));
    } finally {
      await next.close();
    }
  }

  /** Builds the groups concurrently. If one fails, stops the others. */
  async function buildGroups(
    groups: readonly (readonly string[])[],
    { signal, onProgress }: Options,
  ): Promise<readonly BuiltGroup[]> {
    const failure = new AbortController();
    const building = groups.map((views, n) =>
      buildGroup(views, {
        signal: AbortSignal.any([signal, failure.signal]),
        onProgress(progress) {
          recordProgress(progress);
          if (n === 0) onProgress(progress);
        },
      }),
    );
    try {
      return await Promise.all(building);
    } catch (error) {
      failure.abort(error);
      throw error;
    } finally {
      await Promise.allSettled(building);
    }
  }

  async function buildGroup(
    views: readonly string[],
    { signal, onProgress }: Pick<Options, "signal" | "onProgress">,
  ): Promise<BuiltGroup> {
    const worker = parts.startWorker(views, { onProgress, compare: async () => {} });
    let parked: readonly Parked[];
    try {
      await orAborted(worker.near, signal);
      parked = await orAborted(worker.finish(START), signal);
    } finally {
      await worker.end();
    }
    return { parked, results: await parts.verify({ views, parked }, signal) };
  }

  async function swapFiles(
    views: readonly string[],
    parked: readonly Parked[],
    next: { swap(): Promise<void> },
  ): Promise<void> {
    await generationSwap.prepare(views, parked);
    await Promise.race([next.swap(), delay(PENDING_READS_MS_MAX)]);
    try {
      await generationSwap.resume(views, true);
    } catch (error) {
      await readers.reopen(views);
      throw error;
    }
  }

  async function swapInServer(views: readonly string[], worker: StagingWorker): Promise<void> {
    const upTo = await generationSwap.pause(views);
    try {
      await generationSwap.prepare(views, await worker.finish(upTo));
      await generationSwap.resume(views, true);
    } catch (error) {
      // The pause may be over.
      await generationSwap.resume(views, false).catch(() => {});
      throw error;
    }
  }

  return {
    async rebuild(views, options) {
      if (current !== undefined) {
        throw new CatalogError("conflict", `${current.views.join(", ")} are being rebuilt`, {
          hint: "Wait for the running rebuild job; annals jobs (listJobs) names it",
        });
      }
      current = { views, progress: {} };
      try {
        removeStaging(views);
        if (views.some(parts.isShared)) await rebuildInServer(views, options);
        else await rebuildFiles(views, options);
      } finally {
        current = undefined;
        removeStaging(views);
      }
    },
    progress: () => ({ ...current?.progress }),
  };
}
