/**
 * The aspect view's writing side in SQLite. On the hot path a value is one insert; everything else
 * (removals, confirmations) touches the rows it is about.
 */
import { LRUCache } from "lru-cache";
import { splitUrn } from "../../projector/sqlite/split-urn.ts";
import { createSqliteSink, type SqliteWriter } from "../../projector/sqlite/sqlite-sink.ts";
import {
  openSqliteView,
  type SqliteView,
  type ViewFile,
} from "../../projector/sqlite/sqlite-view.ts";
import type { AspectSink, AspectWrite } from "../aspect-table.ts";
import { aspectSchema, NEWEST } from "./schema.ts";

type Write<Op extends AspectWrite["op"]> = Extract<AspectWrite, { op: Op }>;

/**
 * Some 5 MB when full. Records of one entity come together; any other costs one look into the
 * index, which is hardly dearer than keeping a large cache in order.
 */
const ENTITY_IDS_MAX = 20_000;

export function openSqliteAspectSink(file: ViewFile): AspectSink {
  const view = openSqliteView(aspectSchema, file);
  return createSqliteSink(view, createWriter(view));
}

function createWriter({ db }: SqliteView): SqliteWriter<AspectWrite> {
  const entities = createEntityNumbers(db);
  const aspects = createAspectNumbers(db);

  // A number that comes again can only be told by a later record, which then holds.
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
    const aspect = aspects.numberOf(write.aspect);
    insertValue.run(
      ...[entity, aspect, version, position, revision, time, actor, system, write.value],
    );
  }

  function confirm({ urn, aspect, version, system, position, revision }: Write<"confirm">): void {
    const entity = entities.numberOf(urn);
    const name = aspects.numberOf(aspect);
    confirmValue.run(system, position, revision, entity, name, version);
    // The state of an entity is read from its newest values: what tells another is noted besides.
    if (findNewest.get(entity, name)?.version !== version) entities.note(urn, revision);
  }

  function remove({ urn, aspect, position, revision }: Write<"remove">): void {
    const newest = findNewest.get(entities.numberOf(urn), aspects.numberOf(aspect));
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
      let told = false;
      for await (const write of writes) {
        apply(write);
        told = true;
      }
      entities.settle(urn, before, told);
      entities.save();
    },
    forget() {
      entities.forget();
      aspects.forget();
    },
  };
}

type Database = SqliteView["db"];

interface EntityNumbers {
  /** The entity's number, a new one if need be. `key`: the entity lives from now on. */
  numberOf(urn: string, type?: string, key?: boolean): number;
  /** The entity lives no more. */
  end(urn: string): void;
  /** Keeps the revision of a record that no value tells of. */
  note(urn: string, revision: number): void;
  /** What the entity's row says, which then is that of an entity of which nothing is known. */
  clear(urn: string): Before | undefined;
  /** After it was written anew: drops the row when nothing was told, and mends the count. */
  settle(urn: string, before: Before | undefined, told: boolean): void;
  /** Writes the counts; to be called before the transaction ends. */
  save(): void;
  forget(): void;
}

interface Before {
  readonly number: number;
  readonly living: number;
}

interface Kind {
  readonly id: number;
  type: string | null;
  /** Entities that came to live less those that ceased to, since the last save. */
  born: number;
}

function createEntityNumbers(db: Database): EntityNumbers {
  const known = new LRUCache<string, number>({ max: ENTITY_IDS_MAX });
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
    settle(urn, before, told) {
      if (before === undefined && !told) return;
      const { prefix, rest } = splitUrn(urn);
      const kind = kindOf(prefix, undefined);
      if (!told) {
        dropEntity.run(kind.id, rest);
        known.delete(urn);
      }
      kind.born = 0;
      const living = Number(findEntity.get(kind.id, rest)?.living ?? 0);
      // Where the row told the truth, the count does, too; else all of the kind are counted.
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
    forget() {
      known.clear();
      kinds.clear();
      last = lastSaved = undefined;
    },
  };
}

function createAspectNumbers(db: Database) {
  const known = new Map<string, number>();
  const find = db.prepare("SELECT id FROM aspect_name WHERE name = ?");
  const insert = db.prepare("INSERT INTO aspect_name (name) VALUES (?)");
  return {
    numberOf(name: string): number {
      let number = known.get(name);
      if (number === undefined) {
        number = Number(find.get(name)?.id ?? insert.run(name).lastInsertRowid);
        known.set(name, number);
      }
      return number;
    },
    forget: () => known.clear(),
  };
}
