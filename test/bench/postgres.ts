/**
 * The aspect table on PostgreSQL against the raw driver on the same tables in the same server:
 * multi-row upserts for the projection, the same query for reads. Warm, in alternating rounds, by
 * medians.
 */
import { createHash, randomBytes } from "node:crypto";
import pg from "pg";
import { position, revision } from "../../src/core/position.ts";
import type { AspectWrite } from "../../src/views/aspects/aspect-table.ts";
import { openPostgresAspectReader } from "../../src/views/aspects/postgres/postgres-aspect-reader.ts";
import { openPostgresAspectSink } from "../../src/views/aspects/postgres/postgres-aspect-sink.ts";
import { questionsOf } from "../../src/views/aspects/postgres/queries.ts";
import { TABLES_VERSION, type Tables, tablesOf } from "../../src/views/aspects/postgres/schema.ts";
import { reachStore } from "../support/stores.ts";
import { median } from "./load.ts";
import { rate, report } from "./report.ts";
import { ownershipOf, propertiesOf, urnOf } from "./sample.ts";

const BATCH = 2_000;
const BATCHES_PER_ROUND = 10;
const ROUNDS = 7;
const READS_PER_ROUND = 4_000;
const CALLERS = 8;
const TARGET = 0.7;

export async function benchPostgres(): Promise<void> {
  const store = await reachStore("postgres");
  if ("skipped" in store) {
    report("PostgreSQL", `left out: ${store.skipped}`);
    return;
  }
  const { url } = store;
  const places = ["sink", "raw"].map((what) => `bench_${what}_${randomBytes(4).toString("hex")}`);
  const [name = "", rawName = ""] = places;
  const raw = new pg.Pool({ connectionString: url, max: CALLERS });
  try {
    await benchProjection(url, name, rawName, raw);
    await benchReads(url, name, raw);
  } finally {
    for (const place of places) await raw.query(`DROP SCHEMA IF EXISTS "${place}" CASCADE`);
    await raw.end();
  }
}

async function benchProjection(url: string, name: string, rawName: string, raw: pg.Pool) {
  const sink = await openPostgresAspectSink({ url, name });
  // Creates the same tables for the raw client.
  await (await openPostgresAspectSink({ url, name: rawName })).close();
  const rawTables = tablesOf(rawName, 1);
  const client = await raw.connect();
  const ids = new Map<string, number>();
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const batches = batchesOf(round);
    const apply = async () => {
      for (const batch of batches) await sink.apply(batch, batch.at(-1)?.position ?? position(0));
    };
    const upsert = async () => {
      for (const batch of batches) await upsertRaw(client, rawTables, batch, ids);
    };
    await byTurns(round, [apply, ours], [upsert, theirs]);
  }
  client.release();
  await sink.close();
  const records = BATCH * BATCHES_PER_ROUND;
  report("PostgreSQL: multi-row upserts, raw", rate(records / median(theirs)));
  report("PostgreSQL: projection of aspects", rate(records / median(ours)), {
    ratio: median(theirs.map((seconds, n) => seconds / (ours[n] ?? Infinity))),
    target: TARGET,
    of: "raw upserts",
  });
}

async function benchReads(url: string, name: string, raw: pg.Pool) {
  const reader = await openPostgresAspectReader({ url, name });
  const tables = tablesOf(name, 1);
  const { rows } = await raw.query(`SELECT edition FROM ${tables.view} WHERE live`);
  const text = questionsOf(tables).states;
  const clients = await Promise.all(Array.from({ length: CALLERS }, () => raw.connect()));
  for (const client of clients) {
    await client.query("SET plan_cache_mode = force_generic_plan; SET jit = off");
    await client.query("SET enable_seqscan = off; SET enable_hashjoin = off");
  }
  const entities = Math.floor((BATCH * BATCHES_PER_ROUND) / 3);
  const some = (n: number) => urnOf((n * 7_919) % entities);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const get = () =>
      called(async (_, n) => {
        await reader.getEntities([some(n)]);
      });
    const query = () =>
      called(async (caller, n) => {
        await clients[caller]?.query({
          ...{ name: "raw", text, rowMode: "array" },
          values: [rows[0]?.generation, TABLES_VERSION, [String(hashOf(some(n)))]],
        });
      });
    await byTurns(round, [get, ours], [query, theirs]);
  }
  for (const client of clients) client.release();
  await reader.close();
  report("PostgreSQL: query of an entity, raw", rate(READS_PER_ROUND / median(theirs)));
  report("PostgreSQL: getEntities of one urn", rate(READS_PER_ROUND / median(ours)), {
    ratio: median(theirs.map((seconds, n) => seconds / (ours[n] ?? Infinity))),
    target: TARGET,
    of: "the raw query",
  });
}

