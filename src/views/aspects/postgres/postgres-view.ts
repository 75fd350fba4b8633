/**
 * The view's metadata in PostgreSQL: the live generation, its position, its model and log. This file
 * creates and drops all tables, in transactions with an advisory lock, so that several processes may
 * start at once.
 */
import { createHash } from "node:crypto";
import { CatalogError } from "../../../core/errors.ts";
import { type Position, position } from "../../../core/position.ts";
import { ownCommand } from "../../../lib/command-hint.ts";
import {
  checkNotBehind,
  compareOrigin,
  type ServerView,
  severalModels,
} from "../../../storage/view-origin.ts";
import {
  type Connections,
  isMissing,
  type PostgresConnection,
  type PostgresRow,
  requireUtf8,
} from "./postgres-connection.ts";
import {
  tables as createTables,
  dropTables,
  metadata,
  migrations,
  TABLES_VERSION,
  type Tables,
  tablesOf,
  VIEW,
} from "./schema.ts";

/** One generation: a row of the metadata. */
export interface Generation {
  readonly tables: Tables;
  readonly uuid: string;
  readonly position: Position;
  readonly turn: number;
  readonly lastEntity: number;
  /** Name of the record at the position; undefined when the view has none. */
  readonly record: string | undefined;
}

/** Timeout of a migration step, which may have to rewrite all rows. */
const MIGRATION_MS_MAX = 24 * 3_600_000;

/** Tables of earlier releases have no column `record`: it is null there. */
const COLUMNS =
  "generation, edition, version, position, turn, last_entity, to_jsonb(view) ->> 'record'";

/**
 * Prepares the view for writes: creates missing tables, migrates tables of an earlier release, and
 * resets a view of another log or model. With `bulk` it creates a staging generation, and drops
 * staging generations of earlier rebuilds.
 */
export async function prepareView(connections: Connections, view: ServerView): Promise<Generation> {
  const prepared = await exclusively(connections, view.name, async (connection) => {
    await requireUtf8(connection, connections.server);
    await createMetadata(connection, view.name);
    if (view.bulk) {
      for (const leftover of await leftovers(connection, view.name)) {
        await drop(connection, leftover);
      }
      return { generation: await create(connection, view, false), old: undefined, why: undefined };
    }
    await migrate(connection, view.name);
    const live = await findLive(connection, view.name, true);
    if (live === undefined) {
      return { generation: await create(connection, view, true), old: undefined, why: undefined };
    }
    if (!(await isWhole(connection, live.tables))) {
      return { generation: await replace(connection, view, live), old: live, why: undefined };
    }
    const verdict = await judgeLive(connection, live, view);
    if (verdict === "own" || verdict === "stale") view.onStale?.(verdict === "stale");
    if (verdict === "own" || verdict === "stale" || verdict === "ahead") {
      return { generation: live, old: undefined, why: undefined };
    }
    const generation = await replace(connection, view, live);
    return { generation, old: live, why: live.position > 0 ? verdict : undefined };
  });
  if (prepared.old !== undefined) await dropLater(connections, view.name, prepared.old.tables);
  if (prepared.why !== undefined) view.onEmptied?.(prepared.why);
  return prepared.generation;
}

/** Replaces the live generation by an empty one, and drops the old one. */
export async function resetView(connections: Connections, view: ServerView): Promise<Generation> {
  const { old, generation } = await exclusively(connections, view.name, async (connection) => {
    await createMetadata(connection, view.name);
    const old = await findLive(connection, view.name, true);
    return { old, generation: await replace(connection, view, old) };
  });
  if (old !== undefined) await dropLater(connections, view.name, old.tables);
  return generation;
}

/** Empties a generation that is not live. */
export async function resetStaging(
  connections: Connections,
  view: ServerView,
  staging: Generation,
): Promise<Generation> {
  return exclusively(connections, view.name, async (connection) => {
    await drop(connection, staging.tables);
    return create(connection, view, false);
  });
}

/**
 * Makes a staging generation live. Resolves with a function that drops the old one, and waits for its
 * readers.
 */
export async function publish(
  connections: Connections,
  view: ServerView,
  { staged, head }: { readonly staged: Generation; readonly head?: Position },
): Promise<() => Promise<void>> {
  const { tables } = staged;
  const own = [tables.aspectName, tables.entityKind, tables.entity, tables.aspectValue];
  for (const table of own) await connections.query({ text: `ANALYZE ${table}` });
  const old = await exclusively(connections, view.name, async (connection) => {
    // This commit also makes all earlier writes durable.
    await connection.query({ text: "SET LOCAL synchronous_commit = on" });
    // The old generation may be of any release.
    const rows = await connection.query({
      text: `UPDATE ${tables.view} SET live = false WHERE name = $1 AND live
        RETURNING generation, position`,
      values: [VIEW],
    });
    for (const [, at] of rows) {
      checkNotBehind(VIEW, { own: staged.position, live: position(Number(at)), head });
    }
    if (!(await setLive(connection, tables, true, staged.uuid))) throw gone(view.name);
    return rows.map(([generation]) => tablesOf(view.name, Number(generation)));
  });
  return async () => {
    for (const tables of old) await dropLater(connections, view.name, tables);
  };
}

