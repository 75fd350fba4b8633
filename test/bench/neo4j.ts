/**
 * The graph on Neo4j against its driver alone, in turns on the same server: the same edges written
 * by plain UNWIND and MERGE, and the same page read by one query.
 */
import { randomBytes } from "node:crypto";
import neo4j, { type Driver } from "neo4j-driver";
import { type Position, position } from "../../src/core/position.ts";
import type { GraphReader, GraphSink, GraphWrite } from "../../src/views/graph/graph.ts";
import { openNeo4jGraphReader } from "../../src/views/graph/neo4j/neo4j-graph-reader.ts";
import { openNeo4jGraphSink } from "../../src/views/graph/neo4j/neo4j-graph-sink.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { rate, report } from "./report.ts";

const RAW = "the raw driver";
const TARGET = 0.7;
const ENTITIES_PER_BATCH = 1_000;
const WARM_BATCHES = 8;
const BATCHES = 20;
const READS = 2_000;
const WARM_READS = 500;
const HUB_READS = 12;

export async function benchNeo4j(): Promise<void> {
  const store = await reachStore("neo4j");
  console.log(storeTitle("neo4j", store));
  if ("skipped" in store) return;
  const name = `bench_${randomBytes(4).toString("hex")}`;
  const url = new URL(store.url);
  const driver = neo4j.driver(
    `${url.protocol}//${url.host}`,
    neo4j.auth.basic(url.username, url.password),
    { disableLosslessIntegers: true },
  );
  const place = { url: store.url, name };
  const sink = await openNeo4jGraphSink(place);
  const reader = await openNeo4jGraphReader(place);
  const raw = createRawGraph(driver, `${name}_graph_raw`);
  try {
    await raw.open();
    await benchWrites(sink, raw);
    await benchPages(reader, raw);
  } finally {
    await reader.close();
    await sink.close();
    await removeAll(driver, name);
    await driver.close();
  }
}

