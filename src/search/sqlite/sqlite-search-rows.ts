/**
 * The rows of the search view in SQLite, for verification: documents, as they are stored. Whether
 * the index has a document is looked at for each; whether it is found by its words, for one of each
 * read.
 */
import { inArrays, numberOf, openSqliteViewRows } from "../../projector/sqlite/row-reading.ts";
import type { Row, ViewRows } from "../../projector/verify/view-rows.ts";
import { searchSchema } from "./schema.ts";
import { hash32, quoted, valueToken } from "./tokens.ts";

const URNS_PER_PAGE = 1_000;

interface Place {
  readonly hash: number;
  readonly urn: string;
}

export const openSqliteSearchRows = (path: string): ViewRows =>
  openSqliteViewRows(searchSchema, path, (db) => {
    const find = inArrays(
      db.prepare(`
        SELECT json, id, (SELECT 1 FROM term_docsize WHERE term_docsize.id = entity.id), live
        FROM entity JOIN document USING (id) LEFT JOIN written USING (id)
        WHERE hash = ? AND urn = ?`),
    );
    const fieldOf = db.prepare("SELECT id FROM field WHERE name = 'urn'");
    // FTS5 passes over a row that is no integer, which numbers of here are not unless they are made one.
    const found = db.prepare(
      "SELECT 1 FROM term WHERE term MATCH ? AND rowid = CAST(? AS INTEGER)",
    );
    const countDocuments = inArrays(db.prepare("SELECT count(*) FROM document"));
    const countIndexed = inArrays(db.prepare("SELECT count(*) FROM term_docsize"));
    const urnsAfter = db.prepare(`
      SELECT hash, urn FROM entity JOIN document USING (id)
      WHERE (hash, urn) > (?, ?) ORDER BY hash, urn LIMIT ${URNS_PER_PAGE}`);
    const unnamed = inArrays(
      db.prepare("SELECT count(*) FROM document WHERE NOT EXISTS (SELECT 1 FROM field)"),
    );
    let looked = false;

    function isFound(id: number, urn: string): boolean {
      const field = fieldOf.get()?.id;
      if (field === undefined) return false;
      try {
        return found.get(quoted(valueToken(Number(field), urn)), id) !== undefined;
      } catch {
        // What the index has in place of its parts may be anything.
        return false;
      }
    }

    return {
      begin() {
        looked = false;
      },
      rowsOf(given): readonly Row[] {
        const urn = given.toWellFormed();
        const row = find.get(hash32(urn), urn);
        if (row === undefined) return [];
        const [json, id, inIndex, live] = row as unknown as readonly [
          ...[json: string, id: number, inIndex: number | null, live: number | null],
        ];
        let indexed = inIndex === 1 && live === 1;
        if (indexed && !looked) {
          looked = true;
          indexed = isFound(id, urn);
        }
        return [["", indexed ? 1 : 0, json]];
      },
      count: () => numberOf(countDocuments),
      urns(after) {
        const { hash, urn } = (after as Place | undefined) ?? { hash: -1, urn: "" };
        const page = urnsAfter.all(hash, urn) as unknown as Place[];
        return {
          urns: page.map((place) => place.urn),
          next: page.length === URNS_PER_PAGE ? page.at(-1) : undefined,
        };
      },
      faults() {
        const documents = numberOf(countDocuments);
        const indexed = numberOf(countIndexed);
        return [
          ...(documents === indexed
            ? []
            : [`the index has ${indexed} documents, and there are ${documents}`]),
          ...(numberOf(unnamed) > 0 ? ["the names of fields are gone"] : []),
        ];
      },
    };
  });
