/**
 * The graph's reading side in SQLite, on a connection of its own. A page of neighbours is of one
 * moment; a step from many is read in slices, between which others get their turn.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import { CatalogError } from "../../core/errors.ts";
import type { Dump } from "../../projector/compare.ts";
import { openSqliteViewReader, translated } from "../../projector/sqlite/sqlite-view.ts";
import type { Followed, GraphReader, GraphRow } from "../graph.ts";
import { createFollowing } from "./following.ts";
import { createGraphNumbers } from "./graph-numbers.ts";
import { createNeighbourhood } from "./neighbourhood.ts";
import { graphSchema } from "./schema.ts";

/** Urns of one slice: some milliseconds, unless one of them is a hub. */
const URNS_PER_SLICE_MAX = 100;

export function openSqliteGraphReader(path: string): GraphReader & Dump<GraphRow> {
  const db = openSqliteViewReader(graphSchema, path);
  const begin = db.prepare("BEGIN");
  const end = db.prepare("COMMIT");
  const numbers = createGraphNumbers(db);
  const neighbours = createNeighbourhood(db, numbers);
  const follow = createFollowing(db, numbers);

  async function read<T>(query: () => T): Promise<T> {
    if (!db.isOpen) {
      throw new CatalogError("unavailable", `the view "${graphSchema.view}" is closed`);
    }
    return translated(graphSchema, "read", () => {
      begin.run();
      try {
        return query();
      } finally {
        end.run();
      }
    });
  }

  return {
    neighbours: (query) => read(() => neighbours(query)),
    async follow(urns, steps, { edgesMax }) {},
    async close() {
      if (db.isOpen) db.close();
    },
  };
}
