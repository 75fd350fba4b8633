/** Starts the thread that verifies views (verify-thread.ts). */
import { Worker } from "node:worker_threads";
import { CatalogError } from "../../core/errors.ts";
import { deserializeError } from "../../core/serialized-error.ts";
import { threadLimits } from "../thread/thread-limits.ts";
import { watchBusy } from "../thread/watch-busy.ts";
import type { VerificationResult } from "./verification.ts";
import type { FromVerifyThread, ToVerifyThread, VerifyThreadData } from "./verify-thread.ts";

/** Rejects with the thread's error; when the signal aborts, soon after that. */
export async function verifyInThread(
  data: VerifyThreadData,
  options: {
    readonly onProgress: (done: number, total: number) => void;
    readonly signal: AbortSignal | undefined;
  },
): Promise<VerificationResult> {
  options.signal?.throwIfAborted();
  const worker = new Worker(new URL("verify-thread.ts", import.meta.url), {
    resourceLimits: threadLimits,
    workerData: data,
    name: "verify",
  });
  const { promise, resolve, reject } = Promise.withResolvers<VerificationResult>();
  const send = (message: ToVerifyThread) => worker.postMessage(message);
  const stop = () => send({ kind: "stop" });
  const unwatch = watchBusy((busy) => send({ kind: "busy", busy }));
  options.signal?.addEventListener("abort", stop);

  worker.on("message", (message: FromVerifyThread) => {
    if (message.kind === "progress") options.onProgress(message.done, message.total);
    else if (message.kind === "done") resolve(message.result);
    else reject(deserializeError(message));
  });
  worker.on("error", (cause) => {
    reject(new CatalogError("internal", `the verification failed: ${cause}`, { cause }));
  });
  const exited = new Promise<void>((exit) => {
    worker.on("exit", (code) => {
      reject(new CatalogError("unavailable", `the verification ended with exit code ${code}`));
      exit();
    });
  });
  try {
    return await promise;
  } finally {
    options.signal?.removeEventListener("abort", stop);
    unwatch();
    await exited;
  }
}
