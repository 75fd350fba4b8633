/**
 * Groups appends for the writer thread: while it writes one batch, further calls are queued for the
 * next batch, in order. Steps of scavenging run between batches (scavenging.ts).
 *
 * When the thread ends by itself (writer-client.ts starts another), the result of the batch in flight
 * is unknown, and its calls are rejected with a hint that says so. Queued calls are rejected as not
 * written, because the appends that they build on may be lost.
 */
import { CatalogError } from "../../../core/errors.ts";
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
  /** The failure of the last batch. */
  let logged: string | undefined;
  const scavenging = createScavenging(() => {
    if (!scheduled) send();
  });

  const writer = startWriter({
    file,
    indexState,
    logger: options.logger,
    restart: options.restart,
    onRunning: () => {
      if (!scheduled) send();
    },
    onReply(reply) {
      if ("scavenged" in reply || scavenging.underWay()) {
        if ("scavenged" in reply) scavenging.done(reply.scavenged);
        else scavenging.fail(unscavenged(file, "failure" in reply ? reply.failure : ""), false);
        send();
        return;
      }
      const calls = sent;
      sent = [];
      // The writer thread continues while this thread resolves the calls.
      send();
      logFailure("failure" in reply ? reply.failure : undefined);
      if ("failure" in reply) {
        const { failure, mayBeKept, hint = mayBeKept ? UNKNOWN : NOTHING_KEPT } = reply;
        const error = unavailable(file, failure, hint);
        for (const call of calls) call.reject(error);
      } else settle(calls, reply);
    },
    onEnd() {
      const [unknown, unsent] = [sent, gathered];
      sent = [];
      gathered = [];
      for (const call of unknown) call.reject(unavailable(file, why(), UNKNOWN));
      for (const call of unsent) call.reject(unavailable(file, why(), NOTHING_KEPT));
      scavenging.fail(unscavenged(file, why()), true);
      closing?.();
    },
  });

  const why = (): string => {
    const then = writer.state() === "given up" ? " and is not restarted" : "";
    return `its writer ended (${writer.ended()})${then}`;
  };

  /** Logs a failure once, and once more when it ends: a full disk fails every batch. */
  function logFailure(failure: string | undefined): void {
    if (failure === logged) return;
    if (failure === undefined) options.logger?.info({ file }, "the log is written again");
    else options.logger?.error({ file, error: failure }, "the log cannot be written");
    logged = failure;
  }

  function send(): void {
    scheduled = false;
    if (sent.length > 0 || scavenging.underWay()) return;
    if (closing !== undefined) scavenging.fail(unscavenged(file, "it is closed"), true);
    const step = writer.state() === "running" ? scavenging.take() : undefined;
    if (step !== undefined) {
      writer.send(step);
      return;
    }
    if (gathered.length === 0) {
      closing?.();
      return;
    }
    if (writer.state() !== "running") return;
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
    writer.send(
      packBatch(
        sent.map((call) => call.appends),
        bytes,
      ),
    );
  }

  return {
    append(appends) {
      const state = writer.state();
      if (state === "pausing" || state === "given up") {
        return Promise.reject(unavailable(file, why(), NOTHING_KEPT));
      }
      let records = 0;
      for (const append of appends) records += append.records.length;
      return new Promise((resolve, reject) => {
        gathered.push({ appends, records, bytes: rowsBytes(appends), resolve, reject });
        scavenging.appending();
        if (scheduled || sent.length > 0 || scavenging.underWay()) return;
        scheduled = true;
        setImmediate(send);
      });
    },

    scavenge(records) {
      const state = writer.state();
      if (state === "pausing" || state === "given up" || closing !== undefined) {
        return Promise.reject(unscavenged(file, why()));
      }
      return scavenging.add(records);
    },

    trouble: () =>
      writer.ended() === undefined ? undefined : `log "${file}" cannot be written: ${why()}`,

    async close() {
      const idle = new Promise<void>((resolve) => {
        closing = resolve;
      });
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

const NOTHING_KEPT = "Nothing was written; try again when the cause is fixed";
const UNKNOWN =
  "The write may be in the log or not: read it back, or send it again; with the same Idempotency-Key it is written once";

const unavailable = (file: string, why: string, hint: string): CatalogError =>
  new CatalogError("unavailable", `log "${file}" could not be written: ${why}`, { hint });

const unscavenged = (file: string, why: string): CatalogError =>
  new CatalogError("unavailable", `log "${file}" could not be scavenged: ${why}`, {
    hint: "Finished steps stay; start it again when the cause is fixed",
  });
