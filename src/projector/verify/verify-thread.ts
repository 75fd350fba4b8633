/**
 * The thread that verifies views beside the service, with readers of its own; it ends with its work.
 * verifying.ts is its other end.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { type SerializedError, serializeError } from "../../core/serialized-error.ts";
import { giveWay } from "../give-way.ts";
import type { Grown } from "../sink.ts";
import { restOf } from "../watch-busy.ts";
import type { VerificationResult } from "./verification.ts";

export interface VerifyThreadData {
  /** Address of the module that verifies (VerifyModule). */
  readonly module: string;
  readonly config: unknown;
  readonly views: readonly string[];
  readonly since?: Position | undefined;
  /** The editions beside those in place (verify-editions.ts); nothing is remembered of them. */
  readonly next?: boolean | undefined;
  /** Where those are that lie in servers, by view. */
  readonly grown?: Readonly<Record<string, Grown>> | undefined;
  /** NICENESS when absent. */
  readonly niceness?: number | undefined;
}

export type ToVerifyThread =
  | { readonly kind: "stop" }

  /** Whether the service has much else to do. */
  | { readonly kind: "busy"; readonly busy: boolean };

/** What that module exports. */
export interface VerifyModule {
  verifyStoredViews(
    config: unknown,
    options: {
      readonly views: readonly string[];
      readonly since?: Position | undefined;
      readonly next?: boolean | undefined;
      readonly grown?: Readonly<Record<string, Grown>> | undefined;

      readonly rest: (ms: number) => Promise<void>;
      readonly onProgress: (done: number, total: number) => void;
      readonly signal: AbortSignal;
    },
  ): Promise<VerificationResult>;
}

export type FromVerifyThread =
  | { readonly kind: "progress"; readonly done: number; readonly total: number }
  | { readonly kind: "done"; readonly result: VerificationResult }
  | ({ readonly kind: "failed" } & SerializedError);

/** As of those that grow views: at a lower priority it would not come to its end while others ask much. */
const NICENESS = 5;
/** Milliseconds between two messages of how far it is. */
const TOLD_MS_MIN = 100;

const port = parentPort;
assert(port !== null, "this file is a thread's own");
const tell = (message: FromVerifyThread) => port.postMessage(message);
const stopping = new AbortController();

let busy = false;
port.on("message", (message: ToVerifyThread) => {
  if (message.kind === "busy") busy = message.busy;
  else stopping.abort(new CatalogError("unavailable", "the verification was stopped"));
});

const data: VerifyThreadData = workerData;
const { module, config, niceness = NICENESS, ...options } = data;
giveWay(niceness);
try {
  const { verifyStoredViews } = (await import(module)) as VerifyModule;
  let told = 0;
  const result = await verifyStoredViews(config, {
    ...options,

    async rest(ms) {
      // A message to stop arrives before the next batch.
      if (busy) await delay(ms * restOf(1));
    },
    onProgress(done, total) {
      if (performance.now() - told < TOLD_MS_MIN) return;
      told = performance.now();
      tell({ kind: "progress", done, total });
    },
    signal: stopping.signal,
  });
  tell({ kind: "done", result });
} catch (error) {
  tell({ kind: "failed", ...serializeError(error) });
} finally {
  port.close();
}
