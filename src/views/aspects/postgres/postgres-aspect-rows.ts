/**
 * The rows of the aspect view in PostgreSQL, for verification. Each read uses one snapshot, which
 * includes the checkpoint and the live generation. A cursor returns the rows, so memory is bounded
 * by the largest entity and a fixed number of rows.
 */
import { CatalogError } from "../../../core/errors.ts";
import { START } from "../../../core/position.ts";
import type { Staged } from "../../../projector/sink.ts";
import type { RowSnapshot, Row as ViewRow, ViewRows } from "../../../projector/verify/view-rows.ts";
import type { ServerAddress } from "../../../storage/view-origin.ts";
import { entityRow } from "../folded-rows.ts";
import { hashArray, textArray } from "./array-parameter.ts";
import {
  isMissing,
  openConnections,
  type PostgresConnection,
  type PostgresRow,
  retrying,
} from "./postgres-connection.ts";
import { type Generation, lookForLive } from "./postgres-view.ts";
import { VIEW } from "./schema.ts";

/** Counting all rows of a large view takes minutes. */
const STATEMENT_MS_MAX = 600_000;
const URNS_PER_PAGE = 1_000;
/** Rows per step of the cursor; a read ends when it has so many. */
const FETCHED = 500;
const ROWS_MAX = 10_000;
const CHARACTERS_MAX = 32 * 1024 * 1024;
/** Maximum number of swaps of generations during one read. */
const SWAPS_MAX = 5;

/** Finds entities by their index, even if statistics are old or missing. */
const SETTINGS = `
SET default_transaction_isolation = 'repeatable read';
SET default_transaction_read_only = on;
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;`;

/** For statements that count or compare all rows. */
const WHOLLY = "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on";

/**
 * Connects with the first query. A view that does not exist has no rows. `staged`: reads a staging
 * generation.
 */
export async function openPostgresAspectRows(
  address: ServerAddress,
  staged?: Staged,
): Promise<ViewRows> {
  const staging = staged as Generation | undefined;
  const connections = openConnections(address, {
    most: 2,
    timeoutMs: STATEMENT_MS_MAX,
    settings: SETTINGS,
  });

  /** Queries within one snapshot; returns `none` without a view. */
  async function ask<T>(
    none: T,
    question: (connection: PostgresConnection, live: Generation) => Promise<T>,
  ): Promise<T> {
    if (connections.closed) throw new CatalogError("unavailable", `the view "${VIEW}" is closed`);
    for (let swaps = 1; ; swaps++) {
      try {
        return await retrying(() =>
          connections.transaction(async (connection) => {
            const live = staging ?? (await lookForLive(connection, address.name));
            return live === undefined ? none : await question(connection, live);
          }),
        );
      } catch (error) {
        // Dropped tables are missing even in an older snapshot.
        if (!isMissing(error) || swaps === SWAPS_MAX) throw error;
      }
    }
  }

  async function wholly<T>(
    none: T,
    question: (connection: PostgresConnection, live: Generation) => Promise<T>,
  ): Promise<T> {
    return ask(none, async (connection, live) => {
      await connection.query({ text: WHOLLY });
      return question(connection, live);
    });
  }

  return {
    position: () => ask(START, async (_, { position }) => position),

    async read(urns) {
      const nothing = { from: START, to: START, rows: urns.map(() => []) };
      return ask<RowSnapshot>(nothing, async (connection, live) => {
        const rows = await readEntities(connection, live, urns);
        return { from: live.position, to: live.position, rows };
      });
    },

    count: () =>
      wholly({ position: START, rows: 0 }, async (connection, { position, tables }) => {
        const [row] = await connection.query({
          text: `SELECT (SELECT count(*) FROM ${tables.aspectValue})
            + (SELECT count(*) FROM ${tables.entity})`,
        });
        return { position, rows: Number(row?.[0]) };
      }),

    async *urns() {
      let after: { readonly uuid: string; readonly id: string } | undefined;
      for (;;) {
        const from = after;
        const page = await ask(undefined, async (connection, { uuid, tables }) => {
          const id = from?.uuid === uuid ? from.id : "0";
          const rows = await connection.query({
            text: `SELECT id, urn FROM ${tables.entity} WHERE id > $1
              ORDER BY id LIMIT ${URNS_PER_PAGE}`,
            values: [id],
          });
          return { uuid, rows };
        });
        const last = page?.rows.at(-1)?.[0];
        if (page === undefined || last == null) return;
        yield page.rows.map(([, urn]) => String(urn));
        after = { uuid: page.uuid, id: last };
      }
    },

    faults: () => wholly([], findFaults),

    close: () => connections.close(),
  };
}

