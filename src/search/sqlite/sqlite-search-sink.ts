/**
 * The search view's writing side in SQLite. Of a batch the last write of each entity counts, since
 * a document is the whole fold. A document that is as it was is not written again. Changes go into
 * the index in the order of their numbers: FTS5 would write out its memory at each step back.
 */
import { LRUCache } from "lru-cache";
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
import { createDocumentTokens } from "./document-tokens.ts";
import { createMerging } from "./merging.ts";
import { searchSchema, touchedMax } from "./schema.ts";
import {
  beginning,
  type FieldNumber,
  hash32,
  type KindNumber,
  quoted,
  TYPE_FIELD,
  valueRange,
  valueToken,
} from "./tokens.ts";
import { isWide } from "./urn-order.ts";

/** Fields and boosts are the model's; the fields of structured properties have no end. */
const FIELDS_MAX = 10_000;

export function openSqliteSearchSink(file: ViewFile): SearchSink {
  const view = openSqliteView(searchSchema, file);
  const { writer, merging } = openWriter(view, file.bulk === true);
  return {
    ...createSqliteSink(view, writer),
    ...(merging !== undefined && { tidy: merging.step }),
    async amend(writes) {
      try {
        await view.mend(async () => writer.write(writes, START));
      } catch (error) {
        writer.forget();
        throw error;
      }
    },
    async holding(entityType, fields, from) {
      if (!view.db.isOpen) throw closed();
      return translated(searchSchema, "read", () => writer.holding(entityType, fields, from));
    },
  };
}

const closed = (): CatalogError => new CatalogError("unavailable", 'the view "search" is closed');

/** What asks of the index reads of it: a damaged one is noticed here. */
function openWriter(view: SqliteView, bulk: boolean) {
  try {
    return translated(searchSchema, "opened", () => {
      // Nobody waits for one that is grown from nothing: there FTS5 merges as it goes.
      const merging = bulk ? undefined : createMerging(view);
      return { writer: createWriter(view, bulk, () => merging?.grown()), merging };
    });
  } catch (error) {
    view.close("discard");
    throw error;
  }
}

interface Entity {
  readonly id: number;
  readonly position: number | null;
  readonly live: number | null;
}

/** An entity's last write of a batch, and the entity's row. */
interface Last {
  readonly id: number;
  readonly live: boolean;
  readonly write: SearchWrite;
}

function createWriter({ db }: SqliteView, bulk: boolean, onGrown: () => void) {
  const entities = createEntities(db);
  const documents = createDocuments(db);
  const touched = createTouched(db);
  const fields = createFieldNumbers(db);
  const kinds = createKindNumbers(db);
  const tokensOf = createDocumentTokens({ fieldOf: fields.numberOf, kindOf: kinds.numberOf });
  const holders = createHolders(db);

  /** The writes that count, by the numbers of their entities. */
  function lastOnes(writes: readonly SearchWrite[], checkpoint: Position): readonly Last[] {
    const last = new Map<string, SearchWrite>();
    for (const write of writes) {
      if (write.position > checkpoint) last.set(write.urn.toWellFormed(), write);
    }
    const found: Last[] = [];
    for (const [urn, write] of last) {
      const entity = entities.find(urn);
      if (entity !== undefined) found.push({ id: entity.id, live: entity.live === 1, write });
      else if (write.op === "put") found.push({ id: entities.add(urn), live: false, write });
    }
    return found.sort((a, b) => a.id - b.id);
  }

  function apply({ id, live, write }: Last): void {
    const put = write.op === "put";
    if (put || live) entities.update(id, write.position, put);
    if (put) {
      const { document } = write;
      const json = encodeDocument(document);
      if (live && documents.has(id, json)) return;
      documents.put(id, json, tokensOf(document), live);
    } else if (live) documents.remove(id);
    else return;
    if (!bulk) touched.add(id);
  }

  return {
    write(writes: readonly SearchWrite[], checkpoint: Position): void {
      for (const last of lastOnes(writes, checkpoint)) apply(last);
      touched.trim();
      onGrown();
    },
    /** Whatever the index and the documents have of the entity goes first. */
    async restore(
      urn: string,
      writes: Iterable<SearchWrite> | AsyncIterable<SearchWrite>,
    ): Promise<void> {
      const before = entities.find(urn.toWellFormed());
      if (before !== undefined) {
        documents.remove(before.id);
        entities.update(before.id, position(Number(before.position)), false);
      }
      const told = await Array.fromAsync(writes);
      for (const last of lastOnes(told, START)) apply(last);
      if (before !== undefined && !bulk) touched.add(before.id);
      touched.trim();
      onGrown();
    },
    holding: (entityType: string, names: readonly string[], from: string | undefined) =>
      holders.page(entityType, names.map(fields.numberOf), from),
    forget() {
      entities.forget();
      touched.forget();
      fields.forget();
      kinds.forget();
    },
  };
}

