/** A thread that answers one question at a time: both ends. */
import { parentPort, Worker } from "node:worker_threads";
import { assert } from "../../core/errors.ts";
import {
  deserializeError,
  type SerializedError,
  serializeError,
} from "../../core/serialized-error.ts";

type Reply<A> = { readonly answer: A } | { readonly failure: SerializedError };

/** In the thread: answers each message. */
export function answerQuestions<Q, A>(answer: (question: Q) => A): void {
  const port = parentPort;
  assert(port !== null, "this module runs in a thread of its own");
  port.on("message", (question: Q) => {
    let reply: Reply<A>;
    try {
      reply = { answer: answer(question) };
    } catch (error) {
      reply = { failure: serializeError(error) };
    }
    port.postMessage(reply);
  });
}

interface ThreadOptions {
  readonly workerData: unknown;
  readonly name: string;
  /** Called when the thread has ended. `cause`: the error that ended it, if one did. */
  readonly onEnd: (cause: unknown) => void;
}

/** Keeps the process alive only while it answers. */
export class Thread<Q, A> {
  private readonly worker: Worker;
  private asked: PromiseWithResolvers<A> | undefined;

  constructor(file: URL, { onEnd, ...options }: ThreadOptions) {
    this.worker = new Worker(file, options);
    this.worker.unref();
    let cause: unknown;
    this.worker.on("message", (reply: Reply<A>) => this.settle(reply));
    this.worker.on("error", (error) => {
      cause = error;
    });
    this.worker.on("exit", () => onEnd(cause));
  }

  get isIdle(): boolean {
    return this.asked === undefined;
  }

  /** The thread is idle. */
  ask(question: Q): Promise<A> {
    this.asked = Promise.withResolvers();
    this.worker.ref();
    this.worker.postMessage(question);
    return this.asked.promise;
  }

  /** Ends the thread; its question fails with this error. */
  async end(reason: Error): Promise<void> {
    this.asked?.reject(reason);
    this.asked = undefined;
    await this.worker.terminate();
  }

  private settle(reply: Reply<A>): void {
    const { asked } = this;
    this.asked = undefined;
    this.worker.unref();
    if ("answer" in reply) asked?.resolve(reply.answer);
    else asked?.reject(failureOf(reply.failure));
  }
}

/** A programming error is no error of the catalog. */
const failureOf = (failure: SerializedError): Error =>
  failure.code === "internal" ? new Error(failure.message) : deserializeError(failure);
