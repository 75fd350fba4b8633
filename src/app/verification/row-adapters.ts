/**
 * The adapter that reads a view's rows for verification, as the settings choose. Those of servers are
 * loaded where they are used: an embedded catalog does not pay for them.
 */

import type { Staged } from "../../projector/sink.ts";
import type { ViewRows } from "../../projector/verify/view-rows.ts";
import { stagingPath } from "../../storage/sqlite/generations.ts";
import type { ServerPlace } from "../../storage/view-origin.ts";
import { openSqliteAspectRows } from "../../views/aspects/sqlite/sqlite-aspect-rows.ts";
import { openSqliteGraphRows } from "../../views/graph/sqlite/sqlite-graph-rows.ts";
import { openSqliteSearchRows } from "../../views/search/sqlite/sqlite-search-rows.ts";
import { openSqliteTimeseriesRows } from "../../views/timeseries/sqlite/sqlite-timeseries-rows.ts";
import { type Places, placeOf, sharedView, type ViewName, viewFile } from "../store-locations.ts";

/** The generations beside those in place. */
export interface Beside {
  readonly next?: boolean | undefined;
  /** Staging generations in servers (Sink.staged), by view. */
  readonly staged?: Readonly<Record<string, Staged>> | undefined;
}

/** Throws `unavailable` for an embedded view that is not there; one in a server has no rows then. */
export async function openViewRows(
  config: Places,
  name: ViewName,
  { next, staged }: Beside = {},
): Promise<ViewRows> {
  return sharedView(config, name)
    ? inServers[name](placeOf(config, name), staged?.[name])
    : embedded[name](next ? stagingPath(viewFile(config, name)) : viewFile(config, name));
}

const embedded: Readonly<Record<ViewName, (path: string) => ViewRows>> = {
  aspects: openSqliteAspectRows,
  timeseries: openSqliteTimeseriesRows,
  graph: openSqliteGraphRows,
  search: openSqliteSearchRows,
};

type OpenInServer = (place: ServerPlace, staged: Staged | undefined) => Promise<ViewRows>;

const inServers: Readonly<Record<ViewName, OpenInServer>> = {
  async aspects(place, staged) {
    const { openPostgresAspectRows } = await import(
      "../../views/aspects/postgres/postgres-aspect-rows.ts"
    );
    return openPostgresAspectRows(place, staged);
  },
  async timeseries(place, staged) {
    const { openElasticsearchTimeseriesRows } = await import(
      "../../views/timeseries/elasticsearch/elasticsearch-timeseries-rows.ts"
    );
    return openElasticsearchTimeseriesRows(place, staged);
  },
  async graph(place, staged) {
    const { openNeo4jGraphRows } = await import("../../views/graph/neo4j/neo4j-graph-rows.ts");
    return openNeo4jGraphRows(place, staged);
  },
  async search(place, staged) {
    const { openElasticsearchSearchRows } = await import(
      "../../views/search/elasticsearch/elasticsearch-search-rows.ts"
    );
    return openElasticsearchSearchRows(place, staged);
  },
};
