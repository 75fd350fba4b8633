/**
 * Gathers appends for the writer thread: while one batch is on its way to the disk, the next
 * calls gather and become the next batch, in the order in which they were made.
 */
import { Worker } from "node:worker_threads";
import { CatalogError } from "../../core/errors.ts";
import { position, revision } from "../../core/position.ts";
import { type Append, type Appended, WrongRevision } from "../change-log.ts";
import { type BatchAnswer, type FromWriter, packBatch, rowsBytes } from "./batch.ts";
import { reason } from "./schema.ts";

/** Keeps a commit within tens of milliseconds; a single larger call is a batch of its own. */
const BATCH_RECORDS_MAX = 4_000;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;

export interface Appender {
  append(appends: readonly Append[]): Promise<readonly Appended[]>;
  /** Writes what was begun, closes the file and ends the thread. */
  close(): Promise<void>;
}

interface Call {
  readonly appends: readonly Append[];
  readonly records: number;
  readonly bytes: number;
  readonly resolve: (appended: readonly Appended[]) => void;
  readonly reject: (error: unknown) => void;
}

export function startAppender(file: string): Appender {
  const worker = new Worker(new URL("./writer-thread.ts", import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: 4 },
    workerData: { file },
    name: "log writer",
  });
  let gathered: Call[] = [];
  let sent: readonly Call[] = [];
  /** A turn of the event loop is let pass before a batch is sent, for its other calls to join. */
  let scheduled = false;
  let closing: (() => void) | undefined;
  let failed: CatalogError | undefined;

  const ended = new Promise<void>((resolve) => {
    worker.on("exit", () => {
      fail("it ended");
      resolve();
    });
  });
  worker.on("error", (cause) => fail(reason(cause), cause));
  worker.on("message", (message: FromWriter) => {
    if ("closed" in message) return;
    const calls = sent;
    sent = [];
    // The thread goes on while this one tells the callers.
    send();
    if ("failure" in message) {
      const error = unavailable(file, message.failure);
      for (const call of calls) call.reject(error);
    } else settle(calls, message);
  });

  /** The thread is gone: nobody knows what became of a batch under way. */
  function fail(how: string, cause?: unknown): void {
    failed ??= unavailable(file, `the writer thread failed: ${how}`, cause);
    const calls = [...sent, ...gathered];
    sent = [];
    gathered = [];
    for (const call of calls) call.reject(failed);
  }

  function send(): void {
    scheduled = false;
    if (sent.length > 0) return;
    if (gathered.length === 0) {
      closing?.();
      return;
    }
    let records = 0;
    let bytes = 0;
    let size = 0;
    for (const call of gathered) {
      records += call.records;
      if (size > 0 && (records > BATCH_RECORDS_MAX || bytes + call.bytes > BATCH_BYTES_MAX)) break;
      bytes += call.bytes;
      size++;
    }
    sent = gathered.slice(0, size);
    gathered = gathered.slice(size);
    const batch = packBatch(
      sent.map((call) => call.appends),
      bytes,
    );
    worker.postMessage(batch, [batch.data.buffer as ArrayBuffer]);
  }

  return {
    append(appends) {
      if (failed !== undefined) return Promise.reject(failed);
      let records = 0;
      for (const append of appends) records += append.records.length;
      return new Promise((resolve, reject) => {
        gathered.push({ appends, records, bytes: rowsBytes(appends), resolve, reject });
        if (scheduled || sent.length > 0) return;
        scheduled = true;
        setImmediate(send);
      });
    },

    async close() {
      const idle = new Promise<void>((resolve) => {
        closing = resolve;
      });
      if (!scheduled) send();
      await Promise.race([idle, ended]);
      worker.postMessage({ close: true });
      await ended;
    },
  };
}

function settle(calls: readonly Call[], answer: BatchAnswer): void {
  const refused = new Map(answer.refusals.map((refusal) => [refusal.call, refusal]));
  let at = 0;
  calls.forEach((call, index) => {
    const first = at;
    at += call.appends.length;
    const refusal = refused.get(index);
    if (refusal !== undefined) {
      const { stream, expected, actual } = refusal;
      call.reject(new WrongRevision(stream, revision(expected), revision(actual)));
      return;
    }
    call.resolve(
      call.appends.map((_, i) => ({
        position: position(answer.position[first + i] ?? 0),
        revision: revision(answer.revision[first + i] ?? 0),
        repeated: answer.repeated[first + i] ?? false,
      })),
    );
  });
}

const unavailable = (file: string, why: string, cause?: unknown): CatalogError =>
  new CatalogError("unavailable", `log "${file}" could not be written: ${why}`, {
    hint: "Nothing of the write was kept; try it again when the cause is mended",
    cause,
  });
