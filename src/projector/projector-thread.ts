/**
 * The projector's thread: opens its own log reader and views, and runs until it is told to stop.
 * projector-client.ts is its other end. An uncaught error ends the thread; the client starts another.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError, type ErrorCode, saidBy } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { type SerializedError, serializeError } from "../core/serialized-error.ts";
import type { ChangeLog } from "../log/change-log.ts";
import type { ParkingRecord } from "../log/parking-codec.ts";
import { decodeRecord } from "../log/record-codec.ts";
import { type Parked, type ParkingNotes, readParking } from "./parking.ts";
import { type Projector, type ProjectorProgress, startProjector } from "./projector.ts";
import type { Unrestored } from "./restore.ts";
import type { View } from "./sink.ts";

/** The first message: what the functions of the stores' module are called with. */
export interface ThreadData {
  readonly config: unknown;
}

/** What the module that opens the stores exports. */
export interface ThreadStores<Config = unknown> {
  openViews(
    config: Config,
    options: {
      /** Called for a view that was made of something else, and is empty now. */
      readonly onEmptied?: (view: string, why: string) => void;
      /** Called for a view that another model made, and that is kept until it is regrown; and after. */
      readonly onStale?: (view: string, stale: boolean) => void;
      /** These alone; of views in files the next editions, which are there. */
      readonly names?: readonly string[];
      readonly next?: true;
    },
  ): Promise<readonly View[]>;
  /** Editions.putInPlace */
  putInPlace?(config: Config, names: readonly string[]): Promise<() => Promise<void>>;
  openLogReader(config: Config): Promise<ChangeLog>;
}

export type ToThread =
  | "poke"
  | "stop"
  | {
      readonly kind: "restore";
      readonly id: number;
      readonly urns: readonly string[];
      readonly view?: string | undefined;
    }
  | {
      readonly kind: "drop";
      readonly id: number;
      readonly urn: string;
      readonly view: string;
      readonly actor?: string | undefined;
    }
  | ({ readonly kind: "replace"; readonly id: number } & ReplacementStep)
  /** The log has what was to be noted, or why it does not. */
  | { readonly kind: "noted"; readonly id: number; readonly error?: string | undefined };

/** What is asked of a Replacement (progress.ts). */
export type ReplacementStep =
  | { readonly step: "hold"; readonly views: readonly string[] }
  | {
      readonly step: "prepare";
      readonly views: readonly string[];
      readonly parked: readonly Parked[];
    }
  | { readonly step: "release"; readonly views: readonly string[]; readonly take: boolean };

export type FromThread =
  /** After every batch, and once as soon as everything is open. */
  | { readonly kind: "progress"; readonly progress: ProjectorProgress }
  /** A view was made of something else; before the first progress. */
  | { readonly kind: "emptied"; readonly view: string; readonly why: string }
  | { readonly kind: "stale"; readonly view: string; readonly stale: boolean }
  /** A restore came to its end. */
  | { readonly kind: "restored"; readonly id: number; readonly unrestored: readonly Unrestored[] }
  | {
      readonly kind: "not restored";
      readonly id: number;
      readonly message: string;
      readonly code?: ErrorCode | undefined;
      readonly hint?: string | undefined;
    }
  /** A step of a replacement is done; `position` where the step tells one. */
  | { readonly kind: "replaced"; readonly id: number; readonly position?: Position | undefined }
  | ({ readonly kind: "not replaced"; readonly id: number } & SerializedError)
  /** Something is to be noted in the log, which the other end writes to. */
  | {
      readonly kind: "note";
      readonly id: number;
      readonly view: string;
      readonly record: ParkingRecord;
    }
  /** The stores could not be opened; the thread ends. */
  | ({ readonly kind: "failed" } & SerializedError);

const port = parentPort;
assert(port !== null, "this file is a thread's own");
const tell = (message: FromThread): void => port.postMessage(message);
/** As in the main thread (cli/serve.ts): after the service has started. */
const GARBAGE_AFTER_MS = 1_000;

