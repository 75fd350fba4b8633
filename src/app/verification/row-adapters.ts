/**
 * The adapter that reads a view's rows for verification, as the settings choose. Those of servers are
 * loaded where they are used: an embedded catalog does not pay for them.
 */

import type { Grown } from "../../projector/sink.ts";
import type { ViewRows } from "../../projector/verify/view-rows.ts";
import { nextEdition } from "../../storage/sqlite/editions.ts";
import type { ServerPlace } from "../../storage/view-origin.ts";
import { openSqliteAspectRows } from "../../views/aspects/sqlite/sqlite-aspect-rows.ts";
import { openSqliteGraphRows } from "../../views/graph/sqlite/sqlite-graph-rows.ts";
import { openSqliteSearchRows } from "../../views/search/sqlite/sqlite-search-rows.ts";
import { openSqliteTimeseriesRows } from "../../views/timeseries/sqlite/sqlite-timeseries-rows.ts";
import { type Places, placeOf, sharedView, type ViewName, viewFile } from "../places.ts";

/** The editions beside those in place. */
export interface Beside {
  readonly next?: boolean | undefined;
  /** Where those are that lie in servers (Sink.grown), by view. */
  readonly grown?: Readonly<Record<string, Grown>> | undefined;
}

/** Throws `unavailable` for an embedded view that is not there; one in a server has no rows then. */
export async function openViewRows(
  config: Places,
  name: ViewName,
  { next, grown }: Beside = {},
): Promise<ViewRows> {
  return sharedView(config, name)
    ? inServers[name](placeOf(config, name), grown?.[name])
    : embedded[name](next ? nextEdition(viewFile(config, name)) : viewFile(config, name));
}

const embedded: Readonly<Record<ViewName, (path: string) => ViewRows>> = {
  aspects: openSqliteAspectRows,
  timeseries: openSqliteTimeseriesRows,
  graph: openSqliteGraphRows,
  search: openSqliteSearchRows,
};

type OpenInServer = (place: ServerPlace, grown: Grown | undefined) => Promise<ViewRows>;

const inServers: Readonly<Record<ViewName, OpenInServer>> = {
  async aspects(place, grown) {
    const { openPostgresAspectRows } = await import(
      "../../views/aspects/postgres/postgres-aspect-rows.ts"
    );
    return openPostgresAspectRows(place, grown);
  },
  async timeseries(place, grown) {
    const { openElasticsearchTimeseriesRows } = await import(
      "../../views/timeseries/elasticsearch/elasticsearch-timeseries-rows.ts"
    );
    return openElasticsearchTimeseriesRows(place, grown);
  },
  async graph(place, grown) {
    const { openNeo4jGraphRows } = await import("../../views/graph/neo4j/neo4j-graph-rows.ts");
    return openNeo4jGraphRows(place, grown);
  },
  async search(place, grown) {
    const { openElasticsearchSearchRows } = await import(
      "../../views/search/elasticsearch/elasticsearch-search-rows.ts"
    );
    return openElasticsearchSearchRows(place, grown);
  },
};
