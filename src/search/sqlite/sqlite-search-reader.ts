/** The reading side of the search view in SQLite. Queries run in threads (reader-pool.ts). */
import { position } from "../../core/position.ts";
import type { Dump } from "../../projector/compare.ts";
import { preparingOn } from "../../projector/sqlite/prepared.ts";
import { openSqliteViewReader, translated } from "../../projector/sqlite/sqlite-view.ts";
import type { SearchDocument, SearchReader } from "../search.ts";
import { decodeDocument, decodeLater } from "../stored-document.ts";
import { createReaderPool, type ReaderOptions } from "./reader-pool.ts";
import { searchSchema } from "./schema.ts";
import type { StoredDocument } from "./search-index.ts";

/** All that the view has of an entity; in the order of the hashes of urns, then of urns. */
export interface SearchRow {
  readonly position: number;
  readonly document: SearchDocument;
}

/** The view must have been opened for writing once before. */
export function openSqliteSearchReader(
  path: string,
  options?: ReaderOptions,
): SearchReader & Dump<SearchRow> {
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
    dump: () => dump(path),
    close: pool.close,
  };
}

const ROWS_PER_PAGE = 500;

type StoredRow = StoredDocument & { readonly hash: number; readonly position: number };

async function* dump(path: string): AsyncGenerator<SearchRow> {
  const db = openSqliteViewReader(searchSchema, path);
  const page = preparingOn(db).objects<StoredRow>(`
    SELECT hash, urn, position, json FROM entity JOIN document ON document.id = entity.document
    WHERE (hash, urn) > (?, ?) ORDER BY hash, urn LIMIT ${ROWS_PER_PAGE}`);
  try {
    let after: readonly [hash: number, urn: string] | undefined = [-1, ""];
    while (after !== undefined) {
      const [hash, urn]: readonly [number, string] = after;
      const rows: readonly StoredRow[] = translated(searchSchema, "read", () =>
        page.all(hash, urn),
      );
      for (const row of rows) {
        yield { position: position(row.position), document: decodeDocument(row.urn, row.json) };
      }
      const last = rows.at(-1);
      after = last && [last.hash, last.urn];
    }
  } finally {
    db.close();
  }
}
