/**
 * The sink of the search view in SQLite. Each write has the whole document, so only the last write
 * of each entity in a batch is applied; an unchanged document is not written again. The new
 * documents of a batch become a segment. Small segments are merged in the same transaction, large
 * ones in a thread while later batches are applied (merging.ts).
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
      if (bulk) await view.amend(() => index.flush(true));
      return withCatalogErrors(searchSchema, "read", () => index.holding(entityType, fields, from));
    },
    ...(!bulk && { maintain: () => index.mergeLarge((write) => view.amend(write)) }),
    async close(outcome = "keep") {
      if (!view.db.isOpen) return;
      try {
        if (bulk && outcome === "keep") await view.amend(() => index.flush(true));
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

function createWriter(db: Database, index: IndexWriter) {
  const select = preparingOn(db).objects<{ readonly id: number; readonly same: 0 | 1 }>(
    "SELECT id, json = ? AS same FROM document WHERE hash = ? AND urn = ?",
  );
  const insert = db.prepare("INSERT INTO document (hash, urn, json) VALUES (?, ?, ?)");
  const remove = db.prepare("DELETE FROM document WHERE id = ?");

  /** Entities of the open transaction of restores. */
  let restored: string[] = [];

  /** Replaces the document of an entity; without `json`, removes it. */
  function store(urn: string, json?: string): void {
    const hash = crc32(urn);
    const all = select.all(json ?? "", hash, urn);
    if (all.length === 1 && all[0]?.same === 1) return;
    for (const { id } of all) {
      remove.run(id);
      index.addTombstone(id, urn);
    }
    if (json === undefined) return;
    insert.run(hash, urn, json);
    index.addBytes(json.length);
  }

  /** Applies only the last write of each entity. */
  function apply(writes: Iterable<SearchWrite>): void {
    const last = new Map(Array.from(writes, (write) => [write.urn.toWellFormed(), write]));
    for (const [urn, write] of last) {
      store(urn, write.op === "put" ? encodeDocument(write.document) : undefined);
    }
  }

  return {
    write(writes: readonly SearchWrite[], checkpoint: Position): void {
      index.release();
      apply(writes.filter(({ position }) => position > checkpoint));
      index.flush();
    },
    async restore(
      given: string,
      writes: Iterable<SearchWrite> | AsyncIterable<SearchWrite>,
    ): Promise<void> {
      const urn = given.toWellFormed();
      store(urn);
      apply(await Array.fromAsync(writes));
      restored.push(urn);
    },
    /** Removes all versions in the segments, which may lack a document. */
    endRestores(): void {
      for (const [id, version] of index.versionsOf(restored)) index.addTombstone(id, version);
      restored = [];
      index.flush();
    },
    clearCache(): void {
      restored = [];
      index.release();
    },
  };
}
