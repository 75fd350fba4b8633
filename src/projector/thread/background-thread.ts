/**
 * Background threads that build or verify views while the service runs, with a low priority. A thread
 * runs one task and ends.
 */
import { parentPort, Worker } from "node:worker_threads";
import { assert, CatalogError } from "../../core/errors.ts";
import { type Connection, connect, type Methods } from "../../core/thread-calls.ts";
import { BACKGROUND_NICENESS, lowerPriority } from "../../storage/thread-priority.ts";
import { threadLimits } from "./thread-limits.ts";

/** The methods of the thread. */
interface BackgroundThread<Task, Result> {
  readonly run: (task: Task) => Promise<Result>;
  readonly stop: () => void;
}

/** The methods of the client that the thread calls include this one. */
export type BackgroundOwner<Progress> = { readonly progress: (progress: Progress) => void };

const PROGRESS_MS_MIN = 100;

interface RunningThread<Task, Result> {
  readonly worker: Worker;
  /** `call("run")` rejects with the thread's error. */
  readonly connection: Connection<BackgroundThread<Task, Result>>;
  readonly exited: Promise<void>;
}

/**
 * Starts a thread. `own`: the methods that the thread calls. `name`: the task in error messages.
 */
export function startBackgroundThread<Task, Result>(
  module: URL,
  name: string,
  own: Parameters<typeof connect>[1],
  resourceLimits = threadLimits,
): RunningThread<Task, Result> {
  const worker = new Worker(module, { resourceLimits, name });
  const connection = connect<BackgroundThread<Task, Result>>(worker, own);
  const exit = Promise.withResolvers<void>();
  worker.on("error", (cause) => {
    connection.end(new CatalogError("internal", `the ${name} failed: ${cause}`, { cause }));
  });
  worker.on("exit", (code) => {
    connection.end(new CatalogError("unavailable", `the ${name} ended with exit code ${code}`));
    exit.resolve();
  });
  return { worker, connection, exited: exit.promise };
}

type Owning<Owner> = Methods<Owner> & BackgroundOwner<never>;

interface Background<Owner extends Owning<Owner>> {
  readonly owner: Connection<Owner>;
  readonly signal: AbortSignal;
  /** Rejects when the thread is stopped. */
  readonly stopped: Promise<never>;
  /** Reports progress, throttled; the last report is always sent. */
  report(progress: Parameters<Owner["progress"]>[0], isLast: boolean): void;
}

/** The thread: runs one task, then ends. */
export function runInBackground<Task, Result, Owner extends Owning<Owner>>(
  name: string,
  work: (task: Task, background: Background<Owner>) => Promise<Result>,
): void {
  assert(parentPort !== null, "this module runs in a thread of its own");
  const port = parentPort;
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<never>((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason)),
  );
  stopped.catch(() => {});
  let sentAt = 0;
  const owner: Connection<Owner> = connect<Owner>(port, {
    async run(task: Task) {
      lowerPriority(BACKGROUND_NICENESS);
      try {
        return await work(task, {
          ...{ owner, signal, stopped },
          report(progress, isLast) {
            if (!isLast && performance.now() - sentAt < PROGRESS_MS_MIN) return;
            sentAt = performance.now();
            owner.notify("progress", progress);
          },
        });
      } finally {
        // After the reply is sent.
        setImmediate(() => port.close());
      }
    },
    stop: () => stopping.abort(new CatalogError("unavailable", `the ${name} was stopped`)),
  } satisfies BackgroundThread<Task, Result>);
}
