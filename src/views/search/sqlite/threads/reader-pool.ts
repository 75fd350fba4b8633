/**
 * The reader threads of the search view. A thread runs one query at a time; further queries wait in
 * order. Threads start on demand, so that they do not slow down the start of the service. If a
 * thread exits unexpectedly, the pool terminates all threads, and their queries fail. The next
 * query starts new threads.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { CatalogError } from "../../../../core/errors.ts";
import { type Connection, connect } from "../../../../core/thread-calls.ts";
import { createConcurrencyLimit } from "../../../../lib/concurrency-limit.ts";
import { searchSchema } from "../schema.ts";
import type { SearchMethods, SearchThreadData } from "./search-thread.ts";

export interface ReaderOptions {
  /** Maximum number of threads. */
  readonly threads?: number;
  /** CPU time limit of a query. */
  readonly limitMs?: number;
}

/** Default of `limitMs`. */
const LIMIT_MS = 2_000;

const threadsMax = (): number => Math.max(2, availableParallelism() - 1);

interface SearchThread {
  /** Keeps the process alive only while it runs a query. */
  readonly worker: Worker;
  readonly connection: Connection<SearchMethods>;
}

let pools = 0;

export function createReaderPool(
  path: string,
  { threads: most = threadsMax(), limitMs = LIMIT_MS }: ReaderOptions = {},
) {
  const withThread = createConcurrencyLimit(most);
  let data = sharedData();
  let threads: SearchThread[] = [];
  let idle: SearchThread[] = [];
  let closed = false;

  function sharedData(): SearchThreadData {
    const channel = `annals search ${process.pid} ${++pools}`;
    return { path, limitMs, channel, lock: new SharedArrayBuffer(4) };
  }

  function start(): SearchThread {
    const file = new URL("./search-thread.ts", import.meta.url);
    const worker = new Worker(file, { workerData: data, name: "search" });
    const thread = { worker, connection: connect<SearchMethods>(worker, {}) };
    let cause: unknown;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", () => {
      const why = cause === undefined ? "ended" : `ended: ${cause}`;
      if (threads.includes(thread)) void endAll(unavailable(why, cause));
    });
    threads.push(thread);
    return thread;
  }

  /** New threads get a new lock, because a terminated thread may hold the old one. */
  async function endAll(reason: Error): Promise<void> {
    const ended = threads;
    threads = [];
    idle = [];
    data = sharedData();
    for (const { connection } of ended) connection.end(reason);
    await Promise.all(ended.map(({ worker }) => worker.terminate()));
  }

  /** Calls a method of an idle thread, or of a new one. */
  const call: SearchThread["connection"]["call"] = (method, argument) =>
    withThread(() => {
      if (closed) throw unavailable("is closed");
      const thread = idle.pop() ?? start();
      const { worker, connection } = thread;
      worker.ref();
      return connection.call(method, argument).finally(() => {
        worker.unref();
        if (threads.includes(thread)) idle.push(thread);
      });
    });

  return {
    call,
    async close() {
      closed = true;
      await endAll(unavailable("is closed"));
    },
  };
}

const unavailable = (what: string, cause?: unknown): CatalogError =>
  new CatalogError("unavailable", `the view "${searchSchema.view}" ${what}`, { cause });
