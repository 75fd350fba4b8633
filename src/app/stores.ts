/**
 * Opens the log and the views of a configuration (store-locations.ts has the locations, adapters.ts opens
 * the adapters). Threads import this module to open their own stores. They get the rules of the model
 * as plain data, so that a process loads the model once.
 */
import { rmSync } from "node:fs";
import { createAspectProjection } from "../../projections/aspects.ts";
import { createGraphProjection, forgettingOf } from "../../projections/graph/graph.ts";
import { createSearchProjection, fieldsOfEvents } from "../../projections/search/search.ts";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import type { Config } from "../config/config.ts";
import { type Position, position, START } from "../core/position.ts";
import type { KafkaIngestion, KafkaIngestionParts } from "../feed/kafka/kafka-ingestion.ts";
import { appendAll } from "../lib/lists.ts";
import { ownValue } from "../lib/own-value.ts";
import { type ChangeLog, recordsBetween } from "../log/change-log.ts";
import { createDocumentView } from "../projector/documents/document-view.ts";
import { createSwappableStore } from "../projector/rebuild/swappable-store.ts";
import type { View } from "../projector/sink.ts";
import { publishBatches } from "../projector/thread/batch-telemetry.ts";
import { openLazily } from "../storage/lazy-store.ts";
import {
  liveFile,
  makeStagingLive,
  replaceFile,
  stagingPath,
} from "../storage/sqlite/generations.ts";
import { requireWritable } from "../storage/sqlite/sqlite-view.ts";
import type { Emptied, ServerAddress, ViewOrigin } from "../storage/view-origin.ts";
import type { SearchWrite } from "../views/search/search.ts";
import { embeddedReaders, openReader, openSink, type Readers, sinkMethods } from "./adapters.ts";
import {
  fileOf,
  locationKeys,
  requireCertificates,
  type StoreLocations,
  serverAt,
  sharedView,
  type ViewName,
  viewNames,
} from "./store-locations.ts";
import { platformEventRules, type ViewRules } from "./view-rules.ts";

/** The log that views are built from: its id, its head, and its number of records. */
interface LogOrigin {
  readonly id: string;
  readonly head: Position;
  readonly records: number;
}

/** Everything needed to open the stores; plain data, which can be sent to a thread. */
export interface StoresConfig extends StoreLocations {
  readonly rules: ViewRules;
  /** The log of the views; undefined if it is not known, as for a log without an id. */
  readonly origin?: LogOrigin | undefined;
  /** ChangeLog.indexState of the log that appends in this process. */
  readonly indexState?: SharedArrayBuffer | undefined;
  /** Name of the channel for batch events (batch-telemetry.ts); absent: none are published. */
  readonly batchChannel?: string | undefined;
}

export async function storesConfig(
  config: StoreLocations,
  rules: ViewRules,
  log: ChangeLog,
): Promise<StoresConfig> {
  requireCertificates(config);
  const places = Object.fromEntries(
    locationKeys.map((key) => [key, config[key]]),
  ) as StoreLocations;
  return { ...places, rules, origin: await originOf(log), indexState: log.indexState };
}

async function originOf(log: ChangeLog): Promise<LogOrigin | undefined> {
  if (log.id === undefined) return undefined;
  const head = await log.head();
  return { id: log.id, head, records: recordsBetween(log, START, head) };
}

/** Estimates the position after so many records: positions do not count the records of every log. */
const positionAfter = (records: number, log: LogOrigin | undefined): Position =>
  position(log === undefined || log.records === 0 ? records : (records * log.head) / log.records);

/** For the threads that open the stores with this module (ThreadStores, StagingStores). */
export { openLogReader } from "./open-log.ts";
export { foldedViews } from "./store-locations.ts";

/** Views with fewer records are rebuilt within two seconds, before the service answers. */
const KEPT_MIN = 20_000;

/** Entries of the cache of folded positions during a rebuild: some 100 MB. */
const FOLDED_IN_REBUILD_MAX = 1_000_000;

/**
 * How long the search view waits for the aspect view. Views in servers apply batches concurrently, so
 * the aspect view may be a batch behind. An embedded view delays others while it waits.
 */
const STATES_MS_MAX = { shared: 10_000, embedded: 1_000 };

/** Views that depend on annotations of the model, with the annotations that they depend on. */
export const annotatedViews: Readonly<Record<string, "relationships" | "search">> = {
  graph: "relationships",
  search: "search",
};

