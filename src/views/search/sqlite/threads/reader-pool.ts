/**
 * The reader threads of the search view. A query holds one thread; others wait in order. The first query
 * starts the first thread, so that the start of the service does not compete with it for processors;
 * other threads start when queries wait. When a thread ends by itself, all end and their queries fail:
 * the next query starts others.
 */
import { availableParallelism } from "node:os";
import { CatalogError } from "../../../../core/errors.ts";
import { searchSchema } from "../schema.ts";
import type { Answers, Question, SearchThreadData } from "./search-thread.ts";
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

type Answer = Answers[Question["kind"]];

interface Pending extends PromiseWithResolvers<Answer> {
  readonly question: Question;
}

interface ReaderPool {
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
  let threads: Thread<Question, Answer>[] = [];
  let closed = false;

  function sharedData(): SearchThreadData {
    const channel = `annals search ${process.pid} ${++pools}`;
    return { path, limitMs, channel, lock: new SharedArrayBuffer(4) };
  }

  function start(): Thread<Question, Answer> {
    const file = new URL("./search-thread.ts", import.meta.url);
    const thread = new Thread<Question, Answer>(file, {
      ...{ workerData: data, name: "search" },
      onEnd: (cause) => {
        const why = cause === undefined ? "ended" : `ended: ${cause}`;
        if (threads.includes(thread)) void endAll(unavailable(why, cause));
      },
    });
    return thread;
  }

  function dispatch(): void {
    while (waiting.length > 0) {
      let idle = threads.find(({ isIdle }) => isIdle);
      if (idle === undefined) {
        if (threads.length >= most) return;
        idle = start();
        threads.push(idle);
      }
      const { question, resolve, reject } = waiting.shift() as Pending;
      void idle.ask(question).then(resolve, reject).finally(dispatch);
    }
  }

  /** The lock may be held by a thread that ended: others get another one. */
  async function endAll(reason: Error): Promise<void> {
    const ended = threads;
    threads = [];
    data = sharedData();
    for (const { reject } of waiting.splice(0)) reject(reason);
    await Promise.all(ended.map((thread) => thread.end(reason)));
  }

  return {
    ask<K extends Question["kind"]>(question: Extract<Question, { kind: K }>) {
      if (closed) return Promise.reject(unavailable("is closed"));
      const pending = Promise.withResolvers<Answer>();
      waiting.push({ question, ...pending });
      dispatch();
      return pending.promise as Promise<Answers[K]>;
    },
    async close() {
      closed = true;
      await endAll(unavailable("is closed"));
    },
  };
}

const unavailable = (what: string, cause?: unknown): CatalogError =>
  new CatalogError("unavailable", `the view "${searchSchema.view}" ${what}`, { cause });
