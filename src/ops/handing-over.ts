/**
 * Handing work over: what has to be done by the process that feeds a view is asked for in the log,
 * which all nodes read. One that feeds the view takes it and says how it goes; who asked follows that.
 *
 *   asked → taken        by a node that feeds the view; one alone, by the stream's revision      claim
 *   taken → running      again and again, while it goes on                                       serve
 *   taken → taken        by another node, when the first has said nothing for RETAKEN_MS         claim
 *   taken → done, failed it came to its end                                                      serve
 *   any   → cancelled    whoever asked has given up                                              ask
 *
 * Work may so be done twice, and must come to the same when it is.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError, saidBy } from "../core/errors.ts";
import { type Revision, revision } from "../core/position.ts";
import { HANDED, handedStream } from "../core/stream.ts";
import { errorOf, type ToldError, toldError } from "../core/told-error.ts";
import { type ChangeLog, WrongRevision } from "../log/change-log.ts";
import { decodeHanded, encodeHanded, type HandedRecord } from "../log/handed-codec.ts";

export interface Handed {
  readonly kind: "restore" | "drop" | "rebuild";
  readonly view: string;
  readonly urns?: readonly string[] | undefined;
  readonly actor?: string | undefined;
}

/** Does the work; what it resolves with is JSON. */
export type HandedWork = (
  handed: Handed,
  run: { readonly signal: AbortSignal; report(progress: unknown): void },
) => Promise<unknown>;

export interface HandingOver {
  /**
   * Resolves with what the work came to. Rejects `unavailable` when nobody feeds the view, or who did
   * it says no more; with the work's own error; with the signal's reason.
   */
  ask(
    handed: Handed,
    options?: { readonly signal?: AbortSignal; readonly onProgress?: (progress: unknown) => void },
  ): Promise<unknown>;
  close(): Promise<void>;
}

