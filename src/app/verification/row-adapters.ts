/**
 * Opens the adapter that reads the rows of a view for verification. Adapters for servers are loaded when
 * they are used.
 */

import type { Staged } from "../../projector/sink.ts";
import type { ViewRows } from "../../projector/verify/view-rows.ts";
import { stagingPath } from "../../storage/sqlite/generations.ts";
import type { ServerAddress } from "../../storage/view-origin.ts";
import { openSqliteAspectRows } from "../../views/aspects/sqlite/sqlite-aspect-rows.ts";
import { openSqliteGraphRows } from "../../views/graph/sqlite/sqlite-graph-rows.ts";
import { openSqliteSearchRows } from "../../views/search/sqlite/sqlite-search-rows.ts";
import { openSqliteTimeseriesRows } from "../../views/timeseries/sqlite/sqlite-timeseries-rows.ts";
import {
  fileOf,
  type StoreLocations,
  serverOf,
  sharedView,
  type ViewName,
} from "../store-locations.ts";

/** Selects staging generations instead of the live ones. */
export interface StagingGenerations {
  readonly next?: boolean | undefined;
  /** Staging generations in servers (Sink.staged), by view. */
  readonly staged?: Readonly<Record<string, Staged>> | undefined;
}

/** Throws `unavailable` for a missing embedded view. A missing view in a server has no rows. */
export async function openViewRows(
  config: StoreLocations,
  name: ViewName,
  { next, staged }: StagingGenerations = {},
): Promise<ViewRows> {
  return sharedView(config, name)
    ? inServers[name](serverOf(config, name), staged?.[name])
    : embedded[name](next ? stagingPath(fileOf(config, name)) : fileOf(config, name));
}

const embedded: Readonly<Record<ViewName, (path: string) => ViewRows>> = {
  aspects: openSqliteAspectRows,
  timeseries: openSqliteTimeseriesRows,
  graph: openSqliteGraphRows,
  search: openSqliteSearchRows,
};

type OpenInServer = (address: ServerAddress, staged: Staged | undefined) => Promise<ViewRows>;

const inServers: Readonly<Record<ViewName, OpenInServer>> = {
  async aspects(address, staged) {
    const { openPostgresAspectRows } = await import(
      "../../views/aspects/postgres/postgres-aspect-rows.ts"
    );
    return openPostgresAspectRows(address, staged);
  },
  async timeseries(address, staged) {
    const { openElasticsearchTimeseriesRows } = await import(
      "../../views/timeseries/elasticsearch/elasticsearch-timeseries-rows.ts"
    );
    return openElasticsearchTimeseriesRows(address, staged);
  },
  async graph(address, staged) {
    const { openNeo4jGraphRows } = await import("../../views/graph/neo4j/neo4j-graph-rows.ts");
    return openNeo4jGraphRows(address, staged);
  },
  async search(address, staged) {
    const { openElasticsearchSearchRows } = await import(
      "../../views/search/elasticsearch/elasticsearch-search-rows.ts"
    );
    return openElasticsearchSearchRows(address, staged);
  },
};
