/**
 * The adapter that reads a view's rows for verification, as the settings choose. Those of servers are
 * loaded where they are used: an embedded catalog does not pay for them.
 */
import { openSqliteAspectRows } from "./aspects/sqlite/sqlite-aspect-rows.ts";
import { openSqliteGraphRows } from "./graph/sqlite/sqlite-graph-rows.ts";
import { type Places, placeOf, sharedView, type ViewName, viewFile } from "./places.ts";
import { nextEdition } from "./projector/sqlite/editions.ts";
import type { ViewRows } from "./projector/verify/view-rows.ts";
import type { ServerPlace } from "./projector/view-origin.ts";
import { openSqliteSearchRows } from "./search/sqlite/sqlite-search-rows.ts";
import { openSqliteTimeseriesRows } from "./timeseries/sqlite/sqlite-timeseries-rows.ts";

/** Throws `unavailable` for an embedded view that is not there; one in a server has no rows then. */
export async function openViewRows(
  config: Places,
  name: ViewName,
  /** Of an embedded view the edition beside the one in place. */
  next = false,
): Promise<ViewRows> {
  return sharedView(config, name)
    ? inServers[name](placeOf(config, name))
    : embedded[name](next ? nextEdition(viewFile(config, name)) : viewFile(config, name));
}

/** Whether what is written meanwhile may be in a part of the rows: only SQL servers have snapshots. */
export const readInParts = (config: Pick<Places, ViewName>, view: ViewName): boolean =>
  view !== "aspects" && sharedView(config, view);

const embedded: Readonly<Record<ViewName, (path: string) => ViewRows>> = {
  aspects: openSqliteAspectRows,
  timeseries: openSqliteTimeseriesRows,
  graph: openSqliteGraphRows,
  search: openSqliteSearchRows,
};

const inServers: Readonly<Record<ViewName, (place: ServerPlace) => Promise<ViewRows>>> = {
  async aspects(place) {
    const { openPostgresAspectRows } = await import("./aspects/postgres/postgres-aspect-rows.ts");
    return openPostgresAspectRows(place);
  },
  async timeseries(place) {
    const { openElasticsearchTimeseriesRows } = await import(
      "./timeseries/elasticsearch/elasticsearch-timeseries-rows.ts"
    );
    return openElasticsearchTimeseriesRows(place);
  },
  async graph(place) {
    const { openNeo4jGraphRows } = await import("./graph/neo4j/neo4j-graph-rows.ts");
    return openNeo4jGraphRows(place);
  },
  async search(place) {
    const { openElasticsearchSearchRows } = await import(
      "./search/elasticsearch/elasticsearch-search-rows.ts"
    );
    return openElasticsearchSearchRows(place);
  },
};
