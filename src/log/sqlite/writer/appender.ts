/**
 * Groups appends for the writer thread: while it writes one batch, further calls are queued for the
 * next batch, in order.
 *
 * When the thread ends by itself (writer-client.ts starts another), the result of the batch in flight
 * is unknown, and its calls are rejected with a hint that says so. Queued calls are rejected as not
 * written, because the appends that they build on may be lost.
 */
import { messageOf } from "../../../core/errors.ts";
import { position, revision } from "../../../core/position.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import {
  type Append,
  type Appended,
  type LogRecord,
  type Scavenged,
  WrongRevision,
} from "../../change-log.ts";
import { type BatchReply, packBatch, rowsBytes } from "./batch.ts";
import { createScavenging } from "./scavenging.ts";
import { type Restart, startWriter } from "./writer-client.ts";
import { NOT_WRITTEN, unwritten } from "./writer-errors.ts";

/** Limits a commit to tens of milliseconds; a single larger call is a batch of its own. */
const BATCH_RECORDS_MAX = 4_000;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;

interface Appender {
  append(appends: readonly Append[]): Promise<readonly Appended[]>;
  scavenge(records: readonly LogRecord[]): Promise<Scavenged>;
  /** Why appends currently fail; undefined while the thread runs. */
  trouble(): string | undefined;
  /** Writes pending appends, closes the file and ends the thread. */
  close(): Promise<void>;
}

export interface AppenderOptions {
  /** Logs when the thread ends by itself, and when another one runs. */
  readonly logger?: Pick<Logger, "info" | "warn" | "error"> | undefined;
  readonly restart?: Restart | undefined;
}

interface Call {
  readonly appends: readonly Append[];
  readonly records: number;
  readonly bytes: number;
  readonly resolve: (appended: readonly Appended[]) => void;
  readonly reject: (error: unknown) => void;
}

/** `indexState`: state of the log's indexes, shared with the writer thread (index-state.ts). */
export function startAppender(
  file: string,
  indexState: SharedArrayBuffer,
  options: AppenderOptions = {},
): Appender {
  let gathered: Call[] = [];
  let sent: readonly Call[] = [];
  /** A batch is sent in the next iteration of the event loop, so that calls of this iteration join it. */
  let scheduled = false;
  let closing: (() => void) | undefined;
  /** The error of the last batch. */
  let logged: string | undefined;

  const writer = startWriter({
    file,
    indexState,
    logger: options.logger,
    restart: options.restart,
    onEnd() {
      const unsent = gathered;
      gathered = [];
      const error = unwritten(file, writer.down() ?? "", NOT_WRITTEN);
      for (const call of unsent) call.reject(error);
    },
  });
  const scavenging = createScavenging(file, writer.scavenge);

  /** Logs an error once, and once more when it ends: a full disk fails every batch. */
  function logError(error: string | undefined): void {
    if (error === logged) return;
    if (error === undefined) options.logger?.info({ file }, "the log is written again");
    else options.logger?.error({ file, error }, "the log cannot be written");
    logged = error;
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
    void write(sent, bytes);
  }

  async function write(calls: readonly Call[], bytes: number): Promise<void> {
    const batch = packBatch(
      calls.map((call) => call.appends),
      bytes,
    );
    const outcome = await writer.append(batch).then(
      (reply) => ({ reply }),
      (error: unknown) => ({ error }),
    );
    sent = [];
    // The writer thread continues while this thread resolves the calls.
    send();
    if ("reply" in outcome) {
      logError(undefined);
      settle(calls, outcome.reply);
      return;
    }
    const { error } = outcome;
    if (writer.down() === undefined) logError(messageOf(error));
    for (const call of calls) call.reject(error);
  }

  return {
    append(appends) {
      const down = writer.down();
      if (down !== undefined) return Promise.reject(unwritten(file, down, NOT_WRITTEN));
      let records = 0;
      for (const append of appends) records += append.records.length;
      return new Promise((resolve, reject) => {
        gathered.push({ appends, records, bytes: rowsBytes(appends), resolve, reject });
        scavenging.appending();
        if (scheduled || sent.length > 0) return;
        scheduled = true;
        setImmediate(send);
      });
    },

    scavenge: scavenging.scavenge,

    trouble() {
      const ended = writer.ended();
      return ended && `log "${file}" cannot be written: ${ended}`;
    },

    async close() {
      const idle = new Promise<void>((resolve) => {
        closing = resolve;
      });
      scavenging.close();
      if (!scheduled) send();
      await idle;
      await writer.close();
    },
  };
}

function settle(calls: readonly Call[], reply: BatchReply): void {
  const rejections = new Map(reply.rejected.map((one) => [one.call, one]));
  let at = 0;
  calls.forEach((call, index) => {
    const first = at;
    at += call.appends.length;
    const rejection = rejections.get(index);
    if (rejection !== undefined) {
      const { stream, expected, actual } = rejection;
      call.reject(new WrongRevision(stream, revision(expected), revision(actual)));
      return;
    }
    call.resolve(
      call.appends.map((_, i) => ({
        position: position(reply.position[first + i] ?? 0),
        revision: revision(reply.revision[first + i] ?? 0),
        repeated: reply.repeated[first + i] ?? false,
      })),
    );
  });
}