/** Drops a staging generation. */
export async function discard(connections: Connections, name: string, staged: Generation) {
  await exclusively(connections, name, (connection) => drop(connection, staged.tables));
}

/**
 * The live generation; undefined if there is no view. Throws `unavailable` if another release created
 * it.
 */
async function findLive(
  connection: PostgresConnection,
  name: string,
  lock = false,
): Promise<Generation | undefined> {
  const { view } = tablesOf(name, 0);
  const [row] = await connection.query({
    text: `SELECT ${COLUMNS} FROM ${view} WHERE name = $1 AND live ${lock ? "FOR UPDATE" : ""}`,
    values: [VIEW],
  });
  if (row === undefined) return undefined;
  checkVersion(Number(row[2]));
  return generationOf(name, row);
}

/** Locks the row of a generation until the transaction ends. */
export async function lockGeneration(
  connection: PostgresConnection,
  tables: Tables,
): Promise<{ readonly live: boolean; readonly generation: Generation } | undefined> {
  const [row] = await connection.query({
    text: `SELECT ${COLUMNS}, live FROM ${tables.view}
      WHERE name = $1 AND generation = $2 FOR UPDATE`,
    values: [VIEW, tables.generation],
  });
  if (row === undefined) return undefined;
  checkVersion(Number(row[2]));
  return { live: row[7] === "t", generation: { ...generationOf("", row), tables } };
}

/** `model`: model of the writer; a view that several models were written to has none. */
export async function saveGeneration(
  connection: PostgresConnection,
  generation: Generation,
  model: string | undefined,
): Promise<void> {
  const { tables, position, turn, lastEntity, record } = generation;
  await connection.query({
    name: "annals_save_generation",
    text: `UPDATE ${tables.view} SET position = $3, turn = $4, last_entity = $5,
      model = CASE WHEN $6::text IS NULL OR model = $6 THEN model ELSE $7 END, record = $8
      WHERE name = $1 AND generation = $2`,
    values: [
      ...[VIEW, tables.generation, position, turn, lastEntity],
      ...[model ?? null, severalModels, record ?? null],
    ],
  });
}

export const gone = (name: string): CatalogError =>
  new CatalogError("conflict", `another process changed the view "${VIEW}" in "${name}"`, {
    hint: "It was emptied, rebuilt or dropped; this process continues from its current position",
  });

/**
 * Migrates the live generation to the tables of this release, if an earlier one created it. Runs in the
 * transaction that prepares the view, so that a failure changes nothing.
 */
async function migrate(connection: PostgresConnection, name: string): Promise<void> {
  const { view } = tablesOf(name, 0);
  const [row] = await connection.query({
    text: `SELECT generation, version FROM ${view} WHERE name = $1 AND live FOR UPDATE`,
    values: [VIEW],
  });
  if (row === undefined) return;
  const found = Number(row[1]);
  if (found >= TABLES_VERSION) return;
  const tables = tablesOf(name, Number(row[0]));
  await connection.query({ text: "SET LOCAL statement_timeout = 0" });
  for (const { to, statements } of migrations) {
    if (to <= found) continue;
    await connection.query({ text: statements(tables), timeoutMs: MIGRATION_MS_MAX });
  }
  await connection.query({
    text: `UPDATE ${view} SET version = $3 WHERE name = $1 AND generation = $2`,
    values: [VIEW, tables.generation, TABLES_VERSION],
  });
}

function checkVersion(version: number): void {
  if (version === TABLES_VERSION) return;
  const newer = version > TABLES_VERSION;
  throw new CatalogError(
    "unavailable",
    `the view "${VIEW}" was created by ${newer ? "a newer" : "an older"} release (its tables have version ${version}, this release has ${TABLES_VERSION})`,
    {
      hint: newer
        ? `Start that release, or run: ${ownCommand(`rebuild ${VIEW}`)}`
        : "A node of this release with the role projector migrates it when it starts",
    },
  );
}

async function createMetadata(connection: PostgresConnection, name: string): Promise<void> {
  const names = tablesOf(name, 0);
  const [found] = await connection.query({
    text: `SELECT to_regnamespace($1) IS NOT NULL, to_regclass($2) IS NOT NULL,
      EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($2) AND attname = 'record')`,
    values: [names.schema, names.view],
  });
  // IF NOT EXISTS would require the privilege to create it even if it exists.
  if (found?.[0] !== "t") await connection.query({ text: `CREATE SCHEMA ${names.schema}` });
  if (found?.[1] !== "t") await connection.query({ text: metadata(names) });
  else if (found[2] !== "t") {
    // Earlier releases did not store names of records.
    await connection.query({ text: `ALTER TABLE ${names.view} ADD COLUMN record text` });
  }
}

