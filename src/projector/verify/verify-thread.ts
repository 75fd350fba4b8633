/** The thread of one verification, with its own readers. verifying.ts starts it. */
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { type SerializedError, serializeError } from "../../core/serialized-error.ts";
import type { Staged } from "../sink.ts";
import { lowerPriority } from "../thread/lower-priority.ts";
import { pausePerWorkedMs } from "../thread/watch-busy.ts";
import type { VerificationResult } from "./verification.ts";

export interface VerifyThreadData {
  /** URL of the module that verifies (VerifyModule). */
  readonly module: string;
  readonly config: unknown;
  readonly views: readonly string[];
  readonly since?: Position | undefined;
  /** Verify staging generations (verify-staging.ts); the result is not stored. */
  readonly next?: boolean | undefined;
  /** Staging generations in servers, by view. */
  readonly staged?: Readonly<Record<string, Staged>> | undefined;
  /** Default: NICENESS. */
  readonly niceness?: number | undefined;
}

export type ToVerifyThread =
  | { readonly kind: "stop" }

  /** The service is busy, or no longer. */
  | { readonly kind: "busy"; readonly busy: boolean };

/** The exports of the module. */
export interface VerifyModule {
  verifyStoredViews(
    config: unknown,
    options: {
      readonly views: readonly string[];
      readonly since?: Position | undefined;
      readonly next?: boolean | undefined;
      readonly staged?: Readonly<Record<string, Staged>> | undefined;

      readonly pause: (ms: number) => Promise<void>;
      readonly onProgress: (done: number, total: number) => void;
      readonly signal: AbortSignal;
    },
  ): Promise<VerificationResult>;
}

export type FromVerifyThread =
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  | { readonly kind: "done"; readonly result: VerificationResult }
  | ({ readonly kind: "failed" } & SerializedError);

/** The same as for rebuilds: at a lower priority it would not end while the service is busy. */
const NICENESS = 5;
/** Milliseconds between two progress messages. */
const PROGRESS_MS_MIN = 100;

const port = parentPort;
assert(port !== null, "this module runs in a worker thread");
const send = (message: FromVerifyThread) => port.postMessage(message);
const stopping = new AbortController();

let busy = false;
port.on("message", (message: ToVerifyThread) => {
  if (message.kind === "busy") busy = message.busy;
  else stopping.abort(new CatalogError("unavailable", "the verification was stopped"));
});

const data: VerifyThreadData = workerData;
const { module, config, niceness = NICENESS, ...options } = data;
lowerPriority(niceness);
try {
  const { verifyStoredViews } = (await import(module)) as VerifyModule;
  let sentAt = 0;
  const result = await verifyStoredViews(config, {
    ...options,

    async pause(ms) {
      // A message to stop arrives before the next batch.
      if (busy) await delay(ms * pausePerWorkedMs(1));
    },
    onProgress(done, total) {
      if (performance.now() - sentAt < PROGRESS_MS_MIN) return;
      sentAt = performance.now();
      send({ kind: "progress", done, total });
    },
    signal: stopping.signal,
  });
  send({ kind: "done", result });
} catch (error) {
  send({ kind: "failed", ...serializeError(error) });
} finally {
  port.close();
}