try {
  const configured = new Promise<ThreadData>((resolve) => port.once("message", resolve));
  const module: string = workerData ?? new URL("../stores.ts", import.meta.url).href;
  // Before the configuration arrives: the process loads its own modules meanwhile.
  const stores: ThreadStores = await import(module);
  await open(stores, await configured);
} catch (error) {
  tell(failure(error));
  // Nothing that was opened before the failure may keep the thread alive.
  process.exit();
}

async function open(stores: ThreadStores, { config }: ThreadData): Promise<void> {
  const onStale = (view: string, stale: boolean) => tell({ kind: "stale", view, stale });
  const views = await stores.openViews(config, {
    onEmptied: (view, why) => tell({ kind: "emptied", view, why }),
    onStale,
  });
  const log = await stores.openLogReader(config);
  const notes = createNotes(log);
  // Before the projector starts: it may have something to note at once.
  port?.on("message", (message: ToThread) => {
    if (typeof message === "object" && message.kind === "noted") notes.noted(message);
  });
  const projector = await startProjector({
    log,
    openLog: () => stores.openLogReader(config),
    views,
    decode: decodeRecord,
    notes,
    editions: stores.putInPlace && {
      open: (names) => stores.openViews(config, { names, next: true, onStale }),
      putInPlace: async (names) => (await stores.putInPlace?.(config, names)) ?? (async () => {}),
    },
    onProgress: (progress) => tell({ kind: "progress", progress }),
  });
  tell({ kind: "progress", progress: projector.progress() });
  setTimeout(collectStartGarbage, GARBAGE_AFTER_MS).unref();
  port?.on("message", (message: ToThread) => {
    if (message === "poke") projector.poke();
    else if (message === "stop") void close(projector, log);
    else if (message.kind === "restore") {
      void answer(message.id, projector.restore(message.urns, message.view));
    } else if (message.kind === "drop") {
      void answer(message.id, projector.drop(message.urn, message.view, message.actor));
    } else if (message.kind === "replace") void replace(projector, message);
  });
}

function collectStartGarbage(): void {
  void globalThis.gc?.({ type: "major", flavor: "last-resort", execution: "async" });
}

async function answer(id: number, restoring: Promise<readonly Unrestored[]>): Promise<void> {
  try {
    tell({ kind: "restored", id, unrestored: await restoring });
  } catch (error) {
    const message = saidBy(error);
    const told = error instanceof CatalogError ? { code: error.code, hint: error.hint } : {};
    tell({ kind: "not restored", id, message, ...told });
  }
}

async function replace(
  projector: Projector,
  message: Extract<ToThread, { kind: "replace" }>,
): Promise<void> {
  const { id, views } = message;
  try {
    let position: Position | undefined;
    if (message.step === "hold") position = await projector.hold(views);
    else if (message.step === "prepare") await projector.prepare(views, message.parked);
    else await projector.release(views, message.take);
    tell({ kind: "replaced", id, position });
  } catch (error) {
    tell({ kind: "not replaced", id, ...serializeError(error) });
  }
}

/** Notes are read here and written by the other end, which has the log's only writer. */
function createNotes(log: ChangeLog) {
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  let last = 0;
  const notes: ParkingNotes = {
    load: (view) => readParking(log, view),
    write(view, record) {
      const id = ++last;
      const wait = Promise.withResolvers<void>();
      waiting.set(id, wait);
      tell({ kind: "note", id, view, record });
      return wait.promise;
    },
  };
  return {
    ...notes,
    noted({ id, error }: { readonly id: number; readonly error?: string | undefined }): void {
      const wait = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) wait?.resolve();
      else wait?.reject(new CatalogError("unavailable", `it could not be noted: ${error}`));
    },
  };
}

async function close(projector: Projector, log: ChangeLog): Promise<void> {
  await projector.stop();
  // Views that are made of others read these: an open reader may keep a write-ahead log from being emptied.
  for (const { sink } of projector.views().toReversed()) await sink.close();
  await log.close();
  port?.close();
}

function failure(error: unknown): FromThread {
  return { kind: "failed", ...serializeError(error) };
}
