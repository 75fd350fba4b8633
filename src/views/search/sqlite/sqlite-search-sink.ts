/**
 * The writing side of the search view in SQLite. Of a batch the last write of each entity counts,
 * since a document is the whole fold. A document that did not change is not written again. The new
 * documents of a batch make a segment; small segments are merged in the same transaction, large ones
 * in a thread while later batches are applied (merging.ts).
 */
import { crc32 } from "node:zlib";
import { CatalogError } from "../../../core/errors.ts";
import { type Position, START } from "../../../core/position.ts";
import { preparingOn } from "../../../storage/sqlite/prepared.ts";
import { createSqliteSink } from "../../../storage/sqlite/sqlite-sink.ts";
import {
  openSqliteView,
  type SqliteView,
  type ViewFile,
  withCatalogErrors,
} from "../../../storage/sqlite/sqlite-view.ts";
import type { SearchSink, SearchWrite } from "../search.ts";
import { encodeDocument } from "../stored-document.ts";
import { createIndexWriter, type IndexWriter } from "./index-writer.ts";
import { searchSchema } from "./schema.ts";

export function openSqliteSearchSink(file: ViewFile): SearchSink {
  const view = openSqliteView(searchSchema, file);
  const bulk = file.bulk === true;
  const { index, writer } = openWriter(view, bulk);
  return {
    ...createSqliteSink(view, writer),
    async amend(writes) {
      try {
        await view.amend(() => writer.write(writes, START));
      } catch (error) {
        writer.clearCache();
        throw error;
      }
    },
    async holding(entityType, fields, from) {
      if (!view.db.isOpen) throw closed();
      if (bulk) await view.amend(() => index.flush());
      return withCatalogErrors(searchSchema, "read", () => index.holding(entityType, fields, from));
    },
    ...(!bulk && { tidy: () => index.mergeLarge((write) => view.amend(write)) }),
    async close(outcome = "keep") {
      if (!view.db.isOpen) return;
      try {
        if (bulk && outcome === "keep") await view.amend(() => index.flush());
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
    return withCatalogErrors(searchSchema, "opened", () => {
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
  const { arrays, objects } = preparingOn(db);
  const selectEntity = objects<Entity>(
    "SELECT id, position, document FROM entity WHERE hash = ? AND urn = ?",
  );
  const insertEntity = objects<Entity>(
    "INSERT INTO entity (hash, urn, position) VALUES (?, ?, 0) RETURNING id, position, document",
  );
  const updateEntity = db.prepare("UPDATE entity SET position = ?, document = ? WHERE id = ?");
  const compareDocument = arrays<readonly [1]>("SELECT 1 FROM document WHERE id = ? AND json = ?");
  const insertDocument = db.prepare("INSERT INTO document (id, entity, json) VALUES (?, ?, ?)");
  const removeDocument = db.prepare("DELETE FROM document WHERE id = ?");

  /** The writes that count, in the order of their entities. */
  function lastOnes(writes: readonly SearchWrite[], checkpoint: Position): readonly Last[] {
    const last = new Map<string, SearchWrite>();
    for (const write of writes) {
      if (write.position > checkpoint) last.set(write.urn.toWellFormed(), write);
    }
    const all: Last[] = [];
    for (const [urn, write] of last) {
      const found = selectEntity.get(crc32(urn), urn);
      const entity = found ?? (write.op === "put" ? insertEntity.get(crc32(urn), urn) : undefined);
      if (entity !== undefined) all.push({ entity, urn, write });
    }
    return all.sort((a, b) => a.entity.id - b.entity.id);
  }

  function apply({ entity, urn, write }: Last): void {
    const { id, document: before } = entity;
    if (write.op === "remove") {
      if (before === null) return;
      updateEntity.run(write.position, null, id);
      remove(before, urn);
      return;
    }
    const { document } = write;
    const json = encodeDocument(document);
    if (before !== null && compareDocument.get(before, json) !== undefined) {
      updateEntity.run(write.position, before, id);
      return;
    }
    if (before !== null) remove(before, urn);
    const added = index.nextDocument();
    insertDocument.run(added, id, json);
    updateEntity.run(write.position, added, id);
    index.add({ id: added, document }, json.length);
  }

  function remove(document: number, urn: string): void {
    removeDocument.run(document);
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
      const before = selectEntity.get(crc32(urn), urn);
      if (before !== undefined) {
        if (before.document !== null) remove(before.document, urn);
        updateEntity.run(before.position, null, before.id);
      }
      for (const document of index.versionsOf(urn)) remove(document, urn);
      const all = await Array.fromAsync(writes);
      for (const last of lastOnes(all, START)) apply(last);
      index.commit();
    },
    clearCache: () => index.clearCache(),
  };
}
