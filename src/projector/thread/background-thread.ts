/**
 * Background threads that build or verify views while the service runs: with a low priority, and
 * with pauses while the service is busy. A thread runs one task and ends.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, Worker } from "node:worker_threads";
import { assert, CatalogError } from "../../core/errors.ts";
import { type Connection, connect, type Methods } from "../../core/thread-calls.ts";
import { lowerPriority, VIEW_NICENESS } from "../../storage/thread-priority.ts";
import { threadLimits } from "./thread-limits.ts";

interface Yielding {
  /** VIEW_NICENESS when absent. */
  readonly niceness?: number | undefined;
  /** Number of background threads, which share half a core while the service is busy. */
  readonly threads?: number | undefined;
}

/** The methods of the thread. */
interface BackgroundThread<Task, Result> {
  readonly run: (task: Task & Yielding) => Promise<Result>;
  readonly stop: () => void;
  /** Sets the load state of the service. */
  readonly setBusy: (busy: boolean) => void;
}

/** The methods of the client that the thread calls include this one. */
export type BackgroundOwner<Progress> = { readonly progress: (progress: Progress) => void };

const PROGRESS_MS_MIN = 100;
/** Minimum event loop utilization at which the service counts as busy. */
const BUSY = 0.4;
const POLL_MS = 250;

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
  void exit.promise.then(watchBusy((busy) => connection.notify("setBusy", busy)));
  return { worker, connection, exited: exit.promise };
}

/**
 * Calls `onChange` whenever this thread becomes busy or idle. Returns the function that ends it.
 */
function watchBusy(onChange: (busy: boolean) => void): () => void {
  let last = performance.eventLoopUtilization();
  let busy = false;
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    if (utilization > BUSY === busy) return;
    busy = !busy;
    onChange(busy);
  }, POLL_MS).unref();
  return () => clearInterval(timer);
}

type Owning<Owner> = Methods<Owner> & BackgroundOwner<never>;

interface Background<Owner extends Owning<Owner>> {
  readonly owner: Connection<Owner>;
  readonly signal: AbortSignal;
  /** Rejects when the thread is stopped. */
  readonly stopped: Promise<never>;
  /** Pauses in proportion to the milliseconds of work (cpu-time.ts), if the service is busy. */
  pause(workedMs: number): Promise<void>;
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
  let busy = false;
  let sentAt = 0;
  const owner: Connection<Owner> = connect<Owner>(port, {
    async run(task: Task & Yielding) {
      const { niceness = VIEW_NICENESS, threads = 1 } = task;
      lowerPriority(niceness);
      try {
        return await work(task, {
          ...{ owner, signal, stopped },
          async pause(workedMs) {
            if (!busy) return;
            const ms = workedMs * (2 * threads - 1);
            await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
          },
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
    setBusy(isBusy: boolean) {
      busy = isBusy;
    },
  } satisfies BackgroundThread<Task, Result>);
}
