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
import { type Connection, connect } from "../../../core/thread-calls.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import type { Scavenged } from "../../change-log.ts";
import type { Batch, BatchReply, ScavengeStep } from "./batch.ts";
import { MAY_BE_WRITTEN, NOT_WRITTEN, unscavenged, unwritten } from "./writer-errors.ts";
import type { WriterMethods, WriterOwner } from "./writer-thread.ts";

/** Calls wait for the thread while it starts. They reject `unavailable`, also when it ends. */
interface WriterClient {
  append(batch: Batch): Promise<BatchReply>;
  scavenge(step: ScavengeStep): Promise<Scavenged>;
  /** Why calls are rejected: the thread has ended, and another one does not start yet. */
  down(): string | undefined;
  /** Why the last thread ended; undefined when another one has the file open. */
  ended(): string | undefined;
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
  /** The thread has ended by itself, or did not start. */
  readonly onEnd: () => void;
}

class WriterEnded extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const RESTART: Restart = { firstMs: 200, maxMs: 30_000, endsMax: 20 };

export function startWriter(options: WriterOptions): WriterClient {
  const { file, indexState, logger, restart = RESTART, onEnd } = options;
  let state: "starting" | "running" | "pausing" | "given up" | "closed" = "starting";
  let current: { worker: Worker; connection: Connection<WriterMethods> } | undefined;
  let ended: string | undefined;
  let ends = 0;
  let restarting: NodeJS.Timeout | undefined;

  function start(): void {
    state = "starting";
    const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
      workerData: { file, indexState },
      name: "log writer",
    });
    const connection = connect<WriterMethods>(worker, { opened } satisfies WriterOwner);
    current = { worker, connection };
    let how: string | undefined;
    worker.on("error", (cause) => {
      how = messageOf(cause);
    });
    worker.on("exit", (code) => {
      current = undefined;
      const hint = state === "starting" ? NOT_WRITTEN : MAY_BE_WRITTEN;
      if (state !== "closed") pause(how ?? `it ended with exit code ${code}`);
      connection.end(new WriterEnded(why(), hint));
      onEnd();
    });
  }

  function opened(): void {
    if (state === "closed") return;
    if (ended !== undefined) logger?.info({ file }, "the log's writer runs again");
    state = "running";
    ended = undefined;
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
  }

  const why = (): string =>
    `its writer ended (${ended})${state === "given up" ? " and is not restarted" : ""}`;

  async function call<K extends "append" | "scavenge">(
    method: K,
    argument: Parameters<WriterMethods[K]>[0],
  ): Promise<ReturnType<WriterMethods[K]>> {
    const { connection } = current ?? {};
    if (connection === undefined) throw new WriterEnded(why(), NOT_WRITTEN);
    try {
      return await connection.call(method, argument, [argument.data.buffer as ArrayBuffer]);
    } finally {
      if (current?.connection === connection) ends = 0;
    }
  }

  start();
  return {
    append: (batch) =>
      call("append", batch).catch((error) => {
        throw error instanceof WriterEnded ? unwritten(file, error.message, error.hint) : error;
      }),
    scavenge: (step) =>
      call("scavenge", step).catch((error) => {
        throw error instanceof WriterEnded ? unscavenged(file, error.message) : error;
      }),
    down: () => (current === undefined ? why() : undefined),
    ended: () => ended && why(),
    async close() {
      state = "closed";
      clearTimeout(restarting);
      if (current === undefined) return;
      const { worker } = current;
      const exit = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
      current.connection.call("close", undefined).catch(() => {});
      await exit;
    },
  };
}
