/**
 * The thread that builds staging generations (staging.ts). It opens its own log reader and views, and
 * ends with its work. staging-worker.ts is its client.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { type SerializedError, serializeError } from "../../core/serialized-error.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { type Parked, readParking } from "../parking/parking.ts";
import type { Staged, View } from "../sink.ts";
import { lowerPriority } from "../thread/lower-priority.ts";
import { pausePerWorkedMs } from "../thread/watch-busy.ts";
import { type BuildProgress, buildStaging } from "./staging.ts";

export interface StagingThreadData {
  /** Address of the module that opens the stores; src/app/stores.ts when absent. */
  readonly module: string | undefined;
  readonly config: unknown;
  readonly views: readonly string[];
  /** Number of threads that yield to the service during the build, including this one. */
  readonly threads: number;
}

/** Exports of that module. */
interface StagingStores {
  openViews(
    config: unknown,
    options: {
      readonly names: readonly string[];
      readonly next: true;
      readonly bulk?: true;
      readonly stagedSources?: readonly string[];
    },
  ): Promise<readonly View[]>;
  openLogReader(config: unknown): Promise<ChangeLog>;
  /** Views that are built from other views. */
  readonly foldedViews: ReadonlySet<string>;
}

export type ToStagingThread =
  /** The views of "staged" agree with the log. */
  | { readonly kind: "compared" }
  | { readonly kind: "finish"; readonly upTo: Position }
  | { readonly kind: "discard" }
  /** The load of the service changed. */
  | { readonly kind: "busy"; readonly busy: boolean };

export type FromStagingThread =
  | { readonly kind: "progress"; readonly progress: BuildProgress }
  /** Views in servers are paused, to be compared with the log. */
  | {
      readonly kind: "staged";
      readonly staged: Readonly<Record<string, Staged>>;
      readonly parked: readonly Parked[];
    }
  /** The views are near the head of the log. */
  | { readonly kind: "near" }
  /** The views are closed and ready for the swap, or live. */
  | { readonly kind: "finished"; readonly parked: readonly Parked[] }
  | ({ readonly kind: "failed" } & SerializedError);

/** At a lower priority, the thread would not reach a moving head on a busy machine. */
const NICENESS = 5;
/** Minimum milliseconds between two progress messages. */
const PROGRESS_MS_MIN = 100;

const port = parentPort;
assert(port !== null, "staging-thread.ts runs in a thread of its own");
const send = (message: FromStagingThread) => port.postMessage(message);
const stopping = new AbortController();
let busy = false;
let finishing = false;

lowerPriority(NICENESS);
try {
  await work(workerData as StagingThreadData);
} catch (error) {
  send({ kind: "failed", ...serializeError(error) });
} finally {
  port.close();
}

async function work({ module, config, views, threads }: StagingThreadData): Promise<void> {
  const finishAt = Promise.withResolvers<Position>();
  const compared = Promise.withResolvers<void>();
  // The build may fail before these are awaited.
  for (const { promise } of [finishAt, compared]) promise.catch(() => {});
  parentPort?.on("message", (message: ToStagingThread) => {
    if (message.kind === "finish") {
      // Views may be paused until the build is finished.
      finishing = true;
      return finishAt.resolve(message.upTo);
    }
    if (message.kind === "compared") return compared.resolve();
    if (message.kind === "busy") {
      busy = message.busy;
      return;
    }
    const reason = new CatalogError("unavailable", "the rebuild was canceled");
    for (const one of [finishAt, compared]) one.reject(reason);
    stopping.abort(reason);
  });
  const stores: StagingStores = await import(
    module ?? new URL("../../app/stores.ts", import.meta.url).href
  );
  const log = await stores.openLogReader(config);
  let sentAt = 0;
  let finished = false;
  function finish(parked: readonly Parked[]): void {
    if (!finished) send({ kind: "finished", parked });
    finished = true;
  }
  const folded = views.filter((view) => stores.foldedViews.has(view));
  const first = views.filter((view) => !stores.foldedViews.has(view));
  const onePass = folded.length === 0 || first.length === 0;
  try {
    const parked = await buildStaging({
      ...{ log, decode: decodeRecord, signal: stopping.signal },
      notes: { load: (view) => readParking(log, view) },
      views: await stores.openViews(config, {
        ...{ names: onePass ? views : first, next: true, bulk: true },
      }),
      openFolded: onePass ? undefined : () => openFolded(stores, config, { first, folded }),
      onProgress(progress) {
        // The last message has the final counts.
        const isLast = progress.position >= progress.head;
        if (!isLast && performance.now() - sentAt < PROGRESS_MS_MIN) return;
        sentAt = performance.now();
        send({ kind: "progress", progress });
      },
      // A low priority does not limit the use of memory and disk.
      async pause(workedMs, speedup) {
        if (!busy || finishing) return;
        const ms = (workedMs * pausePerWorkedMs(threads)) / speedup;
        await delay(ms, undefined, { signal: stopping.signal });
      },
      onStaged(staged, parked) {
        send({ kind: "staged", staged, parked });
        return compared.promise;
      },
      onNear() {
        send({ kind: "near" });
        return finishAt.promise;
      },
      onLive: finish,
    });
    finish(parked);
  } finally {
    await log.close();
  }
}

/** Opens views that are built from the staging generations of others. */
async function openFolded(
  { openViews }: StagingStores,
  config: unknown,
  { first, folded }: { readonly first: readonly string[]; readonly folded: readonly string[] },
) {
  const reopened = await openViews(config, { names: first, next: true });
  try {
    const names = { names: folded, stagedSources: first };
    return { reopened, folded: await openViews(config, { ...names, next: true, bulk: true }) };
  } catch (error) {
    for (const { sink } of reopened) await sink.close("discard");
    throw error;
  }
}
