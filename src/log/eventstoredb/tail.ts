/**
 * Follows the log: reads existing records in pages and new ones from a subscription. The subscription
 * starts before the last page is read, so no record is missed. Records at or before the reached
 * position are skipped, so none is returned twice.
 *
 * A subscription never starts at a position: the server skips the event there, and if that event was
 * truncated and its space reclaimed, it skips the next one. So the subscription's checkpoints are not
 * used: after a break, reading continues from the last record.
 */
import { type Position, position } from "../../core/position.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { LogRecord, ReadOptions } from "../change-log.ts";
import { type Connection, pause, type ReadCall } from "./connection.ts";
import { isTransient, translated } from "./errors.ts";
import { eventOf, type Filter, type RawEvent, subscribeRequest } from "./reads.ts";

interface TailOptions {
  readonly connection: Connection;
  readonly filter: Filter;
  readonly readAll: (after: Position, options: ReadOptions) => Promise<readonly LogRecord[]>;
  /** Returns undefined for an event that is not a record of the log. */
  readonly recordOf: (event: RawEvent) => LogRecord | undefined;
  readonly logger?: Logger | undefined;
}

const PAGE = 1_000;
/** With so many pending events, the subscription applies backpressure to the server. */
const WAITING_MAX = 2_000;
const FIRST_PAUSE_MS = 100;
const PAUSE_MS_MAX = 5_000;

export async function* followLog(
  options: TailOptions,
  after: Position,
  signal: AbortSignal,
): AsyncIterable<readonly LogRecord[]> {
  const { connection, readAll, logger } = options;
  let at: Position = after;
  let pauseMs = 0;
  const take = (page: readonly LogRecord[]): readonly LogRecord[] => {
    at = page.at(-1)?.position ?? at;
    return page;
  };
  while (!signal.aborted) {
    const live = listen(options);
    const stop = (): void => live.cancel();
    signal.addEventListener("abort", stop);
    try {
      await live.begun;
      for (;;) {
        const page = signal.aborted ? [] : await readAll(at, { limit: PAGE });
        if (page.length === 0 || signal.aborted) break;
        yield take(page);
      }
      if (pauseMs > 0) logger?.info("following eventstoredb again");
      pauseMs = 0;
      while (!signal.aborted) {
        const page = live.takeAfter(at, PAGE);
        if (page.length > 0) yield take(page);
        else await live.news();
      }
    } catch (error) {
      if (signal.aborted) return;
      const reason = translated(error, connection.address.hosts);
      if (!isTransient(error)) throw reason;
      if (pauseMs === 0) logger?.warn({ err: reason }, "following eventstoredb failed");
      pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), PAUSE_MS_MAX);
      await pause(pauseMs, signal);
    } finally {
      signal.removeEventListener("abort", stop);
      live.cancel();
    }
  }
}

interface Live {
  /** Resolves when the subscription delivers all later events. */
  readonly begun: Promise<void>;
  /** Resolves when there may be an event to take; rejects when the subscription breaks. */
  news(): Promise<void>;
  takeAfter(after: Position, limit: number): readonly LogRecord[];
  cancel(): void;
}

function listen({ connection, filter, recordOf }: TailOptions): Live {
  let waiting: LogRecord[] = [];
  let broken: unknown;
  let cancelled = false;
  let wake: (() => void) | undefined;
  let call: ReadCall | undefined;
  let paused = false;
  const begun = Promise.withResolvers<void>();

  function ends(error: unknown): void {
    if (cancelled) return;
    broken ??= error;
    begun.reject(error);
    wake?.();
  }

  async function begin(): Promise<void> {
    call = await connection.read(subscribeRequest(filter), { endless: true });
    if (cancelled) {
      call.cancel();
      return;
    }
    call.on("data", (response) => {
      if (response.hasConfirmation()) begun.resolve();
      const event = eventOf(response);
      const record = event && recordOf(event);
      if (record === undefined) return;
      waiting.push(record);
      if (waiting.length >= WAITING_MAX && !paused) {
        paused = true;
        call?.pause();
      }
      wake?.();
    });
    call.on("error", ends);
    call.on("end", () => ends(new Error("14 UNAVAILABLE: the channel ended")));
  }

  begin().catch(ends);
  // Prevents an unhandled rejection if no caller waits.
  begun.promise.catch(() => undefined);

  return {
    begun: begun.promise,

    async news() {
      if (broken !== undefined) throw broken;
      if (waiting.length > 0 || cancelled) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = undefined;
      if (broken !== undefined && waiting.length === 0) throw broken;
    },

    takeAfter(after, limit) {
      let last = after;
      const page: LogRecord[] = [];
      let taken = 0;
      for (const record of waiting) {
        if (page.length === limit) break;
        taken++;
        // Already read, or received twice.
        if (record.position <= last) continue;
        page.push(record);
        last = position(record.position);
      }
      waiting = waiting.slice(taken);
      if (paused && waiting.length < WAITING_MAX / 2) {
        paused = false;
        call?.resume();
      }
      return page;
    },

    cancel() {
      cancelled = true;
      begun.resolve();
      call?.cancel();
      wake?.();
    },
  };
}
