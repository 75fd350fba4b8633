/** The reading side of the search view in SQLite. Queries run in threads (reader-pool.ts). */
import { type ConcurrencyLimit, createConcurrencyLimit } from "../../../lib/concurrency-limit.ts";
import { openSqliteViewReader } from "../../../storage/sqlite/sqlite-view.ts";
import type { SearchReader } from "../search.ts";
import { decodeDocument, decodeLazily } from "../stored-document.ts";
import { searchSchema } from "./schema.ts";
import { createReaderPool, type ReaderOptions } from "./threads/reader-pool.ts";

/** Maximum concurrent searches among those that one iteration of the event loop starts. */
const searchesAtOnceMax = 8;

/** The file must exist: a sink creates it. */
export function openSqliteSearchReader(path: string, options?: ReaderOptions): SearchReader {
  openSqliteViewReader(searchSchema, path).close();
  const pool = createReaderPool(path, options);

  /** One request may start many searches in one iteration; it must not fill the queue. */
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
        hits: hits.map(({ urn, json, ...hit }) => ({ ...hit, document: decodeLazily(urn, json) })),
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
