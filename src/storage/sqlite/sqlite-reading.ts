/** A SQLite view, opened for reading with its own connection. */
import type { DatabaseSync } from "node:sqlite";
import { CatalogError } from "../../core/errors.ts";
import { type Position, position } from "../../core/position.ts";
import { openSqliteViewReader, withCatalogErrors } from "./sqlite-view.ts";
import type { ViewSchema } from "./view-tables.ts";

interface SqliteReading {
  readonly db: DatabaseSync;
  /** Runs a query of one statement. Rejects `unavailable` after `close`. */
  readOne<T>(query: () => T): Promise<T>;
  /** Runs queries in one transaction, so that they read one snapshot. */
  read<T>(queries: () => T): Promise<T>;
  position(): Promise<Position>;
  /** May be called twice. */
  close(): Promise<void>;
}

export function openSqliteReading(schema: ViewSchema, path: string): SqliteReading {
  const db = openSqliteViewReader(schema, path);
  const begin = db.prepare("BEGIN");
  const end = db.prepare("COMMIT");
  const checkpoint = db.prepare("SELECT position FROM view");

  async function readOne<T>(query: () => T): Promise<T> {
    if (!db.isOpen) throw new CatalogError("unavailable", `the view "${schema.view}" is closed`);
    return withCatalogErrors(schema, "read", query);
  }

  return {
    db,
    readOne,
    read: (queries) =>
      readOne(() => {
        begin.run();
        try {
          return queries();
        } finally {
          end.run();
        }
      }),
    position: () => readOne(() => position(Number(checkpoint.get()?.position))),
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
