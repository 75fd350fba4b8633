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
import { textOf } from "../catalog/checked-proposals.ts";
import type { ValueThread } from "../catalog/computed-ahead.ts";
import { assert, CatalogError } from "../core/errors.ts";
import { deserializeError } from "../core/serialized-error.ts";
import type { LargeBodies } from "../http/large-bodies.ts";
import type { BodyThreadData, FromBodyThread, ToBodyThread } from "./body-messages.ts";
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

interface Waiting {
  readonly message: ToBodyThread;
  readonly transferred: readonly ArrayBuffer[];
  readonly bytes: number;
  /** Of a body: it counts as expanded until then. */
  readonly signal: AbortSignal | undefined;
  readonly answer: PromiseWithResolvers<FromBodyThread>;
}

export function createBodyClient({
  expandedBytesMax = 64 * 1024 * 1024,
  waitMsMax = 60_000,
  idleMsMax = 30_000,
  ...data
}: BodyClientOptions): BodyClient {
  const waiting: Waiting[] = [];
  let reading: Waiting | undefined;
  let expanded = 0;
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  function start(): Worker {
    const worker = new Worker(new URL("body-thread.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
      workerData: data satisfies BodyThreadData,
      name: "body reader",
    });
    let failure: unknown;
    worker.on("message", (answer: FromBodyThread) => {
      const read = reading;
      reading = undefined;
      // Ending the thread frees its heap.
      if ((read?.bytes ?? 0) > KEPT_BYTES_MAX) void end();
      read?.answer.resolve(answer);
      next();
    });
    worker.on("error", (error) => {
      failure = error;
    });
    worker.on("exit", () => {
      if (thread !== worker) return;
      thread = undefined;
      reading?.answer.reject(closed ? closing() : ended(failure));
      reading = undefined;
      next();
    });
    return worker;
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
    thread.postMessage(first.message, first.transferred);
  }

  /** Counts the body until it is read and its response has ended. */
  function expand({ bytes, answer }: Waiting, signal: AbortSignal): void {
    expanded += bytes;
    const isRead = answer.promise.catch(() => {});
    void Promise.all([isRead, aborted(signal)]).then(() => {
      expanded -= bytes;
      next();
    });
  }

  function end(): Promise<unknown> | undefined {
    const last = thread;
    thread = undefined;
    return last?.terminate();
  }

  function leave(one: Waiting, error: CatalogError): void {
    const at = waiting.indexOf(one);
    if (at < 0) return;
    waiting.splice(at, 1);
    one.answer.reject(error);
  }

  /** The thread's answer. A value comes before all bodies: a body may wait for the request that needs it. */
  async function ask(question: Omit<Waiting, "answer">): Promise<FromBodyThread> {
    if (closed) throw closing();
    const one = { ...question, answer: Promise.withResolvers<FromBodyThread>() };
    const { signal } = one;
    const late = setTimeout(() => leave(one, busy(waitMsMax)), waitMsMax);
    if (signal === undefined) waiting.unshift(one);
    else {
      void aborted(signal).then(() => leave(one, abandoned()));
      waiting.push(one);
    }
    next();
    try {
      const answer = await one.answer.promise;
      if ("refusal" in answer) throw deserializeError(answer.refusal);
      return answer;
    } finally {
      clearTimeout(late);
    }
  }

  return {
    async read({ signal, body, ...rest }) {
      const answer = await ask({
        message: { ...rest, body },
        transferred: [body.buffer],
        bytes: body.length,
        signal,
      });
      if ("body" in answer) return { body: answer.body };
      assert("proposals" in answer, "the thread returns a body or proposals");
      return { body: undefined, proposals: await unpackProposals(answer.proposals) };
    },

    async compute({ proposal, label, stamp, current }) {
      const value = textOf(proposal.aspect?.value);
      const packed = packProposals([{ ...proposal, aspect: { ...proposal.aspect, value } }]);
      const answer = await ask({
        message: { proposal: packed, label, stamp, current },
        transferred: [packed.bytes.buffer, packed.lengths.buffer],
        bytes: packed.bytes.length + (current?.length ?? 0),
        signal: undefined,
      });
      assert("text" in answer, "the thread returns the text of the value");
      return answer.text;
    },

    async close() {
      closed = true;
      clearTimeout(idle);
      for (const one of waiting.splice(0)) one.answer.reject(closing());
      reading?.answer.reject(closing());
      reading = undefined;
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
