/** The client of the thread that builds staging generations (staging-thread.ts). */
import { Worker } from "node:worker_threads";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { deserializeError } from "../../core/serialized-error.ts";
import type { Parked } from "../parking/parking.ts";
import type { Staged } from "../sink.ts";
import { threadLimits } from "../thread/thread-limits.ts";
import { watchBusy } from "../thread/watch-busy.ts";
import type { BuildProgress } from "./staging.ts";
import type { FromStagingThread, StagingThreadData, ToStagingThread } from "./staging-thread.ts";

/** Paused staging generations in servers by view, and their parked entities. */
export interface StagedViews {
  readonly staged: Readonly<Record<string, Staged>>;
  readonly parked: readonly Parked[];
}

export interface StagingWorker {
  /** Resolves when the views are near the head; those in servers are then compared with the log. */
  readonly near: Promise<void>;
  /** Builds them up to the position at least and closes them; resolves with their parked entities. */
  finish(upTo: Position): Promise<readonly Parked[]>;
  /** Ends the thread at once. The caller removes the staging generations. */
  end(): Promise<void>;
}

/** After this time, a thread that has not ended is terminated. */
const END_MS_MAX = 10_000;

/** The promises reject with the thread's error if it ends early. */
function startStagingWorker(options: {
  readonly stores: unknown;
  readonly module?: URL | undefined;
  readonly views: readonly string[];
  /** Threads that build at the same time, this one included. */
  readonly threads: number;
  readonly onProgress: (progress: BuildProgress) => void;
  /** Compares views in servers with the log; when it rejects, the rebuild fails. */
  readonly compare: (views: StagedViews) => Promise<void>;
}): StagingWorker {
  const worker = new Worker(new URL("staging-thread.ts", import.meta.url), {
    resourceLimits: threadLimits,
    workerData: {
      ...{ module: options.module?.href, config: options.stores, views: options.views },
      threads: options.threads,
    } satisfies StagingThreadData,
    name: "staging",
  });
  const near = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<readonly Parked[]>();
  const exit = Promise.withResolvers<void>();
  for (const { promise } of [near, finished]) promise.catch(() => {});

  function fail(error: Error): void {
    near.reject(error);
    finished.reject(error);
  }

  worker.on("message", (message: FromStagingThread) => {
    if (message.kind === "progress") options.onProgress(message.progress);
    else if (message.kind === "staged") {
      options.compare(message).then(() => send({ kind: "compared" }), fail);
    } else if (message.kind === "near") near.resolve();
    else if (message.kind === "finished") finished.resolve(message.parked);
    else fail(deserializeError(message));
  });
  worker.on("error", (cause) => {
    fail(new CatalogError("internal", `the rebuild ended: ${cause}`, { cause }));
  });
  worker.on("exit", (code) => {
    fail(new CatalogError("unavailable", `the rebuild ended with exit code ${code}`));
    exit.resolve();
  });
  const send = (message: ToStagingThread) => worker.postMessage(message);
  void exit.promise.then(watchBusy((busy) => send({ kind: "busy", busy })));

  return {
    near: near.promise,
    finish(upTo) {
      send({ kind: "finish", upTo });
      return finished.promise;
    },
    async end() {
      send({ kind: "discard" });
      const timer = setTimeout(() => void worker.terminate(), END_MS_MAX);
      await exit.promise;
      clearTimeout(timer);
    },
  };
}

/**
 * Starts one worker per group of views and combines them. The job shows the progress of the first
 * group, whose views take longest.
 */
export function startStagingWorkers({
  groups,
  onProgress,
  ...options
}: Omit<Parameters<typeof startStagingWorker>[0], "views" | "threads"> & {
  readonly groups: readonly (readonly string[])[];
}): StagingWorker {
  const all = groups.map((views, n) =>
    startStagingWorker({
      ...{ ...options, views, threads: groups.length },
      onProgress: (progress) => onProgress(n === 0 ? progress : { ...progress, otherViews: true }),
    }),
  );
  const near = Promise.all(all.map((one) => one.near)).then(() => {});
  near.catch(() => {});
  return {
    near,
    async finish(upTo) {
      return (await Promise.all(all.map((one) => one.finish(upTo)))).flat();
    },
    async end() {
      await Promise.all(all.map((one) => one.end()));
    },
  };
}
