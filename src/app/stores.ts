/**
 * Opens the log and the views that a configuration names (app/store-locations.ts says where, app/adapters.ts with
 * what). The projector's thread comes here for its views; it gets what it needs of the model as plain
 * data, so that the model is loaded once in a process.
 */

import { rmSync } from "node:fs";
import { createAspectProjection } from "../../projections/aspects.ts";
import { createGraphProjection, forgettingOf } from "../../projections/graph/graph.ts";
import { createSearchProjection, fieldsOfEvents } from "../../projections/search/search.ts";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import type { Config } from "../config/config.ts";
import { type Position, position, START } from "../core/position.ts";
import type { KafkaIngestion, KafkaIngestionParts } from "../feed/kafka/kafka-ingestion.ts";
import { ownValue } from "../lib/own-value.ts";
import { type ChangeLog, recordsBetween } from "../log/change-log.ts";
import { createDocumentView } from "../projector/documents/document-view.ts";
import { createSwappableStore } from "../projector/rebuild/swappable-store.ts";
import type { View } from "../projector/sink.ts";
import { publishBatches } from "../projector/thread/batch-telemetry.ts";
import { openLazily } from "../storage/lazy-store.ts";
import {
  fileInPlace,
  putNextInPlace,
  replace,
  stagingPath,
} from "../storage/sqlite/generations.ts";
import { requireWritable } from "../storage/sqlite/sqlite-view.ts";
import type { Emptied, ServerPlace, ViewOrigin } from "../storage/view-origin.ts";
import type { AspectReader } from "../views/aspects/aspect-table.ts";
import { openSqliteAspectReader } from "../views/aspects/sqlite/sqlite-aspect-reader.ts";
import type { SearchWrite } from "../views/search/search.ts";
import { openSqliteTimeseriesReader } from "../views/timeseries/sqlite/sqlite-timeseries-reader.ts";
import {
  openAspectReader,
  openAspectSink,
  openGraphSink,
  openSearchSink,
  openTimeseriesReader,
  openTimeseriesSink,
  sinkMethods,
} from "./adapters.ts";
import {
  fileOf,
  type Places,
  placeAt,
  placeKeys,
  requireCertificates,
  sharedView,
  type ViewName,
  viewNames,
} from "./store-locations.ts";
import { platformEventRules, type ViewRules } from "./view-rules.ts";

/** The log that feeds views: its id, where it ends, and how many records it has. */
interface LogOrigin {
  readonly id: string;
  readonly head: Position;
  readonly records: number;
}

/** Everything needed to open the stores; plain data, which can be sent to a thread. */
export interface StoresConfig extends Places {
  readonly rules: ViewRules;
  /** The log of the views; undefined if it is not known, as for a log without an id. */
  readonly origin?: LogOrigin | undefined;
  /** ChangeLog.indexState of the log that appends in this process. */
  readonly indexState?: SharedArrayBuffer | undefined;
  /** Name of the channel for batch events (batch-telemetry.ts); absent: none are published. */
  readonly batchChannel?: string | undefined;
}

export async function storesConfig(
  config: Places,
  rules: ViewRules,
  log: ChangeLog,
): Promise<StoresConfig> {
  requireCertificates(config);
  const places = Object.fromEntries(placeKeys.map((key) => [key, config[key]])) as Places;
  return { ...places, rules, origin: await originOf(log), indexState: log.indexState };
}

async function originOf(log: ChangeLog): Promise<LogOrigin | undefined> {
  if (log.id === undefined) return undefined;
  const head = await log.head();
  return { id: log.id, head, records: recordsBetween(log, START, head) };
}

/** About where the log has so many records: positions do not number the records of every log. */
const positionAfter = (records: number, log: LogOrigin | undefined): Position =>
  position(log === undefined || log.records === 0 ? records : (records * log.head) / log.records);