/**
 * Batches like those of a loader: new datasets with three aspects, and existing ones in every
 * fourth batch.
 */
function batchesOf(round: number): readonly (readonly AspectWrite[])[] {
  const perBatch = Math.floor(BATCH / 3);
  return Array.from({ length: BATCHES_PER_ROUND }, (_, b) => {
    const number = round * BATCHES_PER_ROUND + b;
    const again = b % 4 === 3;
    const first = (again ? number - 1 : number) * perBatch;
    return Array.from({ length: perBatch }, (_, n) => writesOf(first + n, again ? 2 : 1))
      .flat()
      .map((write, n) => ({ ...write, position: position(number * BATCH + n + 1) }));
  });
}

function writesOf(n: number, version: number): readonly Extract<AspectWrite, { op: "value" }>[] {
  const aspects = {
    datasetKey: { name: `table_${n}`, origin: "PROD" },
    datasetProperties: propertiesOf(n, version),
    ownership: ownershipOf(n),
  };
  return Object.entries(aspects).map(([aspect, value], i) => ({
    op: "value" as const,
    ...{ urn: urnOf(n), aspect, entityType: "dataset", key: i === 0, version },
    ...{ position: position(0), revision: revision(i + 3 * (version - 1)) },
    ...{ value: JSON.stringify(value), time: 1_700_000_000_000 + n },
    actor: "urn:li:corpuser:loader",
    system: `{"lastObserved":${1_700_000_000_000 + n},"runId":"bench-2026-11-21","version":"${version}"}`,
  }));
}

/** Writes the same rows with the statements alone: ids are known, and nothing is looked up. */
async function upsertRaw(
  client: pg.PoolClient,
  { entity, aspectValue, view }: Tables,
  batch: readonly AspectWrite[],
  ids: Map<string, number>,
) {
  const values = batch.filter((write) => write.op === "value");
  const fresh: string[] = [];
  for (const { urn } of values) {
    if (ids.has(urn)) continue;
    ids.set(urn, ids.size + 1);
    fresh.push(urn);
  }
  const aspects = ["datasetKey", "datasetProperties", "ownership"];
  await client.query("BEGIN");
  await client.query({
    name: "raw_entities",
    text: `INSERT INTO ${entity} (id, hash, kind, living, urn)
      SELECT id, hash, 1, true, urn FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS t (id, hash, urn)
      ON CONFLICT (id) DO NOTHING`,
    values: [fresh.map((urn) => ids.get(urn)), fresh.map((urn) => String(hashOf(urn))), fresh],
  });
  await client.query({
    name: "raw_values",
    text: `INSERT INTO ${aspectValue}
        (entity, aspect, version, position, revision, time, actor, system, value)
      SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::bigint[], $5::bigint[],
        $6::bigint[], $7::text[], $8::text[], $9::text[])
      ON CONFLICT (entity, aspect, version) DO UPDATE SET
        position = excluded.position, revision = excluded.revision, time = excluded.time,
        actor = excluded.actor, system = excluded.system, value = excluded.value`,
    values: [
      values.map(({ urn }) => ids.get(urn)),
      values.map(({ aspect }) => aspects.indexOf(aspect) + 1),
      values.map(({ version }) => version),
      values.map(({ position }) => position),
      values.map(({ revision }) => revision),
      values.map(({ time }) => time),
      values.map(({ actor }) => actor),
      values.map(({ system }) => system),
      values.map(({ value }) => value),
    ],
  });
  await client.query(`UPDATE ${view} SET position = $1`, [batch.at(-1)?.position]);
  await client.query("COMMIT");
}

const hashOf = (urn: string): bigint => createHash("sha256").update(urn).digest().readBigInt64BE();

/** Runs the given number of reads, with several concurrent callers. */
async function called(read: (caller: number, n: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async (_, caller) => {
      while (next < READS_PER_ROUND) await read(caller, next++);
    }),
  );
}

type Contender = readonly [work: () => Promise<void>, seconds: number[]];

/**
 * The sides alternate, because the second one finds a warmer machine; the first round only warms
 * up.
 */
async function byTurns(round: number, one: Contender, other: Contender): Promise<void> {
  for (const [work, seconds] of round % 2 === 0 ? [one, other] : [other, one]) {
    const taken = await secondsOf(work);
    if (round > 0) seconds.push(taken);
  }
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}
