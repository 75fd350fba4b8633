/** A thread that answers one question at a time: both ends. */
import { parentPort, type ResourceLimits, Worker } from "node:worker_threads";
import { assert } from "../../../../core/errors.ts";
import { type Connection, connect, type Transfer } from "../../../../core/thread-calls.ts";

type Answering<Q, A> = { readonly answer: (question: Q) => A };

/** In the thread: answers each message. */
export function answerQuestions<Q, A>(answer: (question: Q) => A | Transfer<A>): void {
  assert(parentPort !== null, "this module runs in a thread of its own");
  connect(parentPort, { answer });
}

interface ThreadOptions {
  readonly workerData: unknown;
  readonly name: string;
  readonly resourceLimits?: ResourceLimits;
  /** Called when the thread has ended. `cause`: the error that ended it, if one did. */
  readonly onEnd: (cause: unknown) => void;
}

/** Keeps the process alive only while it answers. */
export class Thread<Q, A> {
  private readonly worker: Worker;
  private readonly connection: Connection<Answering<Q, A>>;
  private answering = false;

  constructor(file: URL, { onEnd, ...options }: ThreadOptions) {
    this.worker = new Worker(file, options);
    this.worker.unref();
    this.connection = connect(this.worker, {});
    let cause: unknown;
    this.worker.on("error", (error) => {
      cause = error;
    });
    this.worker.on("exit", () => onEnd(cause));
  }

  get isIdle(): boolean {
    return !this.answering;
  }

  /** The thread is idle. */
  async ask(question: Q): Promise<Awaited<A>> {
    this.answering = true;
    this.worker.ref();
    try {
      return await this.connection.call("answer", question);
    } finally {
      this.answering = false;
      this.worker.unref();
    }
  }

  /** Ends the thread; its question fails with this error. */
  async end(reason: Error): Promise<void> {
    this.connection.end(reason);
    await this.worker.terminate();
  }
}
