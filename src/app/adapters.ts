/**
 * Opens the adapter of each view that the settings select. Adapters for servers are loaded when
 * they are used, so that embedded catalogs start faster.
 */
import { openLazily } from "../storage/lazy-store.ts";
import type { ViewFile } from "../storage/sqlite/sqlite-view.ts";
import type { ServerAddress, ServerView, ViewOrigin } from "../storage/view-origin.ts";
import type { AspectReader, AspectSink } from "../views/aspects/aspect-table.ts";
import { openSqliteAspectReader } from "../views/aspects/sqlite/sqlite-aspect-reader.ts";
import { openSqliteAspectSink } from "../views/aspects/sqlite/sqlite-aspect-sink.ts";
import type { GraphReader, GraphSink } from "../views/graph/graph.ts";
import { openSqliteGraphReader } from "../views/graph/sqlite/sqlite-graph-reader.ts";
import { openSqliteGraphSink } from "../views/graph/sqlite/sqlite-graph-sink.ts";
import type { SearchReader, SearchSink } from "../views/search/search.ts";
import { openSqliteSearchReader } from "../views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchSink } from "../views/search/sqlite/sqlite-search-sink.ts";
import { openSqliteTimeseriesReader } from "../views/timeseries/sqlite/sqlite-timeseries-reader.ts";
import { openSqliteTimeseriesSink } from "../views/timeseries/sqlite/sqlite-timeseries-sink.ts";
import type { TimeseriesReader, TimeseriesSink } from "../views/timeseries/timeseries-table.ts";
import {
  fileOf,
  type StoreLocations,
  serverOf,
  sharedView,
  type ViewName,
} from "./store-locations.ts";

interface Sinks {
  readonly aspects: AspectSink;
  readonly timeseries: TimeseriesSink;
  readonly graph: GraphSink;
  readonly search: SearchSink;
}

export interface Readers {
  readonly aspects: AspectReader;
  readonly timeseries: TimeseriesReader;
  readonly graph: GraphReader;
  readonly search: SearchReader;
}

const embeddedSinks: { readonly [V in ViewName]: (file: ViewFile) => Sinks[V] } = {
  aspects: openSqliteAspectSink,
  timeseries: openSqliteTimeseriesSink,
  graph: openSqliteGraphSink,
  search: openSqliteSearchSink,
};

/** The file must exist: a sink creates it. */
export const embeddedReaders: {
  readonly [V in ViewName]: (path: string, config: StoreLocations) => Readers[V];
} = {
  aspects: openSqliteAspectReader,
  timeseries: openSqliteTimeseriesReader,
  graph: openSqliteGraphReader,
  search: (path, { searchSecondsMax }) =>
    openSqliteSearchReader(path, { limitMs: searchSecondsMax * 1_000 }),
};

/** An adapter for a server. `load` imports it. `methods`: those that open the store lazily. */
interface ServerAdapter<Address, Store> {
  readonly load: () => Promise<(address: Address) => Promise<Store>>;
  readonly methods: readonly (keyof Store & string)[];
}

export const sinkMethods = [
  "apply",
  "restore",
  "maintain",
  "position",
  "lastRecord",
  "reset",
] as const;

const serverSinks: { readonly [V in ViewName]: ServerAdapter<ServerView, Sinks[V]> } = {
  aspects: {
    load: async () =>
      (await import("../views/aspects/postgres/postgres-aspect-sink.ts")).openPostgresAspectSink,
    methods: sinkMethods,
  },
  timeseries: {
    load: async () =>
      (await import("../views/timeseries/elasticsearch/elasticsearch-timeseries-sink.ts"))
        .openElasticsearchTimeseriesSink,
    methods: sinkMethods,
  },
  graph: {
    load: async () => (await import("../views/graph/neo4j/neo4j-graph-sink.ts")).openNeo4jGraphSink,
    methods: sinkMethods,
  },
  search: {
    load: async () =>
      (await import("../views/search/elasticsearch/elasticsearch-search-sink.ts"))
        .openElasticsearchSearchSink,
    methods: [...sinkMethods, "amend", "holding"],
  },
};

const serverReaders: { readonly [V in ViewName]: ServerAdapter<ServerAddress, Readers[V]> } = {
  aspects: {
    load: async () =>
      (await import("../views/aspects/postgres/postgres-aspect-reader.ts"))
        .openPostgresAspectReader,
    methods: [
      ...(["position", "getEntities", "findValue", "listUrns", "urnsAfter"] as const),
      ...(["countEntities", "countAspect"] as const),
    ],
  },
  timeseries: {
    load: async () =>
      (await import("../views/timeseries/elasticsearch/elasticsearch-timeseries-reader.ts"))
        .openElasticsearchTimeseriesReader,
    methods: [
      ...(["list", "latest", "position", "count", "countOlder"] as const),
      ...(["weigh", "findTruncation", "findTask"] as const),
    ],
  },
  graph: {
    load: async () =>
      (await import("../views/graph/neo4j/neo4j-graph-reader.ts")).openNeo4jGraphReader,
    methods: ["neighbours", "follow", "stamps"],
  },
  search: {
    load: async () =>
      (await import("../views/search/elasticsearch/elasticsearch-search-reader.ts"))
        .openElasticsearchSearchReader,
    methods: ["search", "folders", "documents"],
  },
};

/** The names of readers in messages. */
const READERS: Readonly<Record<ViewName, string>> = {
  aspects: "the aspect table",
  timeseries: "the timeseries",
  graph: "the graph",
  search: "the search view",
};

export async function openSink<V extends ViewName>(
  config: StoreLocations,
  view: V,
  origin: ViewOrigin,
): Promise<Sinks[V]> {
  if (!sharedView(config, view)) {
    return embeddedSinks[view]({ path: fileOf(config, view), ...origin });
  }
  const { load, methods } = serverSinks[view];
  const open = await load();
  const whole = { ...serverOf(config, view), ...origin };
  // A rebuild opens the store at once, so that it fails before the build if the server is down.
  if (origin.bulk) return open(whole);
  return openLazily<Sinks[V]>(`the view "${view}"`, () => open(whole), methods);
}

/** An embedded view must have been opened for writing before. */
export async function openReader<V extends ViewName>(
  config: StoreLocations,
  view: V,
): Promise<Readers[V]> {
  if (!sharedView(config, view)) return embeddedReaders[view](fileOf(config, view), config);
  const { load, methods } = serverReaders[view];
  const open = await load();
  const address = serverOf(config, view);
  return openLazily<Readers[V]>(READERS[view], () => open(address), methods);
}

export const openReaders = async (config: StoreLocations): Promise<Readers> => ({
  aspects: await openReader(config, "aspects"),
  timeseries: await openReader(config, "timeseries"),
  graph: await openReader(config, "graph"),
  search: await openReader(config, "search"),
});
