/** A thread that answers one call at a time: both ends. */
import { parentPort, type ResourceLimits, Worker } from "node:worker_threads";
import { assert } from "../../../../core/errors.ts";
import { type Connection, connect } from "../../../../core/thread-calls.ts";

type Methods<M> = { readonly [K in keyof M]: (argument: never) => unknown };

/** In the thread: serves these methods. */
export function serve<M extends Methods<M>>(methods: M): void {
  assert(parentPort !== null, "this module runs in a thread of its own");
  connect(parentPort, methods);
}

interface ThreadOptions {
  readonly workerData: unknown;
  readonly name: string;
  readonly resourceLimits?: ResourceLimits;
  /** Called when the thread has ended. `cause`: the error that ended it, if one did. */
  readonly onEnd: (cause: unknown) => void;
}

/** Keeps the process alive only while it answers. */
export class Thread<M extends Methods<M>> {
  private readonly worker: Worker;
  private readonly connection: Connection<M>;

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

  /** One at a time. */
  async call<K extends keyof M & string>(
    method: K,
    argument: Parameters<M[K]>[0],
  ): Promise<Awaited<ReturnType<M[K]>>> {
    this.worker.ref();
    try {
      return await this.connection.call(method, argument);
    } finally {
      this.worker.unref();
    }
  }

  /** Ends the thread; its call fails with this error. */
  async end(reason: Error): Promise<void> {
    this.connection.end(reason);
    await this.worker.terminate();
  }
}
