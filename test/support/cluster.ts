/**
 * The cluster profile for a test: the stores that can be reached, a catalog of the test's own in
 * them, and nodes as processes. The log is in the test server of EventStoreDB's protocol, because a
 * real server has one log for all of its users.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { openLogReader } from "../../src/app/open-log.ts";
import { viewNames } from "../../src/app/store-locations.ts";
import { openViews } from "../../src/app/stores.ts";
import { viewRules } from "../../src/app/view-rules.ts";
import { readConfig } from "../../src/config/config.ts";
import { decodeRecord } from "../../src/log/codecs/record-codec.ts";
import { loadModel } from "../../src/model/load-model.ts";
import type { ServerAddress } from "../../src/storage/view-origin.ts";
import { openPostgresAspectReader } from "../../src/views/aspects/postgres/postgres-aspect-reader.ts";
import { openPostgresAspectRows } from "../../src/views/aspects/postgres/postgres-aspect-rows.ts";
import { openNeo4jGraphReader } from "../../src/views/graph/neo4j/neo4j-graph-reader.ts";
import { openNeo4jGraphRows } from "../../src/views/graph/neo4j/neo4j-graph-rows.ts";
import { openElasticsearchSearchReader } from "../../src/views/search/elasticsearch/elasticsearch-search-reader.ts";
import { openElasticsearchSearchRows } from "../../src/views/search/elasticsearch/elasticsearch-search-rows.ts";
import { openElasticsearchTimeseriesReader } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-reader.ts";
import { openElasticsearchTimeseriesRows } from "../../src/views/timeseries/elasticsearch/elasticsearch-timeseries-rows.ts";
import { buildViews } from "./build-views.ts";
import { createClient } from "./client.ts";
import {
  withAspectDump,
  withGraphDump,
  withSearchDump,
  withTimeseriesDump,
} from "./dumped-readers.ts";
import { findDifference } from "./find-difference.ts";
import { type Dumped, embeddedReaders } from "./rebuilt-views.ts";
import { type ServiceProcess, startService } from "./service-process.ts";
import { type ReachedStore, reachStore } from "./stores.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

export interface ClusterNode extends ServiceProcess {
  readonly client: ReturnType<typeof createClient>;
  /** The directory of the node, with its admin token. */
  readonly directory: string;
}

export interface Cluster extends AsyncDisposable {
  /** The flags of every node. */
  readonly settings: Readonly<Record<string, string>>;
  /** Starts a node in a new directory, or in the directory of a node that has ended. */
  startNode(
    roles: string,
    options?: { readonly args?: readonly string[]; readonly directory?: string },
  ): Promise<ClusterNode>;
  /** Resolves when all views of a node have reached the head of the log. */
  caughtUp(node: ClusterNode): Promise<void>;
  /** Differences between the views and views that are rebuilt from the log. */
  differences(): Promise<readonly unknown[]>;
  /**
   * Runs a statement on the aspect view without the service: `{entity}` and the like are its
   * tables.
   */
  damageAspects(statement: string): Promise<void>;
}

type Store = Pick<ReachedStore, "url">;

export const clusterStores = ["postgres", "neo4j", "elasticsearch", "kafka"] as const;
export type ClusterStore = (typeof clusterStores)[number];

const CAUGHT_UP_MS_MAX = 120_000;

const openers: Readonly<Record<string, (place: ServerAddress) => Promise<Dumped>>> = {
  aspects: async (place) =>
    withAspectDump(await openPostgresAspectReader(place), () => openPostgresAspectRows(place)),
  timeseries: async (place) =>
    withTimeseriesDump(await openElasticsearchTimeseriesReader(place), () =>
      openElasticsearchTimeseriesRows(place),
    ),
  graph: async (place) =>
    withGraphDump(await openNeo4jGraphReader(place), () => openNeo4jGraphRows(place)),
  search: async (place) =>
    withSearchDump(await openElasticsearchSearchReader(place), () =>
      openElasticsearchSearchRows(place),
    ),
};

/**
 * Views without a given store are in the directory of each node. With a given address, the log is
 * the caller's.
 */
