/**
 * Applies writes to the tables of one generation, in a transaction that locks its row: finds or
 * creates the numbers of entities, kinds and aspects, folds the writes, writes rows, updates counts.
 */
import type { LRUCache } from "lru-cache";
import { boundedCache } from "../../../lib/bounded-cache.ts";
import { splitUrn } from "../../../storage/split-urn.ts";
import type { AspectWrite } from "../aspect-table.ts";
import { type EntityChange, foldWrites, urnsOfRemovals } from "./folded-writes.ts";
import type { PostgresConnection } from "./postgres-connection.ts";
import type { Generation } from "./postgres-view.ts";
import { createRowWriter, type EntityRow, type RowWriter } from "./write-rows.ts";

interface BatchWriter {
  /** Resolves with the number of the last new entity. */
  write(
    connection: PostgresConnection,
    generation: Generation,
    writes: readonly AspectWrite[],
  ): Promise<number>;
  /** The same for an entity that is rebuilt from all of its writes. */
  restore(
    connection: PostgresConnection,
    generation: Generation,
    urn: string,
    writes: Iterable<AspectWrite> | AsyncIterable<AspectWrite>,
  ): Promise<number>;
  /** Clears the caches: after a rollback, or when another process may have written. */
  clearCaches(): void;
}

/** About 8 MB when full. Records of one entity are close together; a miss costs a batched lookup. */
const ENTITIES_MAX = 20_000;
/** Maximum number of writes of a restored entity that are held in memory and written together. */
const RESTORED_MAX = 1_000;
const RESTORED_CHARACTERS_MAX = 16 * 1024 * 1024;

interface Kind {
  readonly id: number;
  readonly type: string | undefined;
}

export function createBatchWriter(): BatchWriter {
  const cache = boundedCache<string, EntityRow>(ENTITIES_MAX);
  let aspects: Map<string, number> | undefined;
  let kinds: Map<string, Kind> | undefined;

  /** Writes; resolves with the last number and the change of the number of existing entities. */
  async function apply(
    connection: PostgresConnection,
    generation: Generation,
    writes: readonly AspectWrite[],
  ): Promise<{ readonly lastEntity: number; readonly countChanges: ReadonlyMap<number, number> }> {
    if (writes.length === 0) return { lastEntity: generation.lastEntity, countChanges: new Map() };
    aspects ??= await readAspects(connection, generation);
    kinds ??= await readKinds(connection, generation);
    await addAspects(connection, generation, aspects, writes);
    await addKinds(connection, generation, kinds, writes);
    const rows = createRowWriter(connection, generation.tables);
    const found = await findEntities(rows, cache, writes);
    const created = newEntities(generation, kinds, found, writes);
    const entities = new Map([...found, ...created]);

    const removals = urnsOfRemovals(writes).map((urn) => idOf(entities, urn));
    const newest = removals.length === 0 ? new Map() : await rows.findNewest(removals);
    const names = aspects;
    const folded = foldWrites(
      writes,
      { entity: (urn) => idOf(entities, urn), aspect: (name) => known(names, name) },
      newest,
    );

    const changed = createdOrDeleted(entities.values(), folded.entities);
    const now = (row: EntityRow) => changed.get(row.id) ?? row;
    await rows.insertEntities([...created.values()].map(now));
    await rows.putValues(folded.values);
    const notes = new Map(folded.entities);
    for (const { entity, revision } of await rows.changeValues(folded.changes)) {
      const change: EntityChange = notes.get(entity) ?? { living: undefined, revision: -1 };
      notes.set(entity, { ...change, revision: Math.max(change.revision, revision ?? -1) });
    }
    // An unchanged state needs no update, nor does that of a new row.
    for (const [entity, { revision }] of notes) {
      if (revision < 0 && (!changed.has(entity) || entity > generation.lastEntity))
        notes.delete(entity);
    }
    await rows.changeEntities(notes);
    for (const row of entities.values()) cache.set(row.urn, now(row));
    return {
      lastEntity: generation.lastEntity + created.size,
      countChanges: countChangesOf(changed.values()),
    };
  }

  return {
    async write(connection, generation, writes) {
      const { lastEntity, countChanges } = await apply(connection, generation, writes);
      for (const [kind, count] of countChanges) {
        if (count !== 0) await addToCount(connection, generation, kind, count);
      }
      return lastEntity;
    },

    async restore(connection, generation, urn, writes) {
      const before = await findEntity(connection, generation, urn);
      if (before !== undefined) {
        await clearEntity(connection, generation, before.id);
        cache.set(urn, { ...before, living: false });
      }
      let { lastEntity } = generation;
      let changed = false;
      for await (const part of partsOf(writes)) {
        ({ lastEntity } = await apply(connection, { ...generation, lastEntity }, part));
        changed = true;
      }
      const after = await findEntity(connection, generation, urn);
      if (after !== undefined && !changed) {
        await dropEntity(connection, generation, after.id);
        cache.delete(urn);
      }
      const kind = after?.kind;
      // If the row was wrong, the count may be, too: all entities of the kind are counted.
      if (kind !== undefined && (before?.living ?? false) !== (after?.living ?? false)) {
        await recount(connection, generation, kind);
      }
      return lastEntity;
    },

    clearCaches() {
      cache.clear();
      aspects = kinds = undefined;
    },
  };
}

