/** The reading side of the search view in SQLite. Queries run in threads (reader-pool.ts). */
import { openSqliteViewReader } from "../../../storage/sqlite/sqlite-view.ts";
import type { SearchReader } from "../search.ts";
import { decodeDocument, decodeLater } from "../stored-document.ts";
import { searchSchema } from "./schema.ts";
import { createReaderPool, type ReaderOptions } from "./threads/reader-pool.ts";

/** The view must have been opened for writing once before. */
export function openSqliteSearchReader(path: string, options?: ReaderOptions): SearchReader {
  openSqliteViewReader(searchSchema, path).close();
  const pool = createReaderPool(path, options);
  return {
    async search(query) {
      const { hits, ...answer } = await pool.ask({ kind: "search", query });
      return {
        ...answer,
        hits: hits.map(({ urn, json, score, cursor }) => ({
          document: decodeLater(urn, json),
          score,
          cursor,
        })),
      };
    },
    folders: (query) => pool.ask({ kind: "folders", query }),
    async documents(urns) {
      const stored = await pool.ask({ kind: "documents", urns });
      return stored.map((one) => one && decodeDocument(one.urn, one.json));
    },
    close: pool.close,
  };
}
