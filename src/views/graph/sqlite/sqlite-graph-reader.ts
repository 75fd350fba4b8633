/**
 * The reader of the graph in SQLite, with its own connection. A page of neighbours is one snapshot;
 * a step from many nodes is read in slices, between which it yields to other requests.
 */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { CatalogError } from "../../../core/errors.ts";
import { appendAll } from "../../../lib/lists.ts";
import { timeSliced } from "../../../storage/batching.ts";
import type { Dump } from "../../../storage/dump.ts";
import { openSqliteViewReader, withCatalogErrors } from "../../../storage/sqlite/sqlite-view.ts";
import type { Followed, GraphReader, GraphRow, NeighboursQuery, Stamps, Steps } from "../graph.ts";
import { createDumping, createStampsQuery } from "./edge-details.ts";
import { createGraphNumbers } from "./id-dictionary.ts";
import { createNeighbourhood } from "./neighbourhood.ts";
import { graphSchema } from "./schema.ts";
import { createFollowing, type EdgeCursor, FIRST_PLACE, stepsOf } from "./traverse.ts";

/** Urns per slice: a few milliseconds, unless a node has very many edges. */
const URNS_PER_SLICE_MAX = 100;
/** Pairs, and nodes of a dump, per slice. */
const PAIRS_PER_SLICE_MAX = 1_000;
const NODES_PER_SLICE_MAX = 200;

export function openSqliteGraphReader(path: string): GraphReader & Dump<GraphRow> {
  const db = openSqliteViewReader(graphSchema, path);
  const begin = db.prepare("BEGIN");
  const end = db.prepare("COMMIT");
  const numbers = createGraphNumbers(db);
  const neighbours = createNeighbourhood(db, numbers);
  const following = createFollowing(db, numbers);
  const stampsOf = createStampsQuery(db, numbers);
  const dumping = createDumping(db, numbers, { nodesMax: NODES_PER_SLICE_MAX });

  async function read<T>(query: () => T): Promise<T> {
    if (!db.isOpen) {
      throw new CatalogError("unavailable", `the view "${graphSchema.view}" is closed`);
    }
    return withCatalogErrors(graphSchema, "read", () => {
      begin.run();
      try {
        return query();
      } finally {
        end.run();
      }
    });
  }

  /** Reads the edges of one urn in pages. */
  async function* pagesOf(urn: string, steps: Steps): AsyncGenerator<readonly Followed[]> {
    for (const step of stepsOf(urn, steps)) {
      let after: EdgeCursor | undefined = FIRST_PLACE;
      while (after !== undefined) {
        const place: EdgeCursor = after;
        const { edges, last } = await read(() => following.page(urn, step, place));
        yield edges;
        after = last;
        await yieldToEventLoop();
      }
    }
  }

  async function* edgesOf(urns: readonly string[], steps: Steps) {
    for (let from = 0; from < urns.length; from += URNS_PER_SLICE_MAX) {
      const slice = urns.slice(from, from + URNS_PER_SLICE_MAX);
      const batch = await read(() => following.batch(slice, steps));
      if (batch !== undefined) yield batch;
      else for (const urn of slice) yield* pagesOf(urn, steps);
      if (from + URNS_PER_SLICE_MAX < urns.length) await yieldToEventLoop();
    }
  }

  return {
    neighbours: timeSliced((query: NeighboursQuery) => read(() => neighbours(query))),

    async follow(urns, steps, { edgesMax }) {
      const edges: Followed[] = [];
      for await (const some of edgesOf(urns, steps)) {
        for (const edge of some) {
          if (edges.length === edgesMax) return { edges, complete: false };
          edges.push(edge);
        }
      }
      return { edges, complete: true };
    },

    async stamps(pairs) {
      const found: (Stamps | undefined)[] = [];
      for (let from = 0; from < pairs.length; from += PAIRS_PER_SLICE_MAX) {
        const slice = pairs.slice(from, from + PAIRS_PER_SLICE_MAX);
        appendAll(found, await read(() => slice.map(stampsOf)));
      }
      return found;
    },

    async *dump() {
      for (const kind of await read(dumping.kinds)) {
        let from: string | undefined = "";
        while (from !== undefined) {
          const start: string = from;
          const { rows, next } = await read(() => dumping.edges(kind, start));
          yield* rows;
          from = next;
          await yieldToEventLoop();
        }
      }
    },

    async close() {
      if (db.isOpen) db.close();
    },
  };
}