/** Steps of lineage, for the catalog. */
export { lineageSteps } from "../../projections/graph/lineage.ts";
/** How texts become words, for the catalog: questions are split as documents were. */
export { foldText, tokensOf } from "../../projections/search/words.ts";

/** Of the data directory, for the start. */
export { hasSpace } from "../storage/sqlite/sqlite-errors.ts";

export { openReaders, type Readers, sourcePosition } from "./adapters.ts";
export { openLogReader } from "./open-log.ts";
export {
  fileOf,
  foldedViews,
  type Places,
  placeAt,
  placeOf,
  sharedLog,
  sharedView,
  type ViewName,
  viewFile,
  viewNames,
} from "./store-locations.ts";

export { statedEdgesOf, timeseriesProjectionOf, type ViewRules, viewRules } from "./view-rules.ts";

/** Views of so many records are rebuilt in a second or two, before the service answers. */
const KEPT_MIN = 20_000;

/** Some 100 MB. */
const FOLDED_IN_REBUILD_MAX = 1_000_000;

/**
 * Servers take their batches side by side: the aspect table may be a batch behind. A view in the
 * data directory lets others wait meanwhile, and so waits less.
 */
const STATES_MS_MAX = { shared: 10_000, embedded: 1_000 };

/** Views that the model's annotations decide about, with what is read of them. */
export const annotatedViews: Readonly<Record<string, "relationships" | "search">> = {
  graph: "relationships",
  search: "search",
};

/** Throws `invalid` for a view of the data directory that is there and may not be written. */
export function requireViews(config: Places, names: readonly ViewName[]): void {
  for (const name of names) {
    if (!sharedView(config, name)) requireWritable(name, fileOf(config, name));
  }
}

/**
 * The views for writing; with `bulk` built from nothing and put in place when closed. Folded ones
 * read the aspect view that is in place then.
 */
export async function openViews(
  config: StoresConfig,
  options: {
    readonly names?: readonly ViewName[];
    readonly bulk?: boolean;
    /** Of those in the data directory the generation stagedSources the one in place. */
    readonly next?: boolean;
    /** Views of the data directory of whose next generations folded ones are made. */
    readonly stagedSources?: readonly ViewName[];
    /** Called for a view that was made of something else, and is empty now. */
    readonly onEmptied?: (view: ViewName, why: Emptied) => void;
    /**
     * When given: called for a view that another model made, which is kept; of views in servers
     * also when that has changed.
     */
    readonly onStale?: (view: ViewName, stale: boolean) => void;
  } = {},
): Promise<readonly View[]> {
  const { names = viewNames, bulk, next, onStale } = options;
  // Nothing reads views that are built from nothing.
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
        watched: shared && !leads,
        onEmptied: (why: Emptied) => options.onEmptied?.(name, why),
        // Others read what is in a server: it is never emptied for a model.
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
    if (options.names === undefined) opened.push(...(await openFeed(config)));
  } catch (error) {
    for (const { sink } of opened) await sink.close("discard");
    throw error;
  }
  const { batchChannel } = config;
  return batchChannel === undefined
    ? opened
    : opened.map((view) => publishBatches(view, batchChannel));
}

/** The feed to Kafka consumes changes like a view; nothing is read from it. */
const KAFKA = "kafka";

/** The feed to Kafka, where there is one and this process is to serve it. */
async function openFeed(config: StoresConfig): Promise<readonly View[]> {
  if (!servesFeed(config)) return [];
  const { openKafkaFeedSink } = await import("../feed/kafka/kafka-feed-sink.ts");
  const { createEventCodec } = await import("../feed/event-codec.ts");
  const { createPlatformEvents } = await import("../feed/platform-events.ts");
  const { createFeedView } = await import("../feed/previous-values.ts");
  const { projectFeed } = await import("../../projections/feed.ts");
  const history = await openAspectHistory(config);
  try {
    const platformEventsOf = createPlatformEvents(platformEventRules(config.rules));
    const codec = createEventCodec({ findSchema: async () => undefined });
    const parts = { log: config.origin, codec, platformEventsOf };
    const open = () => openKafkaFeedSink({ ...placeAt(config, config.kafka), ...parts });
    const sink = openLazily(KAFKA, open, sinkMethods);
    const view = createFeedView({ name: KAFKA, project: projectFeed, sink, history });
    return [{ ...view, shared: "leader" } as View];
  } catch (error) {
    await history.close();
    throw error;
  }
}