/** Throws `invalid` if the file of an existing embedded view is not writable. */
export function requireViews(config: StoreLocations, names: readonly ViewName[]): void {
  for (const name of names) {
    if (!sharedView(config, name)) requireWritable(name, fileOf(config, name));
  }
}

/**
 * Opens views for writing. With `bulk`, builds staging generations, which become live when they are
 * closed; folded views then read the live aspect view.
 */
export async function openViews(
  config: StoresConfig,
  options: {
    readonly names?: readonly ViewName[];
    readonly bulk?: boolean;
    /** For embedded views: opens the staging generations beside the live ones. */
    readonly next?: boolean;
    /** Embedded views whose staging generations the folded views read. */
    readonly stagedSources?: readonly ViewName[];
    /** Called for a view that was emptied, because it had another origin. */
    readonly onEmptied?: (view: ViewName, why: Emptied) => void;
    /**
     * If present, a view of another model is kept as a stale view, and this is called with true; for
     * views in servers, also when that changes.
     */
    readonly onStale?: (view: ViewName, stale: boolean) => void;
  } = {},
): Promise<readonly View[]> {
  const { names = viewNames, bulk, next, onStale } = options;
  // A folded view that is opened alone reads the live generations of its sources.
  const { stagedSources = next && !bulk ? names : [] } = options;
  const leads = bulk === true || config.roles.includes("projector");
  const opened: View[] = [];
  try {
    for (const name of names) {
      const shared = sharedView(config, name);
      let stale = false;
      const report = (now: boolean) => {
        if (now !== stale) onStale?.(name, now);
        stale = now;
      };
      const view = await openView(config, name, {
        model: config.rules.fingerprint,
        log: config.origin,
        // Only the leader decides how a view is built.
        standby: shared && !leads,
        onEmptied: (why: Emptied) => options.onEmptied?.(name, why),
        // Other processes read a view in a server: it is not emptied for a change of the model.
        onStale: shared || onStale !== undefined ? report : undefined,
        keepsOlder: config.onModelChange === "refuse",
        keptFrom:
          shared || config.onModelChange === "refuse" ? 1 : positionAfter(KEPT_MIN, config.origin),
        bulk,
        next,
        stagedSources,
      });
      const follows = {
        shared: leads ? "leader" : "standby",
        awaited: true,
        builtWithAnotherModel: () => stale,
      } as const;
      opened.push(shared ? { ...view, ...follows } : view);
    }
    if (options.names === undefined) appendAll(opened, await openFeed(config));
  } catch (error) {
    for (const { sink } of opened) await sink.close("discard");
    throw error;
  }
  const { batchChannel } = config;
  return batchChannel === undefined
    ? opened
    : opened.map((view) => publishBatches(view, batchChannel));
}

/** Name of the feed to Kafka, which consumes changes like a view but has no reader. */
const KAFKA = "kafka";

/** The feed to Kafka, if it is configured and this process has the role. */
async function openFeed(config: StoresConfig): Promise<readonly View[]> {
  if (!servesFeed(config)) return [];
  const { openKafkaFeedSink } = await import("../feed/kafka/kafka-feed-sink.ts");
  const { createEventCodec } = await import("../feed/event-codec.ts");
  const { createPlatformEvents } = await import("../feed/platform-events.ts");
  const { createFeedView } = await import("../feed/previous-values.ts");
  const { projectFeed } = await import("../../projections/feed.ts");
  const history = await openSource(config, "aspects");
  try {
    const platformEventsOf = createPlatformEvents(platformEventRules(config.rules));
    const codec = createEventCodec({ findSchema: async () => undefined });
    const parts = { log: config.origin, codec, platformEventsOf };
    const open = () => openKafkaFeedSink({ ...serverAt(config, config.kafka), ...parts });
    const sink = openLazily(KAFKA, open, sinkMethods);
    const view = createFeedView({ name: KAFKA, project: projectFeed, sink, history });
    return [{ ...view, shared: "leader" } as View];
  } catch (error) {
    await history.close();
    throw error;
  }
}

/** Opens the consumer of proposals from Kafka. */
export async function openIngestion(
  config: StoreLocations,
  parts: Omit<KafkaIngestionParts, keyof ServerAddress>,
): Promise<KafkaIngestion> {
  const { openKafkaIngestion } = await import("../feed/kafka/kafka-ingestion.ts");
  return openKafkaIngestion({ ...serverAt(config, config.kafka), ...parts });
}

