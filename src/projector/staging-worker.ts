/** The near end of the thread that grows views beside those in use (staging-thread.ts). */
import { Worker } from "node:worker_threads";
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { deserializeError } from "../core/serialized-error.ts";
import type { Parked } from "./parking.ts";
import type { Grown } from "./sink.ts";
import type { BuildProgress } from "./staging.ts";
import type { FromStagingThread, StagingThreadData, ToStagingThread } from "./staging-thread.ts";
import { threadLimits } from "./thread-limits.ts";
import { watchBusy } from "./watch-busy.ts";

/** Views in servers that stand still beside those in use, by name, and what they pass over. */
export interface GrownViews {
  readonly grown: Readonly<Record<string, Grown>>;
  readonly parked: readonly Parked[];
}

export interface StagingWorker {
  /** Resolves when the views are near the head of the log, and compared where they are in servers. */
  readonly near: Promise<void>;
  /** Brings them to the position at least, closed and durable; the entities that they pass over. */
  finish(upTo: Position): Promise<readonly Parked[]>;
  /** Ends it, whatever it does. What it has grown is left to whoever clears it away. */
  end(): Promise<void>;
}

/** Without an answer within this time the thread is ended by force. */
const END_MS_MAX = 10_000;

/** All of its promises reject with the thread's error when that ends before. */
function startStagingWorker(options: {
  readonly stores: unknown;
  readonly module?: URL | undefined;
  readonly views: readonly string[];
  /** That give way to the service meanwhile, this one among them; absent: there is no service. */
  readonly threads?: number | undefined;
  readonly onProgress: (progress: BuildProgress) => void;
  /** Compares views in servers with the log; when it rejects, the regrowing has failed. */
  readonly compare: (views: GrownViews) => Promise<void>;
}): StagingWorker {
  const worker = new Worker(new URL("staging-thread.ts", import.meta.url), {
    resourceLimits: threadLimits,
    workerData: {
      ...{ module: options.module?.href, config: options.stores, views: options.views },
      threads: options.threads ?? 1,
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
    else if (message.kind === "grown") {
      options.compare(message).then(() => send({ kind: "compared" }), fail);
    } else if (message.kind === "near") near.resolve();
    else if (message.kind === "finished") finished.resolve(message.parked);
    else fail(deserializeError(message));
  });
  worker.on("error", (cause) => {
    fail(new CatalogError("internal", `the regrowing ended: ${cause}`, { cause }));
  });
  worker.on("exit", (code) => {
    fail(new CatalogError("unavailable", `the regrowing ended with exit code ${code}`));
    exit.resolve();
  });
  const send = (message: ToStagingThread) => worker.postMessage(message);
  if (options.threads !== undefined) {
    void exit.promise.then(watchBusy((busy) => send({ kind: "busy", busy })));
  }

  return {
    near: near.promise,
    finish(upTo) {
      send({ kind: "finish", upTo });
      return finished.promise;
    },
    async end() {
      send({ kind: "discard" });
      const impatience = setTimeout(() => void worker.terminate(), END_MS_MAX);
      await exit.promise;
      clearTimeout(impatience);
    },
  };
}

/**
 * Several of them as one, each for some of the views. The first tells how far all are: it has the
 * longest way.
 */
export function startStagingWorkers({
  lanes,
  onProgress,
  ...options
}: Omit<Parameters<typeof startStagingWorker>[0], "views"> & {
  readonly lanes: readonly (readonly string[])[];
}): StagingWorker {
  const all = lanes.map((views, n) =>
    startStagingWorker({
      ...{ ...options, views },
      onProgress: (progress) => onProgress(n === 0 ? progress : { ...progress, beside: true }),
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