async function readAspects(connection: PostgresConnection, { tables }: Generation) {
  const rows = await connection.query({ text: `SELECT name, id FROM ${tables.aspectName}` });
  return new Map(rows.map(([name, id]) => [String(name), Number(id)]));
}

async function addAspects(
  connection: PostgresConnection,
  { tables }: Generation,
  aspects: Map<string, number>,
  writes: readonly AspectWrite[],
): Promise<void> {
  for (const { aspect } of writes) {
    if (aspects.has(aspect)) continue;
    const [row] = await connection.query({
      text: `INSERT INTO ${tables.aspectName} (name) VALUES ($1) RETURNING id`,
      values: [aspect],
    });
    aspects.set(aspect, Number(row?.[0]));
  }
}

async function readKinds(
  connection: PostgresConnection,
  { tables }: Generation,
): Promise<Map<string, Kind>> {
  const rows = await connection.query({
    text: `SELECT prefix, id, type FROM ${tables.entityKind}`,
  });
  return new Map(
    rows.map(([prefix, id, type]) => [String(prefix), { id: Number(id), type: type ?? undefined }]),
  );
}

/** The first value of an entity sets the type of its kind. */
async function addKinds(
  connection: PostgresConnection,
  { tables }: Generation,
  kinds: Map<string, Kind>,
  writes: readonly AspectWrite[],
): Promise<void> {
  for (const write of writes) {
    const { prefix } = splitUrn(write.urn);
    const type = write.op === "value" ? write.entityType : undefined;
    const kind = kinds.get(prefix);
    if (kind !== undefined && (kind.type !== undefined || type === undefined)) continue;
    const [row] = await connection.query(
      kind === undefined
        ? {
            text: `INSERT INTO ${tables.entityKind} (prefix, type) VALUES ($1, $2) RETURNING id`,
            values: [prefix, type ?? null],
          }
        : {
            text: `UPDATE ${tables.entityKind} SET type = $2 WHERE id = $1 RETURNING id`,
            values: [kind.id, type ?? null],
          },
    );
    kinds.set(prefix, { id: Number(row?.[0]), type });
  }
}

/** The existing rows of the entities of the writes. */
async function findEntities(
  rows: RowWriter,
  cache: LRUCache<string, EntityRow>,
  writes: readonly AspectWrite[],
): Promise<Map<string, EntityRow>> {
  const found = new Map<string, EntityRow>();
  const missing = new Set<string>();
  for (const { urn } of writes) {
    if (found.has(urn) || missing.has(urn)) continue;
    const row = cache.get(urn);
    if (row === undefined) missing.add(urn);
    else found.set(urn, row);
  }
  if (missing.size === 0) return found;
  for (const row of await rows.findEntities([...missing])) {
    // Another urn may have the same hash.
    if (missing.has(row.urn)) found.set(row.urn, row);
  }
  return found;
}

