/**
 * The disk usage of a catalog in each store: tables as in a warehouse (ten aspects each, 24
 * columns), one aspect changed once, two profiles. Every store that this machine can run is filled.
 * docker/sizing.md is computed from these figures.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { projectFeed } from "../../projections/feed.ts";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog, openLogReader } from "../../src/app/open-log.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import type { Change } from "../../src/core/change.ts";
import { EMPTY_STREAM } from "../../src/core/position.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import { createEventCodec } from "../../src/feed/event-codec.ts";
import { openKafkaFeedSink } from "../../src/feed/kafka/kafka-feed-sink.ts";
import { createPlatformEvents } from "../../src/feed/platform-events.ts";
import { createFeedView } from "../../src/feed/previous-values.ts";
import type { Append } from "../../src/log/change-log.ts";
import { decodeRecord, encodeChange } from "../../src/log/codecs/record-codec.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { openSqliteAspectReader } from "../../src/views/aspects/sqlite/sqlite-aspect-reader.ts";
import { buildViews } from "../support/build-views.ts";
import type { OwnStore } from "../support/servers/store-keeper.ts";
import { ownStore, type StoreName, storeTitle } from "../support/stores.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { report } from "./report.ts";
import { ownershipOf, profileOf, propertiesOf, urnOf } from "./sample.ts";

const entities = 20_000;
const columns = 24;
const upstreamsEach = 2;
const profilesEach = 2;
const entitiesPerAppend = 200;

export async function benchSizes(): Promise<void> {
  using directory = temporaryDirectory("annals-bench");
  const config = readConfig({ data: directory.path }, {});
  const { records, valueBytes } = await fill(config);
  const versions = records - entities * profilesEach;
  report("values, as JSON text", perUnit(valueBytes, records, "record"));
  await rebuildViews(config, []);
  const file = (name: string) => statSync(join(directory.path, `${name}.sqlite`)).size;
  report("log, embedded", perUnit(file("log"), records, "record"));
  report("aspect table, embedded", perUnit(file("aspects"), versions, "version"));
  report("timeseries, embedded", perUnit(file("timeseries"), entities * profilesEach, "event"));
  report("graph, embedded", perUnit(file("graph"), entities, "entity"));
  report("search, embedded", perUnit(file("search"), entities, "entity"));

  await inServer("postgres", async ({ url }) => {
    await rebuildViews({ ...config, aspects: url }, ["aspects"]);
    return ["aspect table", perUnit(await postgresBytes(url), versions, "version")];
  });
  await inServer("elasticsearch", async ({ url }) => {
    await rebuildViews({ ...config, timeseries: url }, ["timeseries"]);
    const bytes = await elasticsearchBytes(url);
    return ["timeseries", perUnit(bytes, entities * profilesEach, "event")];
  });
  await inServer("elasticsearch", async ({ url }) => {
    await rebuildViews({ ...config, search: url }, ["search"]);
    return ["search", perUnit(await elasticsearchBytes(url), entities, "entity")];
  });
  await inServer("neo4j", async (server) => {
    const stores = join(server.folder, "data", "data", "databases", "neo4j");
    const empty = bytesIn(stores);
    await rebuildViews({ ...config, graph: server.url }, ["graph"]);
    // A recovery writes the contents of the memory to files.
    await server.kill();
    await server.start();
    return ["graph", perUnit(bytesIn(stores) - empty, entities, "entity")];
  });
  await inServer("kafka", async ({ url, folder }) => {
    await sendEvents(config, url);
    const bytes = bytesIn(join(folder, "data"), /MetadataChangeLog.*\.log$/);
    return ["topics", perUnit(bytes, records, "event")];
  });
}

const perUnit = (bytes: number, count: number, unit: string): string =>
  `${Math.round(bytes / count).toLocaleString("en")} B a ${unit}`;

async function rebuildViews(config: Config, views: readonly string[]): Promise<void> {
  await rebuild(config, { views, onProgress: () => {}, logger: createLogger("silent") });
}

async function inServer(
  name: StoreName,
  measure: (server: OwnStore) => Promise<[string, string]>,
): Promise<void> {
  const store = await ownStore(name);
  if ("skipped" in store) return report(storeTitle(name, store), store.skipped);
  try {
    const [what, figure] = await measure(store);
    report(`${what}, ${storeTitle(name, store)}`, figure);
  } finally {
    await store.stop();
  }
}

async function postgresBytes(url: string): Promise<number> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rows } = await client.query(
      `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
       WHERE relkind = 'r' AND nspname NOT IN ('pg_catalog', 'information_schema')`,
    );
    return Number(rows[0]?.bytes);
  } finally {
    await client.end();
  }
}

async function elasticsearchBytes(url: string): Promise<number> {
  await fetch(`${url}/_flush?wait_if_ongoing=true`, { method: "POST" });
  const answer = await fetch(`${url}/_stats/store`);
  const { _all } = (await answer.json()) as {
    _all: { primaries: { store: { size_in_bytes: number } } };
  };
  return _all.primaries.store.size_in_bytes;
}

/** The sizes of the files, whether or not the blocks are allocated. */
function bytesIn(folder: string, wanted = /./): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => wanted.test(path))
    .reduce((sum, path) => sum + statSync(path).size, 0);
}

