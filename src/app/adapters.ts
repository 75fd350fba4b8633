/**
 * Opens the adapter of each port that the settings select. Adapters for servers are loaded when
 * they are used, so that embedded catalogs start faster.
 */

import type { Position } from "../core/position.ts";
import type { Sink } from "../projector/sink.ts";
import { openLazily } from "../storage/lazy-store.ts";
import type { ServerView, ViewOrigin } from "../storage/view-origin.ts";
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

/** A rebuild opens the store at once, so that it fails before the build if the server is down. */
async function lazySink<S extends Sink<never>>(
  config: StoreLocations,
  view: ViewName,
  origin: ViewOrigin,
  open: (view: ServerView) => Promise<S>,
  names: readonly (keyof S & string)[] = sinkMethods,
): Promise<S> {
  const whole = { ...serverOf(config, view), ...origin };
  if (origin.bulk) return open(whole);
  return openLazily<S>(`the view "${view}"`, () => open(whole), names);
}

export const sinkMethods = [
  "apply",
  "restore",
  "maintain",
  "position",
  "lastRecord",
  "reset",
] as const;

export async function openAspectSink(
  config: StoreLocations,
  origin: ViewOrigin,
): Promise<AspectSink> {
  if (!sharedView(config, "aspects")) {
    return openSqliteAspectSink({ path: fileOf(config, "aspects"), ...origin });
  }
  const { openPostgresAspectSink: open } = await import(
    "../views/aspects/postgres/postgres-aspect-sink.ts"
  );
  return lazySink(config, "aspects", origin, open);
}

export async function openAspectReader(config: StoreLocations): Promise<AspectReader> {
  if (!sharedView(config, "aspects")) return openSqliteAspectReader(fileOf(config, "aspects"));
  const { openPostgresAspectReader } = await import(
    "../views/aspects/postgres/postgres-aspect-reader.ts"
  );
  const address = serverOf(config, "aspects");
  return openLazily("the aspect table", () => openPostgresAspectReader(address), [
    "position",
    "getEntities",
    "findValue",
    "listUrns",
    "urnsAfter",
    "countEntities",
    "countAspect",
  ]);
}

export async function openTimeseriesSink(
  config: StoreLocations,
  origin: ViewOrigin,
): Promise<TimeseriesSink> {
  if (!sharedView(config, "timeseries")) {
    return openSqliteTimeseriesSink({ path: fileOf(config, "timeseries"), ...origin });
  }
  const { openElasticsearchTimeseriesSink } = await import(
    "../views/timeseries/elasticsearch/elasticsearch-timeseries-sink.ts"
  );
  return lazySink(config, "timeseries", origin, openElasticsearchTimeseriesSink);
}

export async function openTimeseriesReader(config: StoreLocations): Promise<TimeseriesReader> {
  if (!sharedView(config, "timeseries")) {
    return openSqliteTimeseriesReader(fileOf(config, "timeseries"));
  }
  const { openElasticsearchTimeseriesReader } = await import(
    "../views/timeseries/elasticsearch/elasticsearch-timeseries-reader.ts"
  );
  const address = serverOf(config, "timeseries");
  return openLazily("the timeseries", () => openElasticsearchTimeseriesReader(address), [
    "list",
    "latest",
    "position",
    "count",
    "countOlder",
    "weigh",
    "findTruncation",
    "findTask",
  ]);
}

export async function openGraphSink(
  config: StoreLocations,
  origin: ViewOrigin,
): Promise<GraphSink> {
  if (!sharedView(config, "graph")) {
    return openSqliteGraphSink({ path: fileOf(config, "graph"), ...origin });
  }
  const { openNeo4jGraphSink } = await import("../views/graph/neo4j/neo4j-graph-sink.ts");
  return lazySink(config, "graph", origin, openNeo4jGraphSink);
}

async function openGraphReader(config: StoreLocations): Promise<GraphReader> {
  if (!sharedView(config, "graph")) return openSqliteGraphReader(fileOf(config, "graph"));
  const { openNeo4jGraphReader } = await import("../views/graph/neo4j/neo4j-graph-reader.ts");
  const address = serverOf(config, "graph");
  return openLazily("the graph", () => openNeo4jGraphReader(address), [
    "neighbours",
    "follow",
    "stamps",
  ]);
}

export async function openSearchSink(
  config: StoreLocations,
  origin: ViewOrigin,
): Promise<SearchSink> {
  if (!sharedView(config, "search")) {
    return openSqliteSearchSink({ path: fileOf(config, "search"), ...origin });
  }
  const { openElasticsearchSearchSink } = await import(
    "../views/search/elasticsearch/elasticsearch-search-sink.ts"
  );
  const names = [...sinkMethods, "amend", "holding"] as const;
  return lazySink(config, "search", origin, openElasticsearchSearchSink, names);
}

export const searchOptions = ({ searchSecondsMax }: Pick<StoreLocations, "searchSecondsMax">) => ({
  limitMs: searchSecondsMax * 1_000,
});

async function openSearchReader(config: StoreLocations): Promise<SearchReader> {
  if (!sharedView(config, "search")) {
    return openSqliteSearchReader(fileOf(config, "search"), searchOptions(config));
  }
  const { openElasticsearchSearchReader } = await import(
    "../views/search/elasticsearch/elasticsearch-search-reader.ts"
  );
  const address = serverOf(config, "search");
  return openLazily("the search view", () => openElasticsearchSearchReader(address), [
    "search",
    "folders",
    "documents",
  ]);
}

/**
 * The position of a view that other views are built from. Throws `unavailable` if it is unreadable.
 */
export async function sourcePosition(
  config: StoreLocations,
  view: "aspects" | "timeseries",
): Promise<Position> {
  const reader =
    view === "aspects" ? await openAspectReader(config) : await openTimeseriesReader(config);
  try {
    return await reader.position();
  } finally {
    await reader.close();
  }
}

export interface Readers {
  readonly aspects: AspectReader;
  readonly timeseries: TimeseriesReader;
  readonly graph: GraphReader;
  readonly search: SearchReader;
}

/** Opens the readers of all views. Embedded views must have been opened for writing before. */
export async function openReaders(config: StoreLocations): Promise<Readers> {
  return {
    aspects: await openAspectReader(config),
    timeseries: await openTimeseriesReader(config),
    graph: await openGraphReader(config),
    search: await openSearchReader(config),
  };
}
