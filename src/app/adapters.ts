/**
 * The adapter of each port that the settings choose. Those of servers are loaded where they are
 * used: an embedded catalog does not pay for them.
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
import { fileOf, type Places, placeOf, sharedView, type ViewName } from "./store-locations.ts";

/** A rebuild checks at once whether the server answers. */
async function lazySink<S extends Sink<never>>(
  config: Places,
  view: ViewName,
  origin: ViewOrigin,
  open: (view: ServerView) => Promise<S>,
  names: readonly (keyof S & string)[] = sinkMethods,
): Promise<S> {
  const whole = { ...placeOf(config, view), ...origin };
  if (origin.bulk) return open(whole);
  return openLazily<S>(`the view "${view}"`, () => open(whole), names);
}

export const sinkMethods = ["apply", "restore", "tidy", "position", "lastRecord", "reset"] as const;

export async function openAspectSink(config: Places, origin: ViewOrigin): Promise<AspectSink> {
  if (!sharedView(config, "aspects")) {
    return openSqliteAspectSink({ path: fileOf(config, "aspects"), ...origin });
  }
  const { openPostgresAspectSink: open } = await import(
    "../views/aspects/postgres/postgres-aspect-sink.ts"
  );
  return lazySink(config, "aspects", origin, open);
}

export async function openAspectReader(config: Places): Promise<AspectReader> {
  if (!sharedView(config, "aspects")) return openSqliteAspectReader(fileOf(config, "aspects"));
  const { openPostgresAspectReader } = await import(
    "../views/aspects/postgres/postgres-aspect-reader.ts"
  );
  const place = placeOf(config, "aspects");
  return openLazily("the aspect table", () => openPostgresAspectReader(place), [
    "position",
    "getEntities",
    "findValue",
    "listUrns",
    "countEntities",
    "countAspect",
  ]);
}

export async function openTimeseriesSink(
  config: Places,
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

export async function openTimeseriesReader(config: Places): Promise<TimeseriesReader> {
  if (!sharedView(config, "timeseries")) {
    return openSqliteTimeseriesReader(fileOf(config, "timeseries"));
  }
  const { openElasticsearchTimeseriesReader } = await import(
    "../views/timeseries/elasticsearch/elasticsearch-timeseries-reader.ts"
  );
  const place = placeOf(config, "timeseries");
  return openLazily("the timeseries", () => openElasticsearchTimeseriesReader(place), [
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

export async function openGraphSink(config: Places, origin: ViewOrigin): Promise<GraphSink> {
  if (!sharedView(config, "graph")) {
    return openSqliteGraphSink({ path: fileOf(config, "graph"), ...origin });
  }
  const { openNeo4jGraphSink } = await import("../views/graph/neo4j/neo4j-graph-sink.ts");
  return lazySink(config, "graph", origin, openNeo4jGraphSink);
}

async function openGraphReader(config: Places): Promise<GraphReader> {
  if (!sharedView(config, "graph")) return openSqliteGraphReader(fileOf(config, "graph"));
  const { openNeo4jGraphReader } = await import("../views/graph/neo4j/neo4j-graph-reader.ts");
  const place = placeOf(config, "graph");
  return openLazily("the graph", () => openNeo4jGraphReader(place), [
    "neighbours",
    "follow",
    "stamps",
  ]);
}

export async function openSearchSink(config: Places, origin: ViewOrigin): Promise<SearchSink> {
  if (!sharedView(config, "search")) {
    return openSqliteSearchSink({ path: fileOf(config, "search"), ...origin });
  }
  const { openElasticsearchSearchSink } = await import(
    "../views/search/elasticsearch/elasticsearch-search-sink.ts"
  );
  const names = [...sinkMethods, "amend", "holding"] as const;
  return lazySink(config, "search", origin, openElasticsearchSearchSink, names);
}

export const searchOptions = ({ searchSecondsMax }: Pick<Places, "searchSecondsMax">) => ({
  limitMs: searchSecondsMax * 1_000,
});

async function openSearchReader(config: Places): Promise<SearchReader> {
  if (!sharedView(config, "search")) {
    return openSqliteSearchReader(fileOf(config, "search"), searchOptions(config));
  }
  const { openElasticsearchSearchReader } = await import(
    "../views/search/elasticsearch/elasticsearch-search-reader.ts"
  );
  const place = placeOf(config, "search");
  return openLazily("the search view", () => openElasticsearchSearchReader(place), [
    "search",
    "folders",
    "documents",
  ]);
}

/** How far a view is that others are made of. Throws `unavailable` when it cannot be read. */
export async function sourcePosition(
  config: Places,
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

/** The read sides; embedded views must have been opened for writing once before. */
export async function openReaders(config: Places): Promise<Readers> {
  return {
    aspects: await openAspectReader(config),
    timeseries: await openTimeseriesReader(config),
    graph: await openGraphReader(config),
    search: await openSearchReader(config),
  };
}