/** Sends every record as an event with its previous value. */
async function sendEvents(config: Config, url: string): Promise<void> {
  const log = await openLogReader(config);
  const codec = createEventCodec({ findSchema: async () => undefined });
  const sink = await openKafkaFeedSink({
    url,
    name: "annals",
    codec,
    platformEventsOf: createPlatformEvents({}),
  });
  const history = openSqliteAspectReader(join(config.data, "aspects.sqlite"));
  const feed = createFeedView({ name: "kafka", project: projectFeed, sink, history });
  try {
    await buildViews({ log, views: [feed as never], decode: decodeRecord });
  } finally {
    await log.close();
  }
}

async function fill(config: Config): Promise<{ records: number; valueBytes: number }> {
  const log = await openLog(config);
  let records = 0;
  let valueBytes = 0;
  let appends: Append[] = [];
  const encoded = (changes: readonly Change[]): readonly Uint8Array[] => {
    records += changes.length;
    for (const { value } of changes) valueBytes += Buffer.byteLength(value ?? "");
    return changes.map(encodeChange);
  };
  for (let n = 0; n < entities; n++) {
    const changes = [...Object.entries(aspectsOf(n))].map(([aspect, value]) =>
      changeOf(n, aspect, value, "1"),
    );
    const edited = changeOf(n, "datasetProperties", propertiesOf(n, 1), "2");
    appends.push({
      stream: entityStream(urnOf(n)),
      expected: EMPTY_STREAM,
      records: encoded([...changes, edited]),
    });
    for (let generation = 0; generation < profilesEach; generation++) {
      const profile = changeOf(n, "datasetProfile", profileOf(n, generation), "1");
      appends.push({
        stream: timeseriesStream(urnOf(n), "datasetProfile"),
        expected: "any",
        records: encoded([profile]),
      });
    }
    if (n % entitiesPerAppend === entitiesPerAppend - 1) {
      await log.append(appends);
      appends = [];
    }
  }
  await log.close();
  return { records, valueBytes };
}

const stamp = { time: 1_700_000_000_000, actor: "urn:li:corpuser:loader" };

function changeOf(n: number, aspect: string, value: object, version: string): Change {
  const time = stamp.time + n;
  return {
    urn: urnOf(n),
    entityType: "dataset",
    aspect,
    changeType: "UPSERT",
    value: JSON.stringify(value),
    created: { ...stamp, time },
    system: {
      lastObserved: time,
      runId: "bench-2026-11-21",
      version,
      ...(version !== "1" && { lastRunId: "bench-2026-11-20" }),
    },
  };
}

/** The ten aspects of a table, as a crawler and users write them. */
const aspectsOf = (n: number): Readonly<Record<string, object>> => ({
  datasetKey: {
    platform: "urn:li:dataPlatform:snowflake",
    name: `warehouse.domain_${n % 97}.schema_${n % 13}.table_${n}`,
    origin: "PROD",
  },
  datasetProperties: propertiesOf(n, 0),
  ownership: ownershipOf(n),
  status: { removed: false },
  subTypes: { typeNames: ["Table"] },
  globalTags: {
    tags: [n % 50, n % 70, n % 90].map((tag) => ({ tag: `urn:li:tag:subject_${tag}` })),
  },
  glossaryTerms: {
    terms: [{ urn: `urn:li:glossaryTerm:business.term_${n % 300}` }],
    auditStamp: stamp,
  },
  schemaMetadata: schemaOf(n),
  upstreamLineage: {
    upstreams: Array.from({ length: upstreamsEach }, (_, i) => ({
      auditStamp: stamp,
      dataset: urnOf((n * 31 + i * 7_919) % entities),
      type: "TRANSFORMED",
    })),
  },
  browsePathsV2: {
    path: ["warehouse", `domain_${n % 97}`, `schema_${n % 13}`].map((id) => ({ id })),
  },
});

const schemaOf = (n: number): object => ({
  schemaName: `table_${n}`,
  platform: "urn:li:dataPlatform:snowflake",
  version: 0,
  hash: "",
  platformSchema: { "com.linkedin.schema.OtherSchema": { rawSchema: "" } },
  fields: Array.from({ length: columns }, (_, i) => ({
    fieldPath: `column_${(n + i * 13) % 700}`,
    nullable: i > 0,
    description: i % 3 === 0 ? `What column ${i} of the table says of event kind ${n % 31}` : "",
    type: { type: { "com.linkedin.schema.StringType": {} } },
    nativeDataType: "VARCHAR(256)",
    recursive: false,
  })),
});

if (import.meta.main) await benchSizes();