/** Proposals that arrive in Kafka. */
export async function openIngestion(
  config: Places,
  parts: Omit<KafkaIngestionParts, keyof ServerPlace>,
): Promise<KafkaIngestion> {
  const { openKafkaIngestion } = await import("../feed/kafka/kafka-ingestion.ts");
  return openKafkaIngestion({ ...placeAt(config, config.kafka), ...parts });
}

export const servesFeed = (config: Pick<Config, "kafka" | "roles">): boolean =>
  config.kafka !== "" && config.roles.includes("feed");

/** `stagedSources`: views of which the next generation is read where one is made of them. */
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
        sink: await openAspectSink(config, origin),
      } as View;
    case "timeseries":
      return {
        name,
        project: createTimeseriesProjection(keyAspectOf),
        sink: await openTimeseriesSink(config, origin),
      } as View;
    case "graph":
      return {
        name,
        project: createGraphProjection(graph, keyAspectOf),
        sink: await openGraphSink(config, origin),
        relatedStreams: forgettingOf,
      } as View;
    case "search":
      return openSearchView(config, origin, stagedSources);
  }
}

/** For who feeds other views from the aspect view. */
const openAspectHistory = (
  config: Places,
  stagedSources: readonly ViewName[] = [],
): Promise<AspectReader> =>
  followGenerations(config, "aspects", {
    stagedSources,
    openPlace: openAspectReader,
    open: openSqliteAspectReader,
  });

/**
 * Follows the live generation of a view, and starts with the staging generation where one is built
 * stagedSources it.
 */
async function followGenerations<
  R extends { position(): Promise<Position>; close(): Promise<void> },
>(
  config: Places,
  name: ViewName,
  {
    stagedSources,
    openPlace,
    open,
  }: {
    readonly stagedSources: readonly ViewName[];
    readonly openPlace: (config: Places) => Promise<R>;
    readonly open: (path: string) => R;
  },
): Promise<R> {
  if (sharedView(config, name)) return openPlace(config);
  const path = fileOf(config, name);
  const opened = stagedSources.includes(name) ? open(stagingPath(path)) : await openPlace(config);
  const { store, swap: replace } = createSwappableStore(opened);
  let file = fileInPlace(path);
  return {
    ...store,
    // Asked before each batch.
    async position() {
      const now = fileInPlace(path);
      if (now !== file) void replace(open(path));
      file = now;
      return store.position();
    },
  };
}

function statesMsMax(config: Places): number {
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
  const sink = await openSearchSink(config, origin);
  const { position, latest, close } = await followGenerations(config, "timeseries", {
    stagedSources,
    openPlace: openTimeseriesReader,
    open: openSqliteTimeseriesReader,
  });
  return createDocumentView<SearchWrite>({
    name: "search",
    sink,
    states: await openAspectHistory(config, stagedSources),
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
    // While it is built stagedSources the live view, another thread applies changes to the aspect view.
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
  config: Places,
  names: readonly ViewName[],
): Promise<() => Promise<void>> {
  const own = names.filter((name) => !sharedView(config, name));
  const unused = own.flatMap((name) => putNextInPlace(fileOf(config, name)));
  return async () => {
    for (const file of unused) rmSync(file, { force: true });
  };
}

/** The same while no process has the views open; all of them are in the data directory. */
export function swapFilesOffline(config: Places, names: readonly ViewName[]): void {
  for (const name of names) replace(fileOf(config, name), stagingPath(fileOf(config, name)));
}
