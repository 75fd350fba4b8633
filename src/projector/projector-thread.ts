/**
 * The projector's thread: opens its own log reader and views, and runs until it is told to stop.
 * projector-client.ts is its other end. An uncaught error ends the thread; the client starts another.
 */
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { assert, CatalogError, type ErrorCode } from "../core/errors.ts";
import type { ChangeLog } from "../log/change-log.ts";
import type { ParkingRecord } from "../log/parking-codec.ts";
import { decodeRecord } from "../log/record-codec.ts";
import { type ParkingNotes, readParking } from "./parking.ts";
import { type Projector, type ProjectorProgress, startProjector } from "./projector.ts";
import type { Unrestored } from "./restore.ts";
import type { View } from "./sink.ts";

export interface ThreadData {
  /** Address of the module that opens the stores (ThreadStores); src/stores.ts when absent. */
  readonly module: string | undefined;
  /** What its functions are called with. */
  readonly config: unknown;
}

/** What that module exports. */
export interface ThreadStores<Config = unknown> {
  openViews(
    config: Config,
    options: {
      /** Called for a view that was made of something else, and is empty now. */
      readonly onEmptied: (view: string, why: string) => void;
    },
  ): Promise<readonly View[]>;
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
  /** The log has what was to be noted, or why it does not. */
  | { readonly kind: "noted"; readonly id: number; readonly error?: string | undefined };

export type FromThread =
  /** After every batch, and once as soon as everything is open. */
  | { readonly kind: "progress"; readonly progress: ProjectorProgress }
  /** A view was made of something else; before the first progress. */
  | { readonly kind: "emptied"; readonly view: string; readonly why: string }
  /** A restore came to its end. */
  | { readonly kind: "restored"; readonly id: number; readonly unrestored: readonly Unrestored[] }
  | {
      readonly kind: "not restored";
      readonly id: number;
      readonly message: string;
      readonly code?: ErrorCode | undefined;
      readonly hint?: string | undefined;
    }
  /** Something is to be noted in the log, which the other end writes to. */
  | {
      readonly kind: "note";
      readonly id: number;
      readonly view: string;
      readonly record: ParkingRecord;
    }
  /** The stores could not be opened; the thread ends. */
  | {
      readonly kind: "failed";
      readonly code: ErrorCode;
      readonly message: string;
      readonly hint: string | undefined;
    };

/** A tenth of the others' share of a core that all of them want: less, and a busy machine starves it. */
const NICENESS = 10;

const port = parentPort;
assert(port !== null, "this file is a thread's own");
const tell = (message: FromThread): void => port.postMessage(message);

giveWay();
try {
  await open(workerData as ThreadData);
} catch (error) {
  tell(failure(error));
  // Nothing that was opened before the failure may keep the thread alive.
  process.exit();
}

async function open({ module, config }: ThreadData): Promise<void> {
  const stores: ThreadStores = await import(
    module ?? new URL("../stores.ts", import.meta.url).href
  );
  const views = await stores.openViews(config, {
    onEmptied: (view, why) => tell({ kind: "emptied", view, why }),
  });
  const log = await stores.openLogReader(config);
  const notes = createNotes(log);
  // Before the projector starts: it may have something to note at once.
  port?.on("message", (message: ToThread) => {
    if (typeof message === "object" && message.kind === "noted") notes.noted(message);
  });
  const projector = await startProjector({
    log,
    views,
    decode: decodeRecord,
    notes,
    onProgress: (progress) => tell({ kind: "progress", progress }),
  });
  tell({ kind: "progress", progress: projector.progress() });
  // What opening left behind, as in the main thread (cli/serve.ts).
  void globalThis.gc?.({ type: "major", flavor: "last-resort", execution: "async" });
  port?.on("message", (message: ToThread) => {
    if (message === "poke") projector.poke();
    else if (message === "stop") void close(projector, views, log);
    else if (message.kind === "restore") {
      void answer(message.id, projector.restore(message.urns, message.view));
    } else if (message.kind === "drop") {
      void answer(message.id, projector.drop(message.urn, message.view, message.actor));
    }
  });
}

async function answer(id: number, restoring: Promise<readonly Unrestored[]>): Promise<void> {
  try {
    tell({ kind: "restored", id, unrestored: await restoring });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const told = error instanceof CatalogError ? { code: error.code, hint: error.hint } : {};
    tell({ kind: "not restored", id, message, ...told });
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

async function close(projector: Projector, views: readonly View[], log: ChangeLog): Promise<void> {
  await projector.stop();
  for (const { sink } of views) await sink.close();
  await log.close();
  port?.close();
}

/** Where cores are scarce, answering comes before following. Only Linux tells a thread its number. */
function giveWay(): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    setPriority(thread, NICENESS);
  } catch {
    // It follows all the same, at the others' priority.
  }
}

function failure(error: unknown): FromThread {
  if (error instanceof CatalogError) {
    const { code, message, hint } = error;
    return { kind: "failed", code, message, hint };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { kind: "failed", code: "internal", message, hint: undefined };
}
