/** The client of the thread that builds staging generations (staging-thread.ts). */
import type { Position } from "../../core/position.ts";
import type { Parked } from "../parking/parking.ts";
import { startBackgroundThread } from "../thread/background-thread.ts";
import type { BuildProgress } from "./staging.ts";
import type { StagedViews, StagingOwner, StagingTask } from "./staging-thread.ts";

export interface StagingWorker {
  /** Resolves when the views are near the head; those in servers are then compared with the log. */
  readonly near: Promise<void>;
  /** Builds the views up to at least `upTo`, and closes them; resolves with the parked entities. */
  finish(upTo: Position): Promise<readonly Parked[]>;
  /** Terminates the thread. The caller removes the staging generations. */
  end(): Promise<void>;
}

/** After this time, a thread that has not ended is terminated. */
const END_MS_MAX = 10_000;

/** The promises reject with the thread's error if it ends early. */
export function startStagingWorker(options: {
  readonly stores: unknown;
  readonly module?: URL | undefined;
  readonly views: readonly string[];
  readonly onProgress: (progress: BuildProgress) => void;
  /** Compares views in servers with the log; when it rejects, the rebuild fails. */
  readonly compare: (views: StagedViews) => Promise<void>;
}): StagingWorker {
  const { stores: config, module, views, onProgress: progress, compare } = options;
  const near = Promise.withResolvers<void>();
  const upTo = Promise.withResolvers<Position>();
  const finished = Promise.withResolvers<readonly Parked[]>();
  const { worker, connection, exited } = startBackgroundThread<StagingTask, readonly Parked[]>(
    new URL("staging-thread.ts", import.meta.url),
    "rebuild",
    {
      ...{ progress, compare, live: finished.resolve },
      near() {
        near.resolve();
        return upTo.promise;
      },
    } satisfies StagingOwner,
  );
  connection
    .call("run", { module: module?.href, config, views })
    .then(finished.resolve, (error) => {
      near.reject(error);
      finished.reject(error);
    });
  for (const { promise } of [near, finished]) promise.catch(() => {});

  return {
    near: near.promise,
    finish(position) {
      upTo.resolve(position);
      return finished.promise;
    },
    async end() {
      connection.notify("stop", undefined);
      const timer = setTimeout(() => void worker.terminate(), END_MS_MAX);
      await exited;
      clearTimeout(timer);
    },
  };
}