/** $1, $2: hashes and urns. Only this finds an entity with the wrong kind. */
const rowsOf = ({ tables }: Generation): string => `
DECLARE held NO SCROLL CURSOR FOR
SELECT asked.n - 1, e.living, e.revision, a.name, v.version, v.position, v.revision, v.confirmed,
  v.removed, v.time, v.actor, v.system, v.value
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked (hash, urn, n)
JOIN ${tables.entity} AS e ON e.hash = asked.hash AND e.urn = asked.urn
JOIN ${tables.entityKind} AS k ON k.id = e.kind AND starts_with(e.urn, k.prefix)
LEFT JOIN ${tables.aspectValue} AS v ON v.entity = e.id
LEFT JOIN ${tables.aspectName} AS a ON a.id = v.aspect
ORDER BY asked.n`;

/** Reads the first urns that fit the bounds, at least one. */
async function readEntities(
  connection: PostgresConnection,
  live: Generation,
  urns: readonly string[],
): Promise<readonly (readonly ViewRow[])[]> {
  // PostgreSQL cannot store NUL, so such a urn cannot exist.
  const storable = urns.map((urn) => (urn.includes("\0") ? "" : urn));
  await connection.query({
    text: rowsOf(live),
    values: [hashArray(storable), textArray(storable)],
  });
  const entities: Entity[] = urns.map(() => ({
    values: [],
    living: false,
    noted: -1,
    found: false,
  }));
  let rows = 0;
  let characters = 0;
  let last = 0;
  for (;;) {
    const some = await connection.query({ text: `FETCH ${FETCHED} FROM held` });
    for (const row of some) {
      const n = Number(row[0]);
      const full = rows >= ROWS_MAX || characters >= CHARACTERS_MAX;
      if (n !== last && full) return entities.slice(0, n).map(viewRows);
      last = n;
      rows++;
      characters += (row[11]?.length ?? 0) + (row[12]?.length ?? 0);
      take(entities[n], row);
    }
    if (some.length < FETCHED) return entities.map(viewRows);
  }
}

interface Entity {
  readonly values: ViewRow[];
  living: boolean;
  /** The revision in the entity's own row. */
  noted: number;
  found: boolean;
}

function take(entity: Entity | undefined, row: PostgresRow): void {
  if (entity === undefined) return;
  entity.living = row[1] === "t";
  entity.noted = Number(row[2]);
  entity.found = true;
  if (row[4] == null) return;
  const optional = (text: string | null | undefined) => (text == null ? null : Number(text));
  const [aspect, version, position, revision, confirmed, removed, time, actor, system, value] =
    row.slice(3);
  entity.values.push([
    ...[aspect ?? "", Number(version), Number(position), Number(revision)],
    ...[optional(confirmed), optional(removed)],
    ...[Number(time), String(actor), String(system), String(value), null],
  ]);
}

const REVISION = 3;

/** The revision of an entity is the greatest of those of its newest values and its own row. */
function viewRows({ values, living, noted, found }: Entity): readonly ViewRow[] {
  if (!found) return [];
  const newest = new Map<string, ViewRow>();
  for (const value of values) {
    const [aspect, version] = value;
    const known = newest.get(String(aspect));
    if (known === undefined || Number(version) > Number(known[1]))
      newest.set(String(aspect), value);
  }
  let revision = noted;
  for (const value of newest.values()) revision = Math.max(revision, Number(value[REVISION]));
  return [entityRow(living, revision), ...values];
}

async function findFaults(
  connection: PostgresConnection,
  { tables, lastEntity }: Generation,
): Promise<readonly string[]> {
  const { entity, entityKind, aspectValue } = tables;
  const kinds = await connection.query({
    text: `
SELECT k.prefix, k.living <> coalesce(n.living, 0), k.type IS NULL AND n.living > 0
FROM ${entityKind} AS k LEFT JOIN (
  SELECT kind, count(*) FILTER (WHERE living) AS living FROM ${entity} GROUP BY kind
) AS n ON n.kind = k.id ORDER BY k.prefix`,
  });
  const [numbers] = await connection.query({
    text: `SELECT greatest((SELECT max(id) FROM ${entity}), (SELECT max(entity) FROM ${aspectValue}))`,
  });
  return [
    ...kinds.flatMap(([prefix, miscounted, untyped]) => [
      ...(miscounted === "t" ? [`the count of living "${prefix}…" is wrong`] : []),
      ...(untyped === "t" ? [`the type of "${prefix}…" is missing`] : []),
    ]),
    ...(Number(numbers?.[0] ?? 0) > lastEntity
      ? ["numbers of entities would be assigned twice"]
      : []),
  ];
}
