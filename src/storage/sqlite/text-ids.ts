/** Ids of texts, in a table with the columns `id` and a unique text. */
import type { DatabaseSync } from "node:sqlite";
import type { LRUCache } from "lru-cache";

/** `cache`: of ids by text. It is not bounded by default, because most tables have few texts. */
export function createTextIds(
  db: DatabaseSync,
  { table, column }: { readonly table: string; readonly column: string },
  cache: Map<string, number> | LRUCache<string, number> = new Map(),
) {
  const find = db.prepare(`SELECT id FROM ${table} WHERE ${column} = ?`);
  const insert = db.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`);
  return {
    /** The id of a text; inserts it if necessary. */
    idOf(text: string): number {
      let id = cache.get(text);
      if (id === undefined) {
        id = Number(find.get(text)?.id ?? insert.run(text).lastInsertRowid);
        cache.set(text, id);
      }
      return id;
    },
    clearCache: (): void => cache.clear(),
  };
}
