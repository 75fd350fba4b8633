/**
 * The reader threads of the search view. A query holds one thread; others wait in order. The first query
 * starts the first thread, so that the start of the service does not compete with it for processors;
 * other threads start when queries wait. When a thread ends by itself, all end and their queries fail:
 * the next query starts others.
 */
import { availableParallelism } from "node:os";
import { CatalogError } from "../../../../core/errors.ts";
import type { SearchIndex } from "../query/search-index.ts";
import { searchSchema } from "../schema.ts";
import type { SearchThreadData } from "./search-thread.ts";
import { Thread } from "./thread.ts";

export interface ReaderOptions {
  /** The most threads. */
  readonly threads?: number;
  /** The time limit of a query. */
  readonly limitMs?: number;
}

/** Computing time of one query. */
const LIMIT_MS = 2_000;

const threadsMax = (): number => Math.max(2, availableParallelism() - 1);

interface ReaderPool {
  /** Calls a method of an idle thread. */
  readonly call: SearchThread["call"];
  close(): Promise<void>;
}

type SearchThread = Thread<SearchIndex>;

let pools = 0;

export function createReaderPool(
  path: string,
  { threads: most = threadsMax(), limitMs = LIMIT_MS }: ReaderOptions = {},
): ReaderPool {
  /** Calls that wait for a thread. */
  const waiting: PromiseWithResolvers<SearchThread>[] = [];
  let data = sharedData();
  let threads: SearchThread[] = [];
  let idle: SearchThread[] = [];
  let closed = false;

  function sharedData(): SearchThreadData {
    const channel = `annals search ${process.pid} ${++pools}`;
    return { path, limitMs, channel, lock: new SharedArrayBuffer(4) };
  }

  function start(): SearchThread {
    const thread: SearchThread = new Thread(new URL("./search-thread.ts", import.meta.url), {
      ...{ workerData: data, name: "search" },
      onEnd: (cause) => {
        const why = cause === undefined ? "ended" : `ended: ${cause}`;
        if (threads.includes(thread)) void endAll(unavailable(why, cause));
      },
    });
    threads.push(thread);
    return thread;
  }

  async function acquire(): Promise<SearchThread> {
    const thread = idle.pop() ?? (threads.length < most ? start() : undefined);
    if (thread !== undefined) return thread;
    const wait = Promise.withResolvers<SearchThread>();
    waiting.push(wait);
    return await wait.promise;
  }

  function release(thread: SearchThread): void {
    if (!threads.includes(thread)) return;
    const next = waiting.shift();
    if (next === undefined) idle.push(thread);
    else next.resolve(thread);
  }

  /** The lock may be held by a thread that ended: others get another one. */
  async function endAll(reason: Error): Promise<void> {
    const ended = threads;
    threads = [];
    idle = [];
    data = sharedData();
    for (const { reject } of waiting.splice(0)) reject(reason);
    await Promise.all(ended.map((thread) => thread.end(reason)));
  }

  return {
    call(method, argument) {
      if (closed) return Promise.reject(unavailable("is closed"));
      return acquire().then((thread) =>
        thread.call(method, argument).finally(() => release(thread)),
      );
    },
    async close() {
      closed = true;
      await endAll(unavailable("is closed"));
    },
  };
}

const unavailable = (what: string, cause?: unknown): CatalogError =>
  new CatalogError("unavailable", `the view "${searchSchema.view}" ${what}`, { cause });
