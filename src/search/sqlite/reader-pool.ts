/**
 * The reader threads of the search view. A query holds one thread; others wait in order. The first
 * thread starts with the pool, others when queries wait. When one ends by itself, all end and their
 * queries fail: the next query starts others.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { CatalogError } from "../../core/errors.ts";
import { errorOf, type ToldError } from "../../core/told-error.ts";
import { searchSchema } from "./schema.ts";
import type { Answers, FromSearchThread, Question, SearchThreadData } from "./search-thread.ts";

export interface ReaderOptions {
  /** The most threads. */
  readonly threads?: number;
  /** The time limit of a query. */
  readonly limitMs?: number;
}

/** Computing time of one query. */
const LIMIT_MS = 2_000;

const threadsMax = (): number => Math.max(2, availableParallelism() - 1);

interface Pending {
  readonly question: Question;
  resolve(answer: Answers[Question["kind"]]): void;
  reject(error: Error): void;
}

interface Thread {
  readonly worker: Worker;
  asked: Pending | undefined;
}

export interface ReaderPool {
  ask<K extends Question["kind"]>(question: Extract<Question, { kind: K }>): Promise<Answers[K]>;
  close(): Promise<void>;
}

let pools = 0;

export function createReaderPool(
  path: string,
  { threads: most = threadsMax(), limitMs = LIMIT_MS }: ReaderOptions = {},
): ReaderPool {
  const waiting: Pending[] = [];
  let data = sharedData();
  let threads = [start()];
  let closed = false;

  function sharedData(): SearchThreadData {
    const channel = `annals search ${process.pid} ${++pools}`;
    return { path, limitMs, channel, lock: new SharedArrayBuffer(4) };
  }

  function start(): Thread {
    const worker = new Worker(new URL("./search-thread.ts", import.meta.url), {
      workerData: data,
      name: "search",
    });
    const thread: Thread = { worker, asked: undefined };
    let reason = unavailable("ended");
    worker.on("message", (message: FromSearchThread) => {
      const { asked } = thread;
      thread.asked = undefined;
      worker.unref();
      if ("answer" in message) asked?.resolve(message.answer);
      else asked?.reject(failureOf(message.failure));
      dispatch();
    });
    worker.on("error", (cause) => {
      reason = unavailable(`ended: ${cause}`, cause);
    });
    worker.on("exit", () => {
      if (threads.includes(thread)) void endAll(reason);
    });
    worker.unref();
    return thread;
  }

  function dispatch(): void {
    while (waiting.length > 0) {
      let idle = threads.find(({ asked }) => asked === undefined);
      if (idle === undefined) {
        if (threads.length >= most) return;
        idle = start();
        threads.push(idle);
      }
      idle.asked = waiting.shift();
      idle.worker.ref();
      idle.worker.postMessage(idle.asked?.question);
    }
  }

  /** The lock may be held by a thread that ended: others get another one. */
  async function endAll(reason: Error): Promise<void> {
    const ended = threads;
    threads = [];
    data = sharedData();
    const failed = [...ended.flatMap(({ asked }) => asked ?? []), ...waiting.splice(0)];
    for (const { reject } of failed) reject(reason);
    await Promise.all(ended.map(({ worker }) => worker.terminate()));
  }

  return {
    ask<K extends Question["kind"]>(question: Extract<Question, { kind: K }>) {
      if (closed) return Promise.reject(unavailable("is closed"));
      const { promise, resolve, reject } = Promise.withResolvers<Answers[K]>();
      waiting.push({ question, resolve: resolve as Pending["resolve"], reject });
      dispatch();
      return promise;
    },
    async close() {
      closed = true;
      await endAll(unavailable("is closed"));
    },
  };
}

const unavailable = (what: string, cause?: unknown): CatalogError =>
  new CatalogError("unavailable", `the view "${searchSchema.view}" ${what}`, { cause });

/** A programming error is no error of the catalog. */
const failureOf = (failure: ToldError): Error =>
  failure.code === "internal" ? new Error(failure.message) : errorOf(failure);
