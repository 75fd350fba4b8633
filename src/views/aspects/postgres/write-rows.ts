/**
 * The statements that write rows. Each takes the columns of any number of rows as arrays. All run in a
 * transaction that locks the generation's row in the metadata.
 */
import { appendAll } from "../../../lib/lists.ts";
import { boolArray, hashArray, int4Array, int8Array, textArray } from "./array-parameter.ts";
import type { EntityChange, NewestValues, ValueChange, ValueRow } from "./folded-writes.ts";
import type { PostgresConnection, Statement } from "./postgres-connection.ts";
import { newestOf, type Tables } from "./schema.ts";

/** Maximum size of a statement: client and server hold several copies of its parameters. */
const STATEMENT_BYTES_MAX = 16 * 1024 * 1024;
const STATEMENT_ROWS_MAX = 10_000;

export interface EntityRow {
  readonly id: number;
  readonly urn: string;
  readonly kind: number;
  readonly living: boolean;
}

export interface RowWriter {
  findEntities(urns: readonly string[]): Promise<readonly EntityRow[]>;
  insertEntities(rows: readonly EntityRow[]): Promise<void>;
  changeEntities(changes: ReadonlyMap<number, EntityChange>): Promise<void>;
  /** Newest values by numbers of entities. */
  findNewest(entities: readonly number[]): Promise<NewestValues>;
  putValues(rows: readonly ValueRow[]): Promise<void>;
  /** Resolves with the changes that did not apply to the newest value of their aspect. */
  changeValues(changes: readonly ValueChange[]): Promise<readonly ValueChange[]>;
}

export function createRowWriter(connection: PostgresConnection, tables: Tables): RowWriter {
  const statements = statementsOf(tables);
  const run = (what: keyof typeof statements, values: Statement["values"]) =>
    connection.query({
      name: `annals_${what}_g${tables.generation}`,
      text: statements[what],
      values,
    });

  return {
    async findEntities(urns) {
      const rows = await run("find_entities", [hashArray(urns)]);
      return rows.map(([id, urn, kind, living]) => ({
        id: Number(id),
        urn: String(urn),
        kind: Number(kind),
        living: living === "t",
      }));
    },
    async insertEntities(rows) {
      for (const part of partsOf(rows, ({ urn }) => urn.length)) {
        await run("insert_entities", [
          int8Array(part.map(({ id }) => id)),
          hashArray(part.map(({ urn }) => urn)),
          int4Array(part.map(({ kind }) => kind)),
          boolArray(part.map(({ living }) => living)),
          textArray(part.map(({ urn }) => urn)),
        ]);
      }
    },
    async changeEntities(changes) {
      if (changes.size === 0) return;
      const stated = [...changes.values()];
      await run("change_entities", [
        int8Array([...changes.keys()]),
        boolArray(stated.map(({ living }) => living)),
        int8Array(stated.map(({ revision }) => revision)),
      ]);
    },
    async findNewest(entities) {
      const newest: NewestValues = new Map(entities.map((entity) => [entity, new Map()]));
      for (const row of await run("find_newest", [int8Array(entities)])) {
        const [entity, aspect, version, removed] = row;
        const known = newest.get(Number(entity));
        known?.set(Number(aspect), { version: Number(version), removed: removed === "t" });
      }
      return newest;
    },
    async putValues(rows) {
      for (const part of partsOf(rows, ({ value, system }) => value.length + system.length)) {
        await run("put_values", [
          int8Array(part.map(({ entity }) => entity)),
          int4Array(part.map(({ aspect }) => aspect)),
          int4Array(part.map(({ version }) => version)),
          int8Array(part.map(({ position }) => position)),
          int8Array(part.map(({ revision }) => revision)),
          int8Array(part.map(({ confirmed }) => confirmed)),
          int8Array(part.map(({ removed }) => removed)),
          int8Array(part.map(({ time }) => time)),
          textArray(part.map(({ actor }) => actor)),
          textArray(part.map(({ system }) => system)),
          textArray(part.map(({ value }) => value)),
        ]);
      }
    },
    async changeValues(changes) {
      const old: ValueChange[] = [];
      for (const part of partsOf(changes, ({ system }) => system?.length ?? 0)) {
        const rows = await run("change_values", [
          int8Array(part.map(({ entity }) => entity)),
          int4Array(part.map(({ aspect }) => aspect)),
          int4Array(part.map(({ version }) => version)),
          textArray(part.map(({ system }) => system)),
          int8Array(part.map(({ confirmed }) => confirmed)),
          int8Array(part.map(({ revision }) => revision)),
          int8Array(part.map(({ removed }) => removed)),
        ]);
        for (const [n] of rows) appendAll(old, part.slice(Number(n) - 1, Number(n)));
      }
      return old;
    },
  };
}