function newEntities(
  { lastEntity }: Generation,
  kinds: ReadonlyMap<string, Kind>,
  found: ReadonlyMap<string, EntityRow>,
  writes: readonly AspectWrite[],
): Map<string, EntityRow> {
  const created = new Map<string, EntityRow>();
  for (const { urn } of writes) {
    if (found.has(urn) || created.has(urn)) continue;
    const kind = known(kinds, splitUrn(urn).prefix).id;
    created.set(urn, { id: lastEntity + created.size + 1, urn, kind, living: false });
  }
  return created;
}

/** The new rows of entities that are created or deleted. */
function createdOrDeleted(
  rows: Iterable<EntityRow>,
  changes: ReadonlyMap<number, EntityChange>,
): ReadonlyMap<number, EntityRow> {
  const changed = new Map<number, EntityRow>();
  for (const row of rows) {
    const living = changes.get(row.id)?.living;
    if (living !== undefined && living !== row.living) changed.set(row.id, { ...row, living });
  }
  return changed;
}

/** Change of the number of living entities by kind. */
function countChangesOf(changed: Iterable<EntityRow>): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { kind, living } of changed)
    counts.set(kind, (counts.get(kind) ?? 0) + (living ? 1 : -1));
  return counts;
}

async function addToCount(
  connection: PostgresConnection,
  { tables }: Generation,
  kind: number,
  count: number,
): Promise<void> {
  await connection.query({
    text: `UPDATE ${tables.entityKind} SET living = living + $2 WHERE id = $1`,
    values: [kind, count],
  });
}

async function recount(
  connection: PostgresConnection,
  { tables }: Generation,
  kind: number,
): Promise<void> {
  await connection.query({
    text: `UPDATE ${tables.entityKind} SET living =
      (SELECT count(*) FROM ${tables.entity} WHERE kind = $1 AND living) WHERE id = $1`,
    values: [kind],
  });
}

async function findEntity(
  connection: PostgresConnection,
  { tables }: Generation,
  urn: string,
): Promise<EntityRow | undefined> {
  const rows = await createRowWriter(connection, tables).findEntities([urn]);
  return rows.find((row) => row.urn === urn);
}

async function clearEntity(connection: PostgresConnection, { tables }: Generation, id: number) {
  await connection.query({
    text: `DELETE FROM ${tables.aspectValue} WHERE entity = $1`,
    values: [id],
  });
  await connection.query({
    text: `UPDATE ${tables.entity} SET living = false, revision = -1 WHERE id = $1`,
    values: [id],
  });
}

async function dropEntity(connection: PostgresConnection, { tables }: Generation, id: number) {
  await connection.query({ text: `DELETE FROM ${tables.entity} WHERE id = $1`, values: [id] });
}

async function* partsOf(
  writes: Iterable<AspectWrite> | AsyncIterable<AspectWrite>,
): AsyncGenerator<readonly AspectWrite[]> {
  let part: AspectWrite[] = [];
  let characters = 0;
  for await (const write of writes) {
    part.push(write);
    if (write.op === "value") characters += write.value.length;
    if (part.length < RESTORED_MAX && characters < RESTORED_CHARACTERS_MAX) continue;
    yield part;
    part = [];
    characters = 0;
  }
  if (part.length > 0) yield part;
}

const idOf = (entities: ReadonlyMap<string, EntityRow>, urn: string): number =>
  known(entities, urn).id;

function known<T>(of: ReadonlyMap<string, T>, name: string): T {
  const found = of.get(name);
  if (found === undefined) throw new Error(`"${name}" has no number`);
  return found;
}