export interface HandingParts {
  readonly log: Pick<ChangeLog, "append" | "readStream">;
  readonly node: string;
  /** Whether this process is one that does the work for a view now. */
  readonly feeds: (view: string) => boolean;
  readonly work: HandedWork;
  /** Calls back when the log may have grown. */
  readonly onGrown: (look: () => void) => void;
  readonly onAppended: (
    position: Awaited<ReturnType<ChangeLog["append"]>>[number]["position"],
  ) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly logger: {
    info(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  readonly times?: Partial<typeof TIMES> | undefined;
}

const TIMES = {
  /** Until somebody has taken it: another projector takes a view over within some seconds. */
  takenMsMax: 20_000,
  /** Until whoever has taken it says something; a node that dies is replaced in that time. */
  silentMsMax: 60_000,
  retakenMs: 10_000,
  heartbeatMs: 2_000,
  lookMs: 500,
  askMs: { first: 20, max: 250 },
};
/** What was asked longer ago than this nobody waits for any more. */
const ASKED_MS_MAX = 120_000;
const PAGE_MAX = 200;

interface Pending {
  readonly handed: Handed;
  readonly askedAt: number;
  /** Records of its stream that were read. */
  read: number;
  heardAt: number;
  taken: boolean;
}

export async function openHandingOver(parts: HandingParts): Promise<HandingOver> {
  const { log, node, feeds, work, now, logger } = parts;
  const times = { ...TIMES, ...parts.times };
  const pending = new Map<string, Pending>();
  const serving = new Set<Promise<void>>();
  const closing = new AbortController();
  let from = await lastAsked();

  async function lastAsked(): Promise<number> {
    const [newest] = await log.readStream(HANDED, "end", { limit: 1, backward: true });
    return newest === undefined ? 0 : Math.max(0, newest.revision + 1 - PAGE_MAX);
  }

  async function write(
    stream: string,
    record: Omit<HandedRecord, "node" | "time">,
    expected: Revision | "any" = "any",
  ): Promise<void> {
    const records = [encodeHanded({ ...record, node, time: now() })];
    const [appended] = await log.append([{ stream, expected, records }]);
    if (appended !== undefined) parts.onAppended(appended.position);
  }

  const tell = (id: string, step: HandedRecord["step"], body: unknown = null) =>
    write(handedStream(id), { id, step, body: body === null ? null : JSON.stringify(body) });

  /** Asks what is new, and takes what is for this node. */
  async function look(): Promise<void> {
    for (;;) {
      const page = await log.readStream(HANDED, revision(from), { limit: PAGE_MAX });
      for (const { id, time, body } of page.map(decodeHanded)) {
        if (now() - time > ASKED_MS_MAX || body === null) continue;
        const heardAt = performance.now();
        const handed = JSON.parse(body) as Handed;
        pending.set(id, { handed, askedAt: heardAt, read: 0, heardAt, taken: false });
      }
      from += page.length;
      if (page.length < PAGE_MAX) break;
    }
    for (const [id, one] of pending) await consider(id, one);
  }

  async function consider(id: string, one: Pending): Promise<void> {
    if (!feeds(one.handed.view)) {
      if (performance.now() - one.askedAt > ASKED_MS_MAX) pending.delete(id);
      return;
    }
    const page = await log.readStream(handedStream(id), revision(one.read), { limit: PAGE_MAX });
    for (const { step } of page.map(decodeHanded)) {
      one.read++;
      one.heardAt = performance.now();
      one.taken = true;
      if (step === "done" || step === "failed" || step === "cancelled") pending.delete(id);
    }
    if (!pending.has(id)) return;
    if (one.taken && performance.now() - one.heardAt < times.retakenMs) return;
    try {
      const taking = { id, step: "taken", body: null } as const;
      await write(handedStream(id), taking, revision(one.read - 1));
    } catch (error) {
      // Somebody else was faster.
      if (error instanceof WrongRevision) return;
      throw error;
    }
    pending.delete(id);
    logger.info({ ...one.handed, urns: one.handed.urns?.length, work: id }, "work was handed over");
    const served = serve(id, one.handed).finally(() => serving.delete(served));
    serving.add(served);
  }

  async function serve(id: string, handed: Handed): Promise<void> {
    const stopping = new AbortController();
    const signal = AbortSignal.any([stopping.signal, closing.signal]);
    let progress: unknown = null;
    let told = Promise.resolve();
    const heartbeat = setInterval(() => {
      told = told.then(async () => {
        const [last] = await log.readStream(handedStream(id), "end", { limit: 1, backward: true });
        if (last !== undefined && decodeHanded(last).step === "cancelled") {
          stopping.abort(new CatalogError("conflict", "the work was given up"));
        } else await tell(id, "running", progress);
      });
      told = told.catch(() => {});
    }, times.heartbeatMs);
    try {
      const report = (now: unknown) => {
        progress = now;
      };
      const result = await work(handed, { signal, report });
      clearInterval(heartbeat);
      await told;
      await tell(id, "done", result);
    } catch (error) {
      clearInterval(heartbeat);
      await told;
      // Another node takes up what the end of this one cuts off.
      if (closing.signal.aborted) return;
      await tell(id, "failed", failureOf(error)).catch((err) => {
        logger.error({ err, work: id }, "the end of work could not be told");
      });
    }
  }

  let looking: Promise<void> | undefined;
  function lookSoon(): void {
    if (closing.signal.aborted) return;
    looking ??= look()
      .catch((err) => logger.error({ err }, "what other nodes ask for cannot be read"))
      .then(() => delay(times.lookMs / 10))
      .finally(() => {
        looking = undefined;
      });
  }
  const timer = setInterval(lookSoon, times.lookMs).unref();
  parts.onGrown(lookSoon);

  return {
    async ask(handed, { signal, onProgress } = {}) {
      const id = randomUUID();
      await write(HANDED, { id, step: "asked", body: JSON.stringify(handed) });
      let read = 0;
      let heardAt = performance.now();
      for (let pauseMs = times.askMs.first; ; pauseMs = Math.min(pauseMs * 2, times.askMs.max)) {
        const page = await log.readStream(handedStream(id), revision(read), { limit: PAGE_MAX });
        for (const { step, body } of page.map(decodeHanded)) {
          read++;
          heardAt = performance.now();
          const told: unknown = body === null ? null : JSON.parse(body);
          if (step === "running" && told !== null) onProgress?.(told);
          if (step === "done") return told;
          if (step === "failed") throw errorOf(told as ToldError);
        }
        const giveUp = signal?.aborted || closing.signal.aborted;
        const silent = performance.now() - heardAt;
        if (giveUp || silent > (read > 0 ? times.silentMsMax : times.takenMsMax)) {
          await tell(id, "cancelled").catch(() => {});
          signal?.throwIfAborted();
          throw read > 0 ? fellSilent(handed.view) : notFed(handed.view);
        }
        await delay(pauseMs);
      }
    },
    async close() {
      clearInterval(timer);
      closing.abort(new CatalogError("unavailable", "the service is stopping"));
      await looking;
      await Promise.all(serving);
    },
  };
}

const notFed = (view: string): CatalogError =>
  new CatalogError("unavailable", `no node feeds the view "${view}" that could do it`, {
    hint: "Start one that has the role projector, or wait until it has taken the view over",
  });

const fellSilent = (view: string): CatalogError =>
  new CatalogError("unavailable", `the node that feeds the view "${view}" has ended meanwhile`, {
    hint: "What it had done stays; ask again when another has taken the view over",
  });

/** Of a fault of ours the log keeps no stack. */
const failureOf = (error: unknown): ToldError =>
  error instanceof CatalogError ? toldError(error) : { code: "internal", message: saidBy(error) };
