/**
 * The sink of the aspect view in SQLite. On the hot path a value is one insert; removals and
 * confirmations update existing rows.
 */
import { boundedCache } from "../../../lib/bounded-cache.ts";
import { splitUrn } from "../../../storage/split-urn.ts";
import { createSqliteSink, type SqliteWriter } from "../../../storage/sqlite/sqlite-sink.ts";
import {
  openSqliteView,
  type SqliteView,
  type ViewFile,
} from "../../../storage/sqlite/sqlite-view.ts";
import { createTextIds } from "../../../storage/sqlite/text-ids.ts";
import type { AspectSink, AspectWrite } from "../aspect-table.ts";
import { aspectSchema, NEWEST } from "./schema.ts";

type Write<Op extends AspectWrite["op"]> = Extract<AspectWrite, { op: Op }>;

/**
 * About 5 MB when full. Records of one entity are close together; a miss costs one index lookup, which
 * is hardly more expensive than a larger cache.
 */
const ENTITY_IDS_MAX = 20_000;

export function openSqliteAspectSink(file: ViewFile): AspectSink {
  const view = openSqliteView(aspectSchema, file);
  return createSqliteSink(view, createWriter(view));
}

function createWriter({ db }: SqliteView): SqliteWriter<AspectWrite> {
  const entities = createEntityNumbers(db);
  const aspects = createTextIds(db, { table: "aspect_name", column: "name" });

  // A version that exists already comes from a later record, which wins.
  const insertValue = db.prepare(`
    INSERT INTO aspect_value
      (entity, aspect, version, position, revision, time, actor, system, value)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (entity, aspect, version) DO UPDATE SET
      position = excluded.position, revision = excluded.revision, confirmed = NULL, removed = NULL,
      time = excluded.time, actor = excluded.actor, system = excluded.system,
      value = excluded.value`);
  const confirmValue = db.prepare(`
    UPDATE aspect_value SET system = ?, confirmed = ?, revision = ?
    WHERE entity = ? AND aspect = ? AND version = ?`);
  const findNewest = db.prepare(`
    SELECT rowid, version FROM aspect_value WHERE entity = ? AND aspect = ?
    ORDER BY version DESC LIMIT 1`);
  const removeValue = db.prepare("UPDATE aspect_value SET removed = ? WHERE rowid = ?");
  const removeAll = db.prepare("DELETE FROM aspect_value WHERE entity = ?");
  const removeNewest = db.prepare(`
    ${NEWEST} UPDATE aspect_value SET removed = ?2
    WHERE rowid IN (SELECT id FROM newest WHERE id IS NOT NULL) AND removed IS NULL`);

  function value(write: Write<"value">): void {
    const { entityType, key, version, position, revision, time, actor, system } = write;
    const entity = entities.numberOf(write.urn, entityType, key);
    const aspect = aspects.idOf(write.aspect);
    insertValue.run(
      ...[entity, aspect, version, position, revision, time, actor, system, write.value],
    );
  }

  function confirm({ urn, aspect, version, system, position, revision }: Write<"confirm">): void {
    const entity = entities.numberOf(urn);
    const name = aspects.idOf(aspect);
    confirmValue.run(system, position, revision, entity, name, version);
    // The revision of an entity is that of its newest values; other records update the entity's row.
    if (findNewest.get(entity, name)?.version !== version) entities.note(urn, revision);
  }

  function remove({ urn, aspect, position, revision }: Write<"remove">): void {
    const newest = findNewest.get(entities.numberOf(urn), aspects.idOf(aspect));
    if (newest !== undefined) removeValue.run(position, Number(newest.rowid));
    entities.note(urn, revision);
  }

  function removeEntity({ urn, position, revision }: Write<"remove_entity">): void {
    removeNewest.run(entities.numberOf(urn), position);
    entities.end(urn);
    entities.note(urn, revision);
  }

  function apply(write: AspectWrite): void {
    switch (write.op) {
      case "value":
        value(write);
        break;
      case "confirm":
        confirm(write);
        break;
      case "remove":
        remove(write);
        break;
      case "remove_entity":
        removeEntity(write);
        break;
    }
  }

  return {
    write(writes, checkpoint) {
      for (const write of writes) if (write.position > checkpoint) apply(write);
      entities.save();
    },
    async restore(urn, writes) {
      const before = entities.clear(urn);
      if (before !== undefined) removeAll.run(before.number);
      let written = false;
      for await (const write of writes) {
        apply(write);
        written = true;
      }
      entities.settle(urn, before, written);
      entities.save();
    },
    clearCache() {
      entities.clearCache();
      aspects.clearCache();
    },
  };
}

type Database = SqliteView["db"];

interface EntityNumbers {
  /** The entity's number; creates one if necessary. `key`: marks the entity as existing. */
  numberOf(urn: string, type?: string, key?: boolean): number;
  /** Marks the entity as deleted. */
  end(urn: string): void;
  /** Stores the revision of a record that no value has. */
  note(urn: string, revision: number): void;
  /** Resets the entity's row to that of an unknown entity; returns its previous state. */
  clear(urn: string): Before | undefined;
  /** After a rewrite of the entity: drops the row if there was no write, and corrects the count. */
  settle(urn: string, before: Before | undefined, written: boolean): void;
  /** Writes the counts. Call it before the transaction ends. */
  save(): void;
  clearCache(): void;
}