const dataset = (n: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,warehouse.sales.table_${n},PROD)`;
const owner = (n: number): string => `urn:li:corpuser:owner${n % 97}`;
const stamp = { time: 1_790_000_000_000, actor: "urn:li:corpuser:ingestion" };
/** Common upstream datasets of all datasets. */
const HUB = dataset(-1);

type ReplaceWrite = Extract<GraphWrite, { op: "replace" }>;

/** Lineage and owners of some datasets; `shift` changes one edge of three. */
function batchOf(from: number, at: number, shift: number): readonly ReplaceWrite[] {
  const writes: ReplaceWrite[] = [];
  const write = (urn: string, aspect: string, type: string, path: string, ends: string[]) => {
    const edges = ends.map((destination) => ({ source: urn, type, destination, path }));
    const place = position(at + writes.length + 1);
    writes.push({ op: "replace", urn, aspect, position: place, stamp, edges });
  };
  for (let n = from; n < from + ENTITIES_PER_BATCH; n++) {
    const ends = [HUB, dataset((n * 7) % (from + 1_000)), dataset((n * 13 + shift) % (from + 999))];
    const upstreams = [...new Set(ends)];
    write(dataset(n), "upstreamLineage", "DownstreamOf", "/upstreams/*/dataset", upstreams);
    write(dataset(n), "ownership", "OwnedBy", "/owners/*/owner", [owner(n), owner(n + 1 + shift)]);
  }
  return writes;
}

async function benchWrites(sink: GraphSink, raw: RawGraph): Promise<void> {
  let at = 0;
  const times = { sink: [0, 0], raw: [0, 0] };
  for (let n = 0; n < WARM_BATCHES + BATCHES; n++) {
    // New entities, and every second time half of them again.
    const again = n % 2;
    const from = Math.floor(n / 2) * ENTITIES_PER_BATCH;
    const writes = batchOf(from, at, again);
    at += writes.length;
    const upTo = position(at);
    const turns = [
      ["sink", () => sink.apply(writes, upTo)],
      ["raw", () => raw.apply(writes, upTo)],
    ] as const;
    for (const [who, turn] of n % 4 < 2 ? turns : turns.toReversed()) {
      const seconds = await timed(turn);
      if (n >= WARM_BATCHES) times[who][again] = (times[who][again] ?? 0) + seconds;
    }
  }
  const edges = (BATCHES / 2) * ENTITIES_PER_BATCH * 5;
  for (const [again, what] of [
    "graph on neo4j: new edges",
    "graph on neo4j: written again",
  ].entries()) {
    const own = times.sink[again] ?? 0;
    const ratio = (times.raw[again] ?? 0) / own;
    report(what, rate(edges / own), { ratio, target: TARGET, of: RAW });
  }
}

async function benchPages(reader: GraphReader, raw: RawGraph): Promise<void> {
  const page = { direction: "OUTGOING", types: ["DownstreamOf"], start: 0, count: 100 } as const;
  const hub = { ...page, urn: HUB, direction: "INCOMING" } as const;
  let n = 0;
  const next = (): string => dataset(n++ % (ENTITIES_PER_BATCH * 5));
  const times = { reader: 0, raw: 0, hub: 0, rawHub: 0 };
  for (let round = 0; round < 6; round++) {
    const reads = round === 0 ? WARM_READS : READS / 5;
    const own = await timed(() => repeat(reads, () => reader.neighbours({ ...page, urn: next() })));
    const other = await timed(() => repeat(reads, () => raw.page(next(), "OUTGOING")));
    const ownHub = await timed(() => repeat(HUB_READS, () => reader.neighbours(hub)));
    const otherHub = await timed(() => repeat(HUB_READS, () => raw.page(HUB, "INCOMING")));
    if (round === 0) continue;
    times.reader += own;
    times.raw += other;
    times.hub += ownHub;
    times.rawHub += otherHub;
  }
  report("graph on neo4j: neighbours", rate(READS / times.reader), {
    of: RAW,
    ratio: times.raw / times.reader,
    target: TARGET,
  });
  report("graph on neo4j: first page of a hub", rate((HUB_READS * 5) / times.hub), {
    of: RAW,
    ratio: times.rawHub / times.hub,
    target: TARGET,
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

async function repeat(times: number, work: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < times; n++) await work();
}

type RawGraph = ReturnType<typeof createRawGraph>;

/** Writes and reads the same edges with the driver alone. */
function createRawGraph(driver: Driver, label: string) {
  const removing = `UNWIND $rows AS row
    MATCH (s:${label} {urn: row.urn})-[r]->(d)
    WHERE r.aspect = row.aspect AND NOT d.urn IN row.destinations DELETE r`;
  const merging = (type: string): string => `UNWIND $rows AS row
    MERGE (s:${label} {urn: row.source}) MERGE (d:${label} {urn: row.destination})
    MERGE (s)-[r:${type} {aspect: row.aspect}]->(d)
    ON CREATE SET r.position = row.position, r.ordinal = row.ordinal,
      r.createdOn = row.time, r.createdActor = row.actor
    SET r.path = row.path, r.updatedOn = row.time, r.updatedActor = row.actor`;
  const reading = (direction: "OUTGOING" | "INCOMING"): string => {
    const edge = direction === "OUTGOING" ? "-[r:DownstreamOf]->" : "<-[r:DownstreamOf]-";
    return `MATCH (n:${label} {urn: $urn})${edge}(m)
      WITH n, r, m ORDER BY r.position, r.ordinal SKIP $start LIMIT $count
      WITH n, collect([m.urn, r.via]) AS page
      RETURN page, COUNT { (n)${edge.replace("[r", "[")}() } AS total`;
  };

  return {
    async open(): Promise<void> {
      await driver.executeQuery(
        `CREATE CONSTRAINT ${label} FOR (n:${label}) REQUIRE n.urn IS UNIQUE`,
      );
      await driver.executeQuery(`CREATE (:${label}_view {position: 0})`);
    },

    async apply(writes: readonly ReplaceWrite[], upTo: Position): Promise<void> {
      const session = driver.session();
      try {
        await session.executeWrite(async (transaction) => {
          const rows = writes.map(({ urn, aspect, edges }) => ({
            ...{ urn, aspect, destinations: edges.map((edge) => edge.destination) },
          }));
          await transaction.run(removing, { rows: rows });
          const edges = writes.flatMap((write) =>
            write.edges.map((edge, ordinal) => ({
              ...edge,
              aspect: write.aspect,
              position: neo4j.int(write.position),
              ordinal: neo4j.int(ordinal),
              time: neo4j.int(write.stamp.time),
              actor: write.stamp.actor,
            })),
          );
          for (const [type, rows] of Map.groupBy(edges, (edge) => edge.type)) {
            await transaction.run(merging(type), { rows });
          }
          await transaction.run(`MATCH (v:${label}_view) SET v.position = $upTo`, {
            upTo: neo4j.int(upTo),
          });
        });
      } finally {
        await session.close();
      }
    },

    async page(urn: string, direction: "OUTGOING" | "INCOMING"): Promise<unknown> {
      const session = driver.session({ defaultAccessMode: "READ" });
      try {
        const parameters = { urn, start: neo4j.int(0), count: neo4j.int(100) };
        return (await session.run(reading(direction), parameters)).records.map((one) =>
          one.toObject(),
        );
      } finally {
        await session.close();
      }
    },
  };
}

async function removeAll(driver: Driver, name: string): Promise<void> {
  const { records } = await driver.executeQuery("SHOW CONSTRAINTS YIELD name RETURN name");
  const labels = records.map((one) => String(one.get("name")));
  for (const label of [`${name}_graph_raw_view`, ...labels]) {
    if (!label.startsWith(`${name}_`)) continue;
    const session = driver.session();
    await session.run(
      `MATCH (n:${label}) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS`,
    );
    await session.run(`DROP CONSTRAINT ${label} IF EXISTS`);
    await session.close();
  }
}
