/** A reader of the search view in SQLite that returns all rows for comparisons. */
import { DatabaseSync } from "node:sqlite";
import { openSqliteSearchReader } from "../../src/views/search/sqlite/sqlite-search-reader.ts";
import { decodeDocument } from "../../src/views/search/stored-document.ts";

export const openDumpedSearchReader = (path: string) => ({
  ...openSqliteSearchReader(path),
  /** Ordered by the hashes of urns, then by urns. */
  async *dump() {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    try {
      const rows = db.prepare("SELECT urn, json FROM document ORDER BY hash, urn");
      for (const { urn, json } of rows.all()) {
        yield { document: decodeDocument(String(urn), String(json)) };
      }
    } finally {
      db.close();
    }
  },
});
