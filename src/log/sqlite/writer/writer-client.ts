/**
 * Starts and restarts the writer thread (writer-thread.ts).
 *
 *   starting → running    the thread has the file open
 *   starting → pausing    it ended before that
 *   running  → pausing    it ended by itself; logged
 *   pausing  → starting   after a pause that doubles with each end
 *   pausing  → given up   too many ends without a batch between them
 *   any      → closed     close()
 */
import { Worker } from "node:worker_threads";
import { messageOf } from "../../../core/errors.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import type {
  Batch,
  BatchFailure,
  BatchReply,
  FromWriter,
  ScavengeReply,
  ScavengeStep,
  ToWriter,
} from "./batch.ts";

interface WriterClient {
  state(): "starting" | "running" | "pausing" | "given up" | "closed";
  /** Why the last thread ended; undefined when another one runs. */
  ended(): string | undefined;
  /** Only in state `running`, one message at a time. Transfers the bytes. */
  send(message: Batch | ScavengeStep): void;
  /** Closes the file and ends the thread. */
  close(): Promise<void>;
}

export interface Restart {
  /** The first and the maximum pause before a restart, in milliseconds. */
  readonly firstMs: number;
  readonly maxMs: number;
  readonly endsMax: number;
}

interface WriterOptions {
  readonly file: string;
  readonly indexState: SharedArrayBuffer;
  readonly logger: Pick<Logger, "info" | "error"> | undefined;
  readonly restart: Restart | undefined;
  /** The thread accepts batches. */
  readonly onRunning: () => void;
  readonly onReply: (reply: BatchReply | ScavengeReply | BatchFailure) => void;
  /** The thread has ended: the batch in flight gets no result. */
  readonly onEnd: (how: string) => void;
}

const RESTART: Restart = { firstMs: 200, maxMs: 30_000, endsMax: 20 };

export function startWriter(options: WriterOptions): WriterClient {
  const { file, indexState, logger, restart = RESTART, onRunning, onReply, onEnd } = options;
  let state: ReturnType<WriterClient["state"]> = "starting";
  let worker: Worker | undefined;
  let ended: string | undefined;
  let ends = 0;
  let restarting: NodeJS.Timeout | undefined;

  function start(): void {
    state = "starting";
    worker = new Worker(new URL("./writer-thread.ts", import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
      workerData: { file, indexState },
      name: "log writer",
    });
    let how: string | undefined;
    worker.on("message", onMessage);
    worker.on("error", (cause) => {
      how = messageOf(cause);
    });
    worker.on("exit", (code) => {
      worker = undefined;
      if (state !== "closed") pause(how ?? `it ended with exit code ${code}`);
    });
  }

  function onMessage(message: FromWriter): void {
    if ("closed" in message) return;
    if ("opened" in message) {
      if (state === "closed") return;
      if (ended !== undefined) logger?.info({ file }, "the log's writer runs again");
      state = "running";
      ended = undefined;
      onRunning();
      return;
    }
    ends = 0;
    onReply(message);
  }

  function pause(how: string): void {
    ends++;
    ended = how;
    if (ends > restart.endsMax) {
      state = "given up";
      logger?.error({ file, error: how, ends }, "the log's writer is given up");
    } else {
      state = "pausing";
      const pauseMs = Math.min(restart.firstMs * 2 ** (ends - 1), restart.maxMs);
      logger?.error({ file, error: how, ends, pauseMs }, "the log's writer ended");
      restarting = setTimeout(start, pauseMs);
    }
    onEnd(how);
  }

  start();
  return {
    state: () => state,
    ended: () => ended,
    send: (message) =>
      worker?.postMessage(message satisfies ToWriter, [message.data.buffer as ArrayBuffer]),
    async close() {
      state = "closed";
      clearTimeout(restarting);
      const last = worker;
      if (last === undefined) return;
      const exit = new Promise<void>((resolve) => last.once("exit", () => resolve()));
      last.postMessage({ close: true } satisfies ToWriter);
      await exit;
    },
  };
}
