/**
 * The writing side of the search view in SQLite. Of a batch the last write of each entity counts,
 * since a document is the whole fold. A document that did not change is not written again. The new
 * documents of a batch make a segment; small segments are merged in the same transaction, large ones
 * in a thread while later batches are applied (merging.ts).
 */
import { CatalogError } from "../../core/errors.ts";
import { type Position, position, START } from "../../core/position.ts";
import { createSqliteSink } from "../../projector/sqlite/sqlite-sink.ts";
import {
  openSqliteView,
  type SqliteView,
  translated,
  type ViewFile,
} from "../../projector/sqlite/sqlite-view.ts";
import type { SearchSink, SearchWrite } from "../search.ts";
import { encodeDocument } from "../stored-document.ts";
import { createIndexWriter, type IndexWriter } from "./index-writer.ts";
import { hash32, searchSchema } from "./schema.ts";

export function openSqliteSearchSink(file: ViewFile): SearchSink {
  const view = openSqliteView(searchSchema, file);
  const bulk = file.bulk === true;
  const { index, writer } = openWriter(view, bulk);
  return {
    ...createSqliteSink(view, writer),
    async amend(writes) {
      try {
        await view.mend(() => writer.write(writes, START));
      } catch (error) {
        writer.forget();
        throw error;
      }
    },
    async holding(entityType, fields, from) {
      if (!view.db.isOpen) throw closed();
      if (bulk) await view.mend(() => index.flush());
      return translated(searchSchema, "read", () => index.holding(entityType, fields, from));
    },
    ...(!bulk && { tidy: () => index.mergeLarge((write) => view.mend(write)) }),
    async close(outcome = "keep") {
      if (!view.db.isOpen) return;
      try {
        if (bulk && outcome === "keep") await view.mend(() => index.flush());
      } finally {
        index.close();
        view.close(outcome);
      }
    },
  };
}

const closed = (): CatalogError => new CatalogError("unavailable", 'the view "search" is closed');

function openWriter(view: SqliteView, bulk: boolean) {
  try {
    return translated(searchSchema, "opened", () => {
      const index = createIndexWriter(view.db, bulk);
      return { index, writer: createWriter(view.db, index) };
    });
  } catch (error) {
    view.close("discard");
    throw error;
  }
}

type Database = SqliteView["db"];

interface Entity {
  readonly id: number;
  readonly position: number;
  /** The id of its document. */
  readonly document: number | null;
}

/** An entity's last write of a batch, and the entity before it. */
interface Last {
  readonly entity: Entity;
  readonly urn: string;
  readonly write: SearchWrite;
}

function createWriter(db: Database, index: IndexWriter) {
  const entities = createEntities(db);
  const documents = createDocuments(db);

  /** The writes that count, in the order of their entities. */
  function lastOnes(writes: readonly SearchWrite[], checkpoint: Position): readonly Last[] {
    const last = new Map<string, SearchWrite>();
    for (const write of writes) {
      if (write.position > checkpoint) last.set(write.urn.toWellFormed(), write);
    }
    const found: Last[] = [];
    for (const [urn, write] of last) {
      const entity = entities.find(urn) ?? (write.op === "put" ? entities.add(urn) : undefined);
      if (entity !== undefined) found.push({ entity, urn, write });
    }
    return found.sort((a, b) => a.entity.id - b.entity.id);
  }

  function apply({ entity, urn, write }: Last): void {
    const { id, document: before } = entity;
    if (write.op === "remove") {
      if (before === null) return;
      entities.update(id, write.position, null);
      remove(before, urn);
      return;
    }
    const { document } = write;
    const json = encodeDocument(document);
    if (before !== null && documents.has(before, json)) {
      entities.update(id, write.position, before);
      return;
    }
    if (before !== null) remove(before, urn);
    const added = index.nextDocument();
    documents.add(added, id, json);
    entities.update(id, write.position, added);
    index.add({ id: added, document }, json.length);
  }

  function remove(document: number, urn: string): void {
    documents.remove(document);
    index.remove(document, urn);
  }

  return {
    write(writes: readonly SearchWrite[], checkpoint: Position): void {
      index.release();
      for (const last of lastOnes(writes, checkpoint)) apply(last);
      index.commit();
    },
    /** Everything that documents and index have of the entity is removed first. */
    async restore(
      given: string,
      writes: Iterable<SearchWrite> | AsyncIterable<SearchWrite>,
    ): Promise<void> {
      const urn = given.toWellFormed();
      const before = entities.find(urn);
      if (before !== undefined) {
        if (before.document !== null) remove(before.document, urn);
        entities.update(before.id, position(before.position), null);
      }
      for (const document of index.versionsOf(urn)) remove(document, urn);
      const all = await Array.fromAsync(writes);
      for (const last of lastOnes(all, START)) apply(last);
      index.commit();
    },
    forget: () => index.forget(),
  };
}

function createEntities(db: Database) {
  const select = db.prepare("SELECT id, position, document FROM entity WHERE hash = ? AND urn = ?");
  const insert = db.prepare("INSERT INTO entity (hash, urn, position) VALUES (?, ?, 0)");
  const update = db.prepare("UPDATE entity SET position = ?, document = ? WHERE id = ?");
  return {
    find: (urn: string) => select.get(hash32(urn), urn) as Entity | undefined,
    add(urn: string): Entity {
      const { lastInsertRowid } = insert.run(hash32(urn), urn);
      return { id: Number(lastInsertRowid), position: 0, document: null };
    },
    update(id: number, at: Position, document: number | null): void {
      update.run(at, document, id);
    },
  };
}

function createDocuments(db: Database) {
  const compare = db.prepare("SELECT 1 FROM document WHERE id = ? AND json = ?");
  const insert = db.prepare("INSERT INTO document (id, entity, json) VALUES (?, ?, ?)");
  const remove = db.prepare("DELETE FROM document WHERE id = ?");
  return {
    has: (id: number, json: string): boolean => compare.get(id, json) !== undefined,
    add: (id: number, entity: number, json: string) => void insert.run(id, entity, json),
    remove: (id: number) => void remove.run(id),
  };
}