interface Before {
  readonly number: number;
  readonly living: number;
}

interface Kind {
  readonly id: number;
  type: string | null;
  /** Change of the number of existing entities since the last save. */
  born: number;
}

function createEntityNumbers(db: Database): EntityNumbers {
  const known = boundedCache<string, number>(ENTITY_IDS_MAX);
  const kinds = new Map<string, Kind>();
  let last: number | undefined;
  let lastSaved: number | undefined;

  const findEntity = db.prepare("SELECT id, living FROM entity WHERE kind = ? AND rest = ?");
  const clearEntity = db.prepare(
    "UPDATE entity SET living = 0, revision = -1 WHERE kind = ? AND rest = ?",
  );
  const dropEntity = db.prepare("DELETE FROM entity WHERE kind = ? AND rest = ?");
  const recount = db.prepare(`
    UPDATE entity_kind SET living = (SELECT count(*) FROM entity WHERE kind = ?1 AND living = 1)
    WHERE id = ?1`);
  const insertEntity = db.prepare(
    "INSERT INTO entity (kind, rest, id, living) VALUES (?, ?, ?, ?)",
  );
  const setLiving = db.prepare(
    "UPDATE entity SET living = ?1 WHERE kind = ?2 AND rest = ?3 AND living <> ?1",
  );
  const noteRevision = db.prepare("UPDATE entity SET revision = ? WHERE kind = ? AND rest = ?");
  const findKind = db.prepare("SELECT id, type FROM entity_kind WHERE prefix = ?");
  const insertKind = db.prepare("INSERT INTO entity_kind (prefix, type) VALUES (?, ?)");
  const saveKind = db.prepare("UPDATE entity_kind SET type = ?, living = living + ? WHERE id = ?");
  const readLast = db.prepare("SELECT max(id) AS id FROM last_entity");
  const insertLast = db.prepare("INSERT INTO last_entity (id) VALUES (?)");
  const saveLast = db.prepare("UPDATE last_entity SET id = ?");

  function kindOf(prefix: string, type: string | undefined): Kind {
    let kind = kinds.get(prefix);
    if (kind === undefined) {
      const row = findKind.get(prefix);
      kind =
        row === undefined
          ? { id: Number(insertKind.run(prefix, null).lastInsertRowid), type: null, born: 0 }
          : { id: Number(row.id), type: row.type as string | null, born: 0 };
      kinds.set(prefix, kind);
    }
    if (kind.type === null && type !== undefined) {
      kind.type = type;
      saveKind.run(type, 0, kind.id);
    }
    return kind;
  }

  function setLife(urn: string, type: string | undefined, living: 0 | 1): void {
    const { prefix, rest } = splitUrn(urn);
    const kind = kindOf(prefix, type);
    if (setLiving.run(living, kind.id, rest).changes === 0) return;
    kind.born += living === 1 ? 1 : -1;
  }

  function nextNumber(): number {
    if (last === undefined) {
      const row = readLast.get();
      last = lastSaved = Number(row?.id ?? 0);
    }
    return ++last;
  }

  return {
    numberOf(urn, type, key = false) {
      let number = known.get(urn);
      if (number === undefined) {
        const { prefix, rest } = splitUrn(urn);
        const kind = kindOf(prefix, type);
        const row = findEntity.get(kind.id, rest);
        if (row === undefined) {
          number = nextNumber();
          insertEntity.run(kind.id, rest, number, key ? 1 : 0);
          if (key) kind.born++;
          known.set(urn, number);
          return number;
        }
        number = Number(row.id);
        known.set(urn, number);
      }
      if (key) setLife(urn, type, 1);
      return number;
    },
    end: (urn) => setLife(urn, undefined, 0),
    note(urn, revision) {
      const { prefix, rest } = splitUrn(urn);
      noteRevision.run(revision, kindOf(prefix, undefined).id, rest);
    },
    clear(urn) {
      const { prefix, rest } = splitUrn(urn);
      const kind = findKind.get(prefix)?.id;
      const row = kind === undefined ? undefined : findEntity.get(Number(kind), rest);
      if (kind === undefined || row === undefined) return undefined;
      clearEntity.run(Number(kind), rest);
      return { number: Number(row.id), living: Number(row.living) };
    },
    settle(urn, before, written) {
      if (before === undefined && !written) return;
      const { prefix, rest } = splitUrn(urn);
      const kind = kindOf(prefix, undefined);
      if (!written) {
        dropEntity.run(kind.id, rest);
        known.delete(urn);
      }
      kind.born = 0;
      const living = Number(findEntity.get(kind.id, rest)?.living ?? 0);
      // If the row was wrong, the count may be, too: all entities of the kind are counted.
      if (living !== (before?.living ?? 0)) recount.run(kind.id);
    },
    save() {
      for (const kind of kinds.values()) {
        if (kind.born !== 0) saveKind.run(kind.type, kind.born, kind.id);
        kind.born = 0;
      }
      if (last === lastSaved) return;
      if (saveLast.run(last ?? 0).changes === 0) insertLast.run(last ?? 0);
      lastSaved = last;
    },
    clearCache() {
      known.clear();
      kinds.clear();
      last = lastSaved = undefined;
    },
  };
}