/** False if the tables were dropped, but not their row. */
async function isWhole(connection: PostgresConnection, tables: Tables): Promise<boolean> {
  const own = [tables.aspectName, tables.entityKind, tables.entity, tables.aspectValue];
  const [row] = await connection.query({
    text: `SELECT ${own.map((_, n) => `to_regclass($${n + 1}) IS NOT NULL`).join(" AND ")}`,
    values: own,
  });
  return row?.[0] === "t";
}

async function create(
  connection: PostgresConnection,
  view: ServerView,
  live: boolean,
): Promise<Generation> {
  const { generations } = tablesOf(view.name, 0);
  const [next] = await connection.query({ text: "SELECT nextval($1)", values: [generations] });
  const tables = tablesOf(view.name, Number(next?.[0]));
  await connection.query({ text: createTables(tables) });
  const [row] = await connection.query({
    text: `INSERT INTO ${tables.view} (name, generation, version, live, model, log)
      VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${COLUMNS}`,
    values: [
      ...[VIEW, tables.generation, TABLES_VERSION, String(live)],
      ...[view.model ?? null, view.log?.id ?? null],
    ],
  });
  if (row === undefined) throw gone(view.name);
  return generationOf(view.name, row);
}

/** Creates a new live generation with the log and model of the old one. */
async function replace(
  connection: PostgresConnection,
  view: ServerView,
  old: Generation | undefined,
): Promise<Generation> {
  if (old !== undefined) await setLive(connection, old.tables, false);
  return create(connection, view, true);
}

async function setLive(
  connection: PostgresConnection,
  { view, generation }: Tables,
  live: boolean,
  uuid?: string,
): Promise<boolean> {
  const rows = await connection.query({
    text: `UPDATE ${view} SET live = $3 WHERE name = $1 AND generation = $2
      AND edition = coalesce($4::uuid, edition) RETURNING 1`,
    values: [VIEW, generation, String(live), uuid ?? null],
  });
  return rows.length > 0;
}

/** Compares log and model (storage/view-origin.ts); a view that continues stores its own. */
async function judgeLive(
  connection: PostgresConnection,
  { tables, position }: Generation,
  view: ServerView,
) {
  const [made] = await connection.query({
    text: `SELECT model, log FROM ${tables.view} WHERE name = $1 AND generation = $2`,
    values: [VIEW, tables.generation],
  });
  const [model = null, log = null] = made ?? [];
  const verdict = compareOrigin({ model, log, position }, view);
  if (view.standby || (verdict !== "own" && verdict !== "stale")) return verdict;
  await connection.query({
    text: `UPDATE ${tables.view} SET model = coalesce(model, $3), log = coalesce($4, log)
      WHERE name = $1 AND generation = $2`,
    values: [VIEW, tables.generation, view.model ?? null, view.log?.id ?? null],
  });
  return verdict;
}

async function leftovers(connection: PostgresConnection, name: string): Promise<readonly Tables[]> {
  const rows = await connection.query({
    text: `SELECT generation FROM ${tablesOf(name, 0).view} WHERE name = $1 AND NOT live`,
    values: [VIEW],
  });
  return rows.map(([generation]) => tablesOf(name, Number(generation)));
}

async function drop(connection: PostgresConnection, tables: Tables): Promise<void> {
  await connection.query({ text: dropTables(tables) });
  await connection.query({
    text: `DELETE FROM ${tables.view} WHERE name = $1 AND generation = $2 AND NOT live`,
    values: [VIEW, tables.generation],
  });
}

/**
 * Drops tables that are no longer used. It waits for readers; after a timeout or an error, the next
 * rebuild drops them.
 */
async function dropLater(connections: Connections, name: string, tables: Tables) {
  await exclusively(connections, name, async (connection) => {
    await connection.query({ text: "SET LOCAL lock_timeout = '2s'" });
    await drop(connection, tables);
  }).catch((error) => {
    if (!(error instanceof CatalogError)) throw error;
  });
}

function exclusively<T>(
  connections: Connections,
  name: string,
  work: (connection: PostgresConnection) => Promise<T>,
): Promise<T> {
  const lock = createHash("sha256").update(`annals ${name}`).digest().readBigInt64BE();
  return connections.transaction(async (connection) => {
    await connection.query({ text: "SELECT pg_advisory_xact_lock($1)", values: [String(lock)] });
    return work(connection);
  });
}

function generationOf(name: string, row: PostgresRow): Generation {
  return {
    tables: tablesOf(name, Number(row[0])),
    uuid: String(row[1]),
    position: position(Number(row[3])),
    turn: Number(row[4]),
    lastEntity: Number(row[5]),
    record: row[6] ?? undefined,
  };
}

/** The live generation; undefined if there is no view. */
export async function lookForLive(
  connection: PostgresConnection,
  name: string,
): Promise<Generation | undefined> {
  try {
    return await findLive(connection, name);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
