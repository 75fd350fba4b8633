/** The reading side of the search view in SQLite. Queries run in threads (reader-pool.ts). */
import { type ConcurrencyLimit, createConcurrencyLimit } from "../../../lib/concurrency-limit.ts";
import { openSqliteViewReader } from "../../../storage/sqlite/sqlite-view.ts";
import type { SearchReader } from "../search.ts";
import { decodeDocument, decodeLater } from "../stored-document.ts";
import { searchSchema } from "./schema.ts";
import { createReaderPool, type ReaderOptions } from "./threads/reader-pool.ts";

/** Searches of one iteration of the event loop that may be in the pool at the same time. */
const searchesAtOnceMax = 8;

/** The view must have been opened for writing once before. */
export function openSqliteSearchReader(path: string, options?: ReaderOptions): SearchReader {
  openSqliteViewReader(searchSchema, path).close();
  const pool = createReaderPool(path, options);

  /** One request may start very many searches in one iteration: those of other requests come in between. */
  let limit: ConcurrencyLimit | undefined;
  function currentLimit(): ConcurrencyLimit {
    if (limit === undefined) {
      limit = createConcurrencyLimit(searchesAtOnceMax);
      setImmediate(() => {
        limit = undefined;
      });
    }
    return limit;
  }

  return {
    async search(query) {
      const { hits, ...answer } = await currentLimit()(() => pool.call("search", query));
      return {
        ...answer,
        hits: hits.map(({ urn, json, ...hit }) => ({ ...hit, document: decodeLater(urn, json) })),
      };
    },
    folders: (query) => pool.call("folders", query),
    async documents(urns) {
      const stored = await pool.call("documents", urns);
      return stored.map((one) => one && decodeDocument(one.urn, one.json));
    },
    close: pool.close,
  };
}