export const servesFeed = (config: Pick<Config, "kafka" | "roles">): boolean =>
  config.kafka !== "" && config.roles.includes("feed");

/** `stagedSources`: views whose staging generations a folded view reads. */
interface Origin extends ViewOrigin {
  readonly stagedSources: readonly ViewName[];
}

async function openView(config: StoresConfig, name: ViewName, whole: Origin): Promise<View> {
  const { stagedSources, ...origin } = whole;
  const { keyAspects, graph } = config.rules;
  const keyAspectOf = (type: string) => ownValue(keyAspects, type);
  switch (name) {
    case "aspects":
      return {
        name,
        project: createAspectProjection(keyAspectOf),
        sink: await openSink(config, "aspects", origin),
      } as View;
    case "timeseries":
      return {
        name,
        project: createTimeseriesProjection(keyAspectOf),
        sink: await openSink(config, "timeseries", origin),
      } as View;
    case "graph":
      return {
        name,
        project: createGraphProjection(graph, keyAspectOf),
        sink: await openSink(config, "graph", origin),
        relatedStreams: forgettingOf,
      } as View;
    case "search":
      return openSearchView(config, origin, stagedSources);
  }
}

/**
 * Opens a view as a source of folded views and of the feed. Follows its live generation; in
 * `stagedSources`, starts with the staging generation.
 */
async function openSource<V extends "aspects" | "timeseries">(
  config: StoreLocations,
  view: V,
  stagedSources: readonly ViewName[] = [],
): Promise<Readers[V]> {
  if (sharedView(config, view)) return openReader(config, view);
  const open = (file: string): Readers[V] => embeddedReaders[view](file, config);
  const path = fileOf(config, view);
  const { store, swap } = createSwappableStore(
    open(stagedSources.includes(view) ? stagingPath(path) : path),
  );
  let file = liveFile(path);
  return {
    ...store,
    // Called before each batch.
    async position() {
      const now = liveFile(path);
      if (now !== file) void swap(open(path));
      file = now;
      return store.position();
    },
  };
}

function statesMsMax(config: StoreLocations): number {
  if (sharedView(config, "search")) return STATES_MS_MAX.shared;
  return sharedView(config, "aspects") ? STATES_MS_MAX.embedded : 0;
}

async function openSearchView(
  config: StoresConfig,
  origin: ViewOrigin,
  stagedSources: readonly ViewName[],
): Promise<View> {
  const { search } = config.rules;
  const project = createSearchProjection(search);
  const sink = await openSink(config, "search", origin);
  const { position, latest, close } = await openSource(config, "timeseries", stagedSources);
  return createDocumentView<SearchWrite>({
    name: "search",
    sink,
    states: await openSource(config, "aspects", stagedSources),
    events: {
      position,
      latest,
      close,
      aspectsOf: (entityType) => ownValue(search.events, entityType) ?? [],
      holding: (entityType, aspect, from) =>
        sink.holding(entityType, fieldsOfEvents(search, aspect), from),
      amend: (writes) => sink.amend(writes),
      coversIgnored: sharedView(config, "timeseries"),
    },
    // In a rebuild, the aspect view is complete: each entity is folded once.
    foldedMax: origin.bulk ? FOLDED_IN_REBUILD_MAX : undefined,
    // During a rebuild beside the live view, another thread applies changes to the aspect view.
    statesMsMax: origin.bulk && origin.next ? STATES_MS_MAX.shared : statesMsMax(config),
    make: (write) => write.op === "put" && write.document,
    fold(state, entityType, at, events, policy) {
      const written = { position: at, urn: state.urn };
      const make = project(state, entityType, events, policy);
      if (make === undefined) {
        policy?.reportFailed([]);
        return { op: "remove", ...written };
      }
      return {
        op: "put",
        ...written,
        get document() {
          return make();
        },
      };
    },
  }) as View;
}

/** GenerationStore.makeLive of the views that are in the data directory. */
export async function makeLive(
  config: StoreLocations,
  names: readonly ViewName[],
): Promise<() => Promise<void>> {
  const own = names.filter((name) => !sharedView(config, name));
  const unused = own.flatMap((name) => makeStagingLive(fileOf(config, name)));
  return async () => {
    for (const file of unused) rmSync(file, { force: true });
  };
}

/** The same while no process has the views open; all of them are in the data directory. */
export function swapFilesOffline(config: StoreLocations, names: readonly ViewName[]): void {
  for (const name of names) replaceFile(fileOf(config, name), stagingPath(fileOf(config, name)));
}