export async function startCluster(
  stores: Readonly<Partial<Record<ClusterStore, Store>>>,
  logAddress?: string,
): Promise<Cluster> {
  const name = `t${randomBytes(5).toString("hex")}`;
  const log =
    logAddress === undefined ? await startLog() : { url: logAddress, stop: async () => {} };
  const directories: Disposable[] = [];
  const nodes: ServiceProcess[] = [];
  const { postgres, neo4j, elasticsearch, kafka } = stores;
  const settings: Readonly<Record<string, string>> = {
    ANNALS_LOG: log.url,
    ...(postgres && { ANNALS_ASPECTS: postgres.url }),
    ...(elasticsearch && {
      ANNALS_TIMESERIES: elasticsearch.url,
      ANNALS_SEARCH: elasticsearch.url,
    }),
    ...(neo4j && { ANNALS_GRAPH: neo4j.url }),
    ...(kafka && {
      ANNALS_KAFKA: `kafka://${kafka.url.replace(/^kafka:\/\//, "")}?topicPrefix=${name}.`,
    }),
    ANNALS_STORE_NAME: name,
  };

  function newDirectory(): string {
    const directory = temporaryDirectory("annals-node");
    directories.push(directory);
    return directory.path;
  }

  async function positions(node: ClusterNode): Promise<ReadonlyMap<string, number>> {
    const { body } = await node.client.get("/metrics");
    const lines = [
      ...String(body).matchAll(/^annals_(log|view)_position(?:{view="(\w+)"})? (\d+)/gm),
    ];
    return new Map(lines.map(([, , view = "log", at]) => [view, Number(at)]));
  }

  return {
    settings,
    async startNode(roles, { args = [], directory = newDirectory() } = {}) {
      const env = { ...settings, ANNALS_ROLES: roles };
      const service = await startService(directory, { env, args });
      nodes.push(service);
      return { ...service, client: createClient(service.address), directory };
    },
    async caughtUp(node) {
      const until = Date.now() + CAUGHT_UP_MS_MAX;
      for (;;) {
        const at = await positions(node);
        const log = at.get("log") ?? Number.NaN;
        if ([...at.values()].every((position) => position >= log)) return;
        if (Date.now() > until) throw new Error(`views are behind: ${JSON.stringify([...at])}`);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    async differences() {
      using directory = temporaryDirectory("annals-rebuilt");
      const config = readConfig({ data: directory.path, log: log.url }, {});
      const reading = await openLogReader(config);
      const views = await openViews({ ...config, rules: viewRules(loadModel()) });
      await buildViews({ log: reading, views, decode: decodeRecord });
      await reading.close();
      const found = [];
      for (const view of viewNames) {
        const url = settings[`ANNALS_${view.toUpperCase()}`];
        if (url === undefined) continue;
        const there = await openers[view]?.({ url, name });
        const rebuilt = embeddedReaders[view]?.(join(directory.path, `${view}.sqlite`));
        if (there === undefined || rebuilt === undefined) throw new Error(`no reader of ${view}`);
        const difference = await findDifference(there, rebuilt);
        if (difference !== undefined) found.push({ view, ...difference });
        await there.close();
        await rebuilt.close();
      }
      return found;
    },
    async damageAspects(statement) {
      const client = new pg.Client({ connectionString: postgres?.url });
      await client.connect();
      try {
        const { rows } = await client.query(`SELECT generation FROM "${name}".view WHERE live`);
        const table = `"${name}".$1_g${rows[0]?.generation}`;
        await client.query(statement.replaceAll(/\{(\w+)\}/g, table));
      } finally {
        await client.end();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node.stop("SIGKILL");
      await log.stop();
      for (const directory of directories) directory[Symbol.dispose]();
    },
  };
}

async function startLog(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const main = fileURLToPath(new URL("eventstoredb-server/main.ts", import.meta.url));
  const child = spawn(process.execPath, [main], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return {
    url,
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/**
 * Reaches every store of the profile, or the given ones; returns the reason if one is not
 * available.
 */
export async function reachCluster<Name extends ClusterStore = ClusterStore>(
  names: readonly Name[] = clusterStores as readonly ClusterStore[] as readonly Name[],
): Promise<Readonly<Record<Name, Store>> | { readonly skipped: string }> {
  const reached: Partial<Record<ClusterStore, Store>> = {};
  for (const store of names) {
    const found = await reachStore(store);
    if ("skipped" in found) return { skipped: `${store}: ${found.skipped}` };
    reached[store] = found;
  }
  return reached as Record<ClusterStore, Store>;
}