const statementsOf = (tables: Tables) => ({
  find_entities: `
SELECT id, urn, kind, living FROM ${tables.entity} WHERE hash = ANY($1::bigint[])`,

  insert_entities: `
INSERT INTO ${tables.entity} (id, hash, kind, living, urn)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::boolean[], $5::text[])`,

  change_entities: `
UPDATE ${tables.entity} AS e
SET living = coalesce(t.living, e.living), revision = greatest(e.revision, t.revision)
FROM unnest($1::bigint[], $2::boolean[], $3::bigint[]) AS t (id, living, revision)
WHERE e.id = t.id`,

  find_newest: `
SELECT asked.entity, v.aspect, v.version, v.removed IS NOT NULL
FROM unnest($1::bigint[]) AS asked (entity)
CROSS JOIN LATERAL (${newestOf(tables, "asked.entity", "aspect, version, removed")}) AS v`,

  // A version that exists already comes from a later record, which wins.
  put_values: `
INSERT INTO ${tables.aspectValue}
  (entity, aspect, version, position, revision, confirmed, removed, time, actor, system, value)
SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::bigint[], $5::bigint[],
  $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[])
ON CONFLICT (entity, aspect, version) DO UPDATE SET
  position = excluded.position, revision = excluded.revision, confirmed = excluded.confirmed,
  removed = excluded.removed, time = excluded.time, actor = excluded.actor,
  system = excluded.system, value = excluded.value`,

  // The revision of an entity is that of its newest values; other records update the entity's row.
  change_values: `
WITH stated AS (
  SELECT * FROM unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[], $5::bigint[],
    $6::bigint[], $7::bigint[]) WITH ORDINALITY
    AS stated (entity, aspect, version, system, confirmed, revision, removed, n)
), changed AS (
  UPDATE ${tables.aspectValue} AS v
  SET system = coalesce(t.system, v.system), confirmed = coalesce(t.confirmed, v.confirmed),
    revision = coalesce(t.revision, v.revision), removed = coalesce(v.removed, t.removed)
  FROM stated AS t
  WHERE v.entity = t.entity AND v.aspect = t.aspect AND v.version = t.version
  RETURNING t.n, EXISTS (
    SELECT 1 FROM ${tables.aspectValue} AS newer
    WHERE newer.entity = v.entity AND newer.aspect = v.aspect AND newer.version > v.version
  ) AS old
)
SELECT stated.n FROM stated LEFT JOIN changed USING (n)
WHERE stated.revision IS NOT NULL AND (changed.n IS NULL OR changed.old)`,
});

/** Rows in parts that one statement takes; a row that is larger alone goes alone. */
function* partsOf<T>(rows: readonly T[], sizeOf: (row: T) => number): Generator<readonly T[]> {
  let from = 0;
  let size = 0;
  for (const [n, row] of rows.entries()) {
    const own = sizeOf(row);
    if (n > from && (size + own > STATEMENT_BYTES_MAX || n - from === STATEMENT_ROWS_MAX)) {
      yield rows.slice(from, n);
      from = n;
      size = 0;
    }
    size += own;
  }
  if (from < rows.length) yield rows.slice(from);
}
