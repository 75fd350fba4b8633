/**
 * The cluster job queue, in the log that all nodes read. A node requests work that the projector of
 * a view must do; a node that applies the view claims it, executes it and records its progress.
 *
 *   asked → taken        a node that applies the view claims it by the stream's revision   consider
 *   taken → running      heartbeats with the progress                                      serve
 *   taken → taken        another node, after `retakenMs` without a heartbeat               consider
 *   taken → done, failed the work ended                                                    serve
 *   any   → cancelled    the requesting node gave up                                       ask
 *
 * Work may run twice, so it is idempotent.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { CatalogError, messageOf } from "../../core/errors.ts";
import { type Revision, revision } from "../../core/position.ts";
import {
  deserializeError,
  type SerializedError,
  serializeError,
} from "../../core/serialized-error.ts";
import { DISPATCHED, dispatchedStream } from "../../core/stream.ts";
import { type ChangeLog, WrongRevision } from "../../log/change-log.ts";
import {
  type DispatchedRecord,
  decodeDispatched,
  encodeDispatched,
} from "../../log/codecs/dispatched-codec.ts";

interface Dispatched {
  readonly kind: "restore" | "drop" | "rebuild";
  readonly view: string;
  readonly urns?: readonly string[] | undefined;
  readonly actor?: string | undefined;
}

/** Executes the work and resolves with its result, a JSON value. */
export type DispatchedWork = (
  handed: Dispatched,
  run: { readonly signal: AbortSignal; report(progress: unknown): void },
) => Promise<unknown>;

export interface JobQueue {
  /**
   * Resolves with the result of the work. Rejects with the work's error, with the signal's reason,
   * and with `unavailable` when no node applies the view or the heartbeats stop.
   */
  ask(
    handed: Dispatched,
    options?: { readonly signal?: AbortSignal; readonly onProgress?: (progress: unknown) => void },
  ): Promise<unknown>;
  close(): Promise<void>;
}

interface JobQueueParts {
  readonly log: Pick<ChangeLog, "append" | "readStream">;
  readonly node: string;
  /** True when this process applies the view and can execute its work. */
  readonly projects: (view: string) => boolean;
  readonly work: DispatchedWork;
  /** Registers a listener for appends to the log. */
  readonly onAppend: (listener: () => void) => void;
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
  /** Wait for a claim: a standby projector becomes the leader of a view within some seconds. */
  takenMsMax: 20_000,
  /** Wait for a heartbeat: another node claims the work of a dead node within that time. */
  silentMsMax: 60_000,
  retakenMs: 10_000,
  heartbeatMs: 2_000,
  lookMs: 500,
  askMs: { first: 20, max: 250 },
};
/** Age after which a request is ignored, because no node waits for it. */
const ASKED_MS_MAX = 120_000;
const PAGE_MAX = 200;

interface Pending {
  readonly handed: Dispatched;
  readonly askedAt: number;
  /** Number of records read from its stream. */
  read: number;
  /** Time of the last heartbeat. */
  heartbeatAt: number;
  taken: boolean;
}