type Database = SqliteView["db"];

function createEntities(db: Database) {
  const select = db.prepare(`
    SELECT entity.id AS id, position, live FROM entity LEFT JOIN written USING (id)
    WHERE hash = ? AND urn = ?`);
  const greatest = db.prepare(`
    SELECT max(id) AS id FROM (SELECT max(id) AS id FROM entity UNION SELECT max(id) FROM document)`);
  const insert = db.prepare("INSERT INTO entity (id, hash, urn, wide) VALUES (?, ?, ?, ?)");
  const write = db.prepare("INSERT OR REPLACE INTO written (id, position, live) VALUES (?, ?, ?)");
  let last: number | undefined;
  return {
    find: (urn: string) => select.get(hash32(urn), urn) as Entity | undefined,
    add(urn: string): number {
      last = (last ?? Number(greatest.get()?.id ?? 0)) + 1;
      insert.run(last, hash32(urn), urn, isWide(urn) ? 1 : 0);
      return last;
    },
    update(id: number, at: Position, live: boolean): void {
      write.run(id, at, live ? 1 : 0);
    },
    forget() {
      last = undefined;
    },
  };
}

function createDocuments(db: Database) {
  const compare = db.prepare("SELECT 1 FROM document WHERE id = ? AND json = ?");
  const replace = db.prepare("INSERT OR REPLACE INTO document (id, json) VALUES (?, ?)");
  const removeDocument = db.prepare("DELETE FROM document WHERE id = ?");
  const insertTokens = db.prepare("INSERT INTO term (rowid, tokens) VALUES (?, ?)");
  const removeTokens = db.prepare("DELETE FROM term WHERE rowid = ?");
  return {
    has: (id: number, json: string): boolean => compare.get(id, json) !== undefined,
    put(id: number, json: string, tokens: string, live: boolean): void {
      if (live) removeTokens.run(id);
      insertTokens.run(id, tokens);
      replace.run(id, json);
    },
    remove(id: number): void {
      removeTokens.run(id);
      removeDocument.run(id);
    },
  };
}

/** Entities of one page. */
const HOLDERS_MAX = 1_000;

function createHolders(db: Database) {
  const select = db.prepare(`
    SELECT entity.id AS id, urn FROM term JOIN entity ON entity.id = term.rowid
    WHERE term MATCH ? AND term.rowid > ? ORDER BY term.rowid LIMIT ?`);
  return {
    page(entityType: string, fields: readonly FieldNumber[], from = "0") {
      if (fields.length === 0) return { urns: [] };
      const valued = fields.map((field) => beginning(valueRange(field)[0])).join(" OR ");
      const match = `${quoted(valueToken(TYPE_FIELD, entityType))} AND (${valued})`;
      const rows = select.all(match, Number(from), HOLDERS_MAX);
      const urns = rows.map(({ urn }) => String(urn));
      return rows.length < HOLDERS_MAX ? { urns } : { urns, next: String(rows.at(-1)?.id) };
    },
  };
}

function createTouched(db: Database) {
  const greatest = db.prepare("SELECT max(turn) AS turn FROM touched");
  const insert = db.prepare("INSERT INTO touched (turn, id) VALUES (?, ?)");
  const remove = db.prepare("DELETE FROM touched WHERE turn <= ?");
  let last: number | undefined;
  return {
    add(id: number): void {
      last = (last ?? Number(greatest.get()?.turn ?? 0)) + 1;
      insert.run(last, id);
    },
    trim(): void {
      if (last !== undefined && last > touchedMax) remove.run(last - touchedMax);
    },
    forget() {
      last = undefined;
    },
  };
}

function createFieldNumbers(db: Database) {
  const known = new LRUCache<string, FieldNumber>({ max: FIELDS_MAX });
  const find = db.prepare("SELECT id FROM field WHERE name = ?");
  const insert = db.prepare("INSERT INTO field (name) VALUES (?)");
  return {
    numberOf(field: string): FieldNumber {
      let number = known.get(field);
      if (number === undefined) {
        number = Number(find.get(field)?.id ?? insert.run(field).lastInsertRowid);
        known.set(field, number);
      }
      return number;
    },
    forget: () => known.clear(),
  };
}

function createKindNumbers(db: Database) {
  const known = new Map<string, KindNumber>();
  const find = db.prepare("SELECT id FROM kind WHERE boost = ? AND suggested = ?");
  const insert = db.prepare("INSERT INTO kind (boost, suggested) VALUES (?, ?)");
  return {
    numberOf(boost: number, suggested: boolean): KindNumber {
      const key = `${boost} ${suggested}`;
      let number = known.get(key);
      if (number === undefined) {
        const row = [boost, suggested ? 1 : 0] as const;
        number = Number(find.get(...row)?.id ?? insert.run(...row).lastInsertRowid);
        known.set(key, number);
      }
      return number;
    },
    forget: () => known.clear(),
  };
}
