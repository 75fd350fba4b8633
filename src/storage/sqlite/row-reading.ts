/** Reads the rows of a SQLite view for verification (verify/view-rows.ts). */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Row, ViewRows } from "../../projector/verify/view-rows.ts";
import { openSqliteReading } from "./sqlite-reading.ts";
import { withCatalogErrors } from "./sqlite-view.ts";
import { differingParts, readPosition, type ViewSchema } from "./view-tables.ts";

/** The queries of one view; each function runs within one read transaction. */
export interface RowQueries {
  rowsOf(urn: string): readonly Row[];
  /** Number of all rows; undefined if it is not known. */
  count(): number | undefined;
  /** One page of urns after a cursor, and the cursor of the next one. */
  urns(after: unknown): { readonly urns: readonly string[]; readonly next: unknown };
  faults(): readonly string[];
  /** Called before each read: cached values may have changed. */
  begin?(): void;
}

/** A small cache: reads are in the order of urns and rarely reuse a page. */
const CACHE_KIB = 16 * 1024;
/** Rows in memory at a time: a read ends with the entity that exceeds them. */
const ROWS_MAX = 10_000;

export function openSqliteViewRows(
  schema: ViewSchema,
  path: string,
  prepare: (db: DatabaseSync) => RowQueries,
): ViewRows {
  const { db, read: readSnapshot, position, close } = openSqliteReading(schema, path);
  db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
  const queries = withCatalogErrors(schema, "read", () => prepare(db));

  const read = <T>(query: () => T): Promise<T> =>
    readSnapshot(() => {
      queries.begin?.();
      return query();
    });

  return {
    position,
    read: (urns) =>
      read(() => {
        const at = readPosition(db);
        const rows: (readonly Row[])[] = [];
        let count = 0;
        for (const urn of urns) {
          const found = queries.rowsOf(urn);
          rows.push(found);
          count += found.length;
          if (count >= ROWS_MAX) break;
        }
        return { from: at, to: at, rows };
      }),
    count: () => read(() => ({ position: readPosition(db), rows: queries.count() })),
    async *urns() {
      let after: unknown;
      do {
        const from = after;
        const page = await read(() => queries.urns(from));
        yield page.urns;
        after = page.next;
        await yieldToEventLoop();
      } while (after !== undefined);
    },
    faults: () =>
      read(() => [...differingParts(db, schema), ...queries.faults(), ...fileFaults(db)]),
    close,
  };
}

const FILE_FAULTS_MAX = 10;

/**
 * Faults that SQLite finds in the pages of the file, and entries of indexes that differ from their
 * tables.
 */
function fileFaults(db: DatabaseSync): readonly string[] {
  const found = db.prepare(`PRAGMA integrity_check(${FILE_FAULTS_MAX})`).all();
  return found
    .map(({ integrity_check }) => String(integrity_check))
    .filter((one) => one !== "ok")
    .map((one) => `the file is damaged: ${one}`);
}