export async function openJobQueue(parts: JobQueueParts): Promise<JobQueue> {
  const { log, node, projects, work, now, logger } = parts;
  const times = { ...TIMES, ...parts.times };
  const pending = new Map<string, Pending>();
  const serving = new Set<Promise<void>>();
  const closing = new AbortController();
  let from = await lastAsked();

  async function lastAsked(): Promise<number> {
    const [newest] = await log.readStream(DISPATCHED, "end", { limit: 1, backward: true });
    return newest === undefined ? 0 : Math.max(0, newest.revision + 1 - PAGE_MAX);
  }

  async function write(
    stream: string,
    record: Omit<DispatchedRecord, "node" | "time">,
    expected: Revision | "any" = "any",
  ): Promise<void> {
    const records = [encodeDispatched({ ...record, node, time: now() })];
    const [appended] = await log.append([{ stream, expected, records }]);
    if (appended !== undefined) parts.onAppended(appended.position);
  }

  const record = (id: string, step: DispatchedRecord["step"], body: unknown = null) =>
    write(dispatchedStream(id), { id, step, body: body === null ? null : JSON.stringify(body) });

  /** Reads new requests and claims those that this node can execute. */
  async function readRequests(): Promise<void> {
    for (;;) {
      const page = await log.readStream(DISPATCHED, revision(from), { limit: PAGE_MAX });
      for (const { id, time, body } of page.map(decodeDispatched)) {
        if (now() - time > ASKED_MS_MAX || body === null) continue;
        const heardAt = performance.now();
        const handed = JSON.parse(body) as Dispatched;
        pending.set(id, { handed, askedAt: heardAt, read: 0, heartbeatAt: heardAt, taken: false });
      }
      from += page.length;
      if (page.length < PAGE_MAX) break;
    }
    for (const [id, one] of pending) await consider(id, one);
  }

  async function consider(id: string, one: Pending): Promise<void> {
    if (!projects(one.handed.view)) {
      if (performance.now() - one.askedAt > ASKED_MS_MAX) pending.delete(id);
      return;
    }
    const page = await log.readStream(dispatchedStream(id), revision(one.read), {
      limit: PAGE_MAX,
    });
    for (const { step } of page.map(decodeDispatched)) {
      one.read++;
      one.heartbeatAt = performance.now();
      one.taken = true;
      if (step === "done" || step === "failed" || step === "cancelled") pending.delete(id);
    }
    if (!pending.has(id)) return;
    if (one.taken && performance.now() - one.heartbeatAt < times.retakenMs) return;
    try {
      const taking = { id, step: "taken", body: null } as const;
      await write(dispatchedStream(id), taking, revision(one.read - 1));
    } catch (error) {
      // Another node claimed it first.
      if (error instanceof WrongRevision) return;
      throw error;
    }
    pending.delete(id);
    logger.info(
      { ...one.handed, urns: one.handed.urns?.length, work: id },
      "work of another node was claimed",
    );
    const served = serve(id, one.handed).finally(() => serving.delete(served));
    serving.add(served);
  }

  async function serve(id: string, handed: Dispatched): Promise<void> {
    const stopping = new AbortController();
    const signal = AbortSignal.any([stopping.signal, closing.signal]);
    let progress: unknown = null;
    let recorded = Promise.resolve();
    const heartbeat = setInterval(() => {
      recorded = recorded.then(async () => {
        const [last] = await log.readStream(dispatchedStream(id), "end", {
          limit: 1,
          backward: true,
        });
        if (last !== undefined && decodeDispatched(last).step === "cancelled") {
          stopping.abort(new CatalogError("conflict", "the work was given up"));
        } else await record(id, "running", progress);
      });
      recorded = recorded.catch(() => {});
    }, times.heartbeatMs);
    try {
      const report = (now: unknown) => {
        progress = now;
      };
      const result = await work(handed, { signal, report });
      clearInterval(heartbeat);
      await recorded;
      await record(id, "done", result);
    } catch (error) {
      clearInterval(heartbeat);
      await recorded;
      // This process ends: another node claims the work again.
      if (closing.signal.aborted) return;
      await record(id, "failed", failureOf(error)).catch((err) => {
        logger.error({ err, work: id }, "the end of work could not be recorded");
      });
    }
  }

  let reading: Promise<void> | undefined;
  function scheduleRead(): void {
    if (closing.signal.aborted) return;
    reading ??= readRequests()
      .catch((err) => logger.error({ err }, "the requests of other nodes cannot be read"))
      .then(() => delay(times.lookMs / 10))
      .finally(() => {
        reading = undefined;
      });
  }
  const timer = setInterval(scheduleRead, times.lookMs).unref();
  parts.onAppend(scheduleRead);

  return {
    async ask(handed, { signal, onProgress } = {}) {
      const id = randomUUID();
      await write(DISPATCHED, { id, step: "asked", body: JSON.stringify(handed) });
      let read = 0;
      let heardAt = performance.now();
      for (let pauseMs = times.askMs.first; ; pauseMs = Math.min(pauseMs * 2, times.askMs.max)) {
        const page = await log.readStream(dispatchedStream(id), revision(read), {
          limit: PAGE_MAX,
        });
        for (const { step, body } of page.map(decodeDispatched)) {
          read++;
          heardAt = performance.now();
          const value: unknown = body === null ? null : JSON.parse(body);
          if (step === "running" && value !== null) onProgress?.(value);
          if (step === "done") return value;
          if (step === "failed") throw deserializeError(value as SerializedError);
        }
        const giveUp = signal?.aborted || closing.signal.aborted;
        const silent = performance.now() - heardAt;
        if (giveUp || silent > (read > 0 ? times.silentMsMax : times.takenMsMax)) {
          await record(id, "cancelled").catch(() => {});
          signal?.throwIfAborted();
          throw read > 0 ? heartbeatsStopped(handed.view) : noProjectorOf(handed.view);
        }
        await delay(pauseMs);
      }
    },
    async close() {
      clearInterval(timer);
      closing.abort(new CatalogError("unavailable", "the service is stopping"));
      await reading;
      await Promise.all(serving);
    },
  };
}

const noProjectorOf = (view: string): CatalogError =>
  new CatalogError("unavailable", `no projector is running for view "${view}"`, {
    hint: "Start a node with the role projector, or wait until a standby takes over",
  });

const heartbeatsStopped = (view: string): CatalogError =>
  new CatalogError("unavailable", `the node that ran the projector of view "${view}" ended`, {
    hint: "Its completed work stays; repeat the request when another node has taken over",
  });

/** Internal errors are recorded without a stack. */
const failureOf = (error: unknown): SerializedError =>
  error instanceof CatalogError
    ? serializeError(error)
    : { code: "internal", message: messageOf(error) };
