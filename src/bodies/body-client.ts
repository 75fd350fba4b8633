/**
 * The main thread's side of the body thread. Bodies are read one at a time, in the order of arrival. A
 * body counts as expanded from then until its response ends. The next one is read when both fit into the
 * limit, which bounds the memory of parsed bodies and of their copies on the way to the log. The thread
 * starts with the first large body. It ends when it has been idle for a while, or has read a very large
 * body.
 *
 *   idle → reading    a body is posted
 *   reading → idle    the thread has sent the result
 *   reading → none    the thread has ended, for example out of memory; its body is rejected
 */
import { Worker } from "node:worker_threads";
import type { ValueThread } from "../catalog/write/computed-ahead.ts";
import { textOf } from "../catalog/write/proposals/checked-proposals.ts";
import { CatalogError } from "../core/errors.ts";
import { type Connection, connect } from "../core/thread-calls.ts";
import type { LargeBodies } from "../http/hooks/large-bodies.ts";
import { collectGarbage, GARBAGE_BYTES } from "../lib/collect-garbage.ts";
import type { BodyThread, BodyThreadData } from "./body-messages.ts";
import { packProposals, unpackProposals } from "./packed-proposals.ts";

interface BodyClient extends LargeBodies, ValueThread {
  /** Ends the thread; waiting bodies are rejected. */
  close(): Promise<void>;
}

interface BodyClientOptions extends BodyThreadData {
  /** Bytes of all expanded bodies together; a larger body is expanded alone. */
  readonly expandedBytesMax?: number | undefined;
  /** Milliseconds that a body may wait before it is rejected. */
  readonly waitMsMax?: number | undefined;
  /** Milliseconds after which an idle thread ends. */
  readonly idleMsMax?: number | undefined;
}

/** Enough for a body of 64 MiB: its text, the texts of its values, and one value parsed. */
const HEAP_MEGABYTES_MAX = 320;

/** A thread that has read a larger body ends. */
const KEPT_BYTES_MAX = 16 * 1024 * 1024;

interface Request {
  readonly bytes: number;
  /** Of a body: it counts as expanded until then. */
  readonly signal: AbortSignal | undefined;
}

interface Waiting extends Request {
  /** Calls the thread; resolves when it has replied, whatever the reply is. */
  read(thread: Connection<BodyThread>): Promise<void>;
  readonly isRead: Promise<unknown>;
  reject(error: CatalogError): void;
}

interface RunningThread {
  readonly worker: Worker;
  readonly connection: Connection<BodyThread>;
}

export function createBodyClient({
  expandedBytesMax = 32 * 1024 * 1024,
  waitMsMax = 60_000,
  idleMsMax = 30_000,
  ...data
}: BodyClientOptions): BodyClient {
  const waiting: Waiting[] = [];
  let reading: Waiting | undefined;
  let expanded = 0;
  let thread: RunningThread | undefined;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  function start(): RunningThread {
    const worker = new Worker(new URL("body-thread.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
      workerData: data satisfies BodyThreadData,
      name: "body reader",
    });
    const started = { worker, connection: connect<BodyThread>(worker, {}) };
    let failure: unknown;
    worker.on("error", (error) => {
      failure = error;
    });
    worker.on("exit", () => {
      if (thread === started) thread = undefined;
      started.connection.end(ended(failure));
    });
    return started;
  }

  function next(): void {
    clearTimeout(idle);
    const [first] = waiting;
    if (reading !== undefined) return;
    if (first === undefined) {
      idle = setTimeout(end, idleMsMax).unref();
      return;
    }
    const { signal, bytes } = first;
    if (signal !== undefined && expanded > 0 && expanded + bytes > expandedBytesMax) return;
    waiting.shift();
    reading = first;
    if (signal !== undefined) expand(first, signal);
    thread ??= start();
    void first.read(thread.connection).then(() => {
      reading = undefined;
      // Ending the thread frees its heap.
      if (bytes > KEPT_BYTES_MAX) void end();
      next();
    });
  }

  /** Counts the body until it is read and its response has ended. */
  function expand({ bytes, isRead }: Waiting, signal: AbortSignal): void {
    expanded += bytes;
    void Promise.allSettled([isRead, aborted(signal)]).then(() => {
      expanded -= bytes;
      if (bytes > GARBAGE_BYTES) collectGarbage("regular");
      next();
    });
  }

  async function end(): Promise<void> {
    const last = thread;
    thread = undefined;
    await last?.worker.terminate();
  }

  function leave(one: Waiting, error: CatalogError): void {
    const at = waiting.indexOf(one);
    if (at < 0) return;
    waiting.splice(at, 1);
    one.reject(error);
  }

  /** The thread's reply. A value comes before all bodies: a body may wait for the request that needs it. */
  async function ask<T>(
    { bytes, signal }: Request,
    call: (thread: Connection<BodyThread>) => Promise<T>,
  ): Promise<T> {
    if (closed) throw closing();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const read = (connection: Connection<BodyThread>) => call(connection).then(resolve, reject);
    const one: Waiting = { bytes, signal, read, isRead: promise, reject };
    const late = setTimeout(() => leave(one, busy(waitMsMax)), waitMsMax);
    if (signal === undefined) waiting.unshift(one);
    else {
      void aborted(signal).then(() => leave(one, abandoned()));
      waiting.push(one);
    }
    next();
    try {
      return await promise;
    } finally {
      clearTimeout(late);
    }
  }

  return {
    async read({ signal, body, ...rest }) {
      const read = await ask({ bytes: body.length, signal }, (thread) =>
        thread.call("read", { ...rest, body }, [body.buffer]),
      );
      if (!("proposals" in read)) return read;
      return { body: undefined, proposals: await unpackProposals(read.proposals) };
    },

    compute({ proposal, label, stamp, current }) {
      const value = textOf(proposal.aspect?.value);
      const packed = packProposals([{ ...proposal, aspect: { ...proposal.aspect, value } }]);
      const bytes = packed.bytes.length + (current?.length ?? 0);
      return ask({ bytes, signal: undefined }, (thread) =>
        thread.call("compute", { proposal: packed, label, stamp, current }, [
          packed.bytes.buffer,
          packed.lengths.buffer,
        ]),
      );
    },

    async close() {
      closed = true;
      clearTimeout(idle);
      for (const one of waiting.splice(0)) one.reject(closing());
      thread?.connection.end(closing());
      await end();
    },
  };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** The error for the body that the thread was reading when it ended. */
function ended(failure: unknown): unknown {
  const { code } = Object(failure) as { readonly code?: unknown };
  if (code !== "ERR_WORKER_OUT_OF_MEMORY") {
    return failure ?? new Error("the body thread ended unexpectedly");
  }
  return new CatalogError("too_large", "out of memory while parsing the request body", {
    hint: "Send it in several requests",
    cause: failure,
  });
}

const busy = (ms: number): CatalogError =>
  new CatalogError("unavailable", `timed out after ${ms} ms behind other large request bodies`, {
    hint: "Send the request again later, or in several requests of at most 1 MiB",
  });

const abandoned = (): CatalogError =>
  new CatalogError("unavailable", "the connection closed before the request body was read");

const closing = (): CatalogError =>
  new CatalogError("unavailable", "the service is stopping", {
    hint: "Send the request again when it runs",
  });
