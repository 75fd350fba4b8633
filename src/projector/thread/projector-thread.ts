/**
 * The projector's thread: opens its own log reader and views, and runs until `stop`. It starts with the
 * import of the stores' module, before `open` is called: the process loads its own modules meanwhile.
 * projector-client.ts is its client. An uncaught error ends the thread; the client starts another.
 */
import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import { connect } from "../../core/thread-calls.ts";
import { collectGarbage } from "../../lib/collect-garbage.ts";
import type { ChangeLog } from "../../log/change-log.ts";
import type { ParkingRecord } from "../../log/codecs/parking-codec.ts";
import { decodeRecord } from "../../log/codecs/record-codec.ts";
import { lowerPriority, VIEW_NICENESS } from "../../storage/thread-priority.ts";
import { type Parked, readParking } from "../parking/parking.ts";
import type { Unrestored } from "../parking/restore.ts";
import { type ProjectorProgress, startProjector } from "../projector.ts";
import type { Projector } from "../projector-parts.ts";
import type { View } from "../sink.ts";

/** Exports of the module that opens the stores. */
interface ThreadStores<Config = unknown> {
  openViews(
    config: Config,
    options: {
      /** Called for a view that was emptied, with the reason. */
      readonly onEmptied?: (view: string, why: string) => void;
      /** Called with true for a view built with another model, and with false when it is rebuilt. */
      readonly onStale?: (view: string, stale: boolean) => void;
      /** Opens these views only; `next`: their staging generations, which must exist. */
      readonly names?: readonly string[];
      readonly next?: true;
    },
  ): Promise<readonly View[]>;
  /** GenerationStore.makeLive */
  makeLive?(config: Config, names: readonly string[]): Promise<() => Promise<void>>;
  openLogReader(config: Config): Promise<ChangeLog>;
}

/** The methods of the thread. `open` is called first; the thread ends when it rejects. */
export interface ProjectorThread {
  /** `config`: the argument of the functions of the stores' module. */
  readonly open: (config: unknown) => Promise<void>;
  readonly wake: () => void;
  /** Finishes the batch in flight and ends the thread. */
  readonly stop: () => void;
  readonly restore: (asked: {
    readonly urns: readonly string[];
    readonly view?: string | undefined;
  }) => Promise<readonly Unrestored[]>;
  readonly drop: (asked: {
    readonly urn: string;
    readonly view: string;
    readonly actor?: string | undefined;
  }) => Promise<readonly Unrestored[]>;
  /** Replacement (progress.ts) */
  readonly pause: (views: readonly string[]) => Promise<Position>;
  readonly prepare: (asked: {
    readonly views: readonly string[];
    readonly parked: readonly Parked[];
  }) => Promise<void>;
  readonly resume: (asked: {
    readonly views: readonly string[];
    readonly take: boolean;
  }) => Promise<void>;
}

/** The methods of the client that the thread calls. */
export interface ProjectorOwner {
  /** After every batch, and once as soon as everything is open. */
  readonly progress: (progress: ProjectorProgress) => void;
  /** A view was emptied, because it was built from another log or model; before the first progress. */
  readonly emptied: (found: { readonly view: string; readonly why: string }) => void;
  readonly stale: (found: { readonly view: string; readonly stale: boolean }) => void;
  /** Writes a record to the log, which this thread only reads. Resolves when it is durable. */
  readonly writeParking: (note: {
    readonly view: string;
    readonly record: ParkingRecord;
  }) => Promise<void>;
}

/** As in the main thread (cli/commands/serve.ts): after the service has started. */
const GARBAGE_AFTER_MS = 1_000;

assert(parentPort !== null, "this module runs in a thread of its own");
const port = parentPort;
const module: string = workerData ?? new URL("../../app/stores.ts", import.meta.url).href;
const importing: Promise<ThreadStores> = import(module);
// `open` reports the failure of the import.
importing.catch(() => {});
let running: { readonly projector: Projector; readonly log: ChangeLog } | undefined;

const owner = connect<ProjectorOwner>(port, {
  async open(config) {
    try {
      await open(await importing, config);
    } catch (error) {
      // Stores that are open keep the thread alive. The error is sent before.
      setImmediate(() => process.exit());
      throw error;
    }
  },
  wake: () => projector().wake(),
  stop: () => void stop(),
  restore: ({ urns, view }) => projector().restore(urns, view),
  drop: ({ urn, view, actor }) => projector().drop(urn, view, actor),
  pause: (views) => projector().pause(views),
  prepare: ({ views, parked }) => projector().prepare(views, parked),
  resume: ({ views, take }) => projector().resume(views, take),
} satisfies ProjectorThread);

function projector(): Projector {
  assert(running !== undefined, "the thread is called after it has opened its stores");
  return running.projector;
}

async function open(stores: ThreadStores, config: unknown): Promise<void> {
  const onStale = (view: string, stale: boolean) => owner.notify("stale", { view, stale });
  const views = await stores.openViews(config, {
    onEmptied: (view, why) => owner.notify("emptied", { view, why }),
    onStale,
  });
  const log = await stores.openLogReader(config);
  // Not before, because the service waits for the stores at the start.
  lowerPriority(VIEW_NICENESS);
  const projector = await startProjector({
    log,
    openLog: () => stores.openLogReader(config),
    views,
    decode: decodeRecord,
    parkingStore: {
      load: (view) => readParking(log, view),
      write: (view, record) => owner.call("writeParking", { view, record }),
    },
    generations: stores.makeLive && {
      openStaging: (names) => stores.openViews(config, { names, next: true, onStale }),
      makeLive: async (names) => (await stores.makeLive?.(config, names)) ?? (async () => {}),
    },
    onProgress: (progress) => owner.notify("progress", progress),
  });
  running = { projector, log };
  owner.notify("progress", projector.progress());
  setTimeout(collectGarbage, GARBAGE_AFTER_MS).unref();
}

async function stop(): Promise<void> {
  const { log } = running ?? {};
  await running?.projector.stop();
  // Folded views first: their readers of other views could keep a write-ahead log from being emptied.
  for (const { sink } of running?.projector.views().toReversed() ?? []) await sink.close();
  await log?.close();
  port.close();
}
