/**
 * The reader of the graph in SQLite, with its own connection. A page of neighbours is one snapshot;
 * a step from many nodes is read in slices, between which it yields to other requests.
 */
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { appendAll, slicesOf } from "../../../lib/lists.ts";
import { timeSliced } from "../../../storage/batching.ts";
import { preparingOn } from "../../../storage/sqlite/prepared.ts";
import { openSqliteReading } from "../../../storage/sqlite/sqlite-reading.ts";
import type { Followed, GraphReader, NeighboursQuery, Pair, Stamps, Steps } from "../graph.ts";
import { createGraphNumbers, type GraphNumbers } from "./id-dictionary.ts";
import { createNeighbourhood } from "./neighbourhood.ts";
import { graphSchema } from "./schema.ts";
import { createFollowing, type EdgeCursor, FIRST_PLACE, stepsOf } from "./traverse.ts";

/** Urns per slice: a few milliseconds, unless a node has very many edges. */
const URNS_PER_SLICE_MAX = 100;
/** Pairs per slice. */
const PAIRS_PER_SLICE_MAX = 1_000;

export function openSqliteGraphReader(path: string): GraphReader {
  const { db, read, close } = openSqliteReading(graphSchema, path);
  const numbers = createGraphNumbers(db);
  const neighbours = createNeighbourhood(db, numbers);
  const following = createFollowing(db, numbers);
  const stampsOf = createStampsQuery(db, numbers);

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
      for (const slice of slicesOf(pairs, PAIRS_PER_SLICE_MAX)) {
        appendAll(found, await read(() => slice.map(stampsOf)));
      }
      return found;
    },

    close,
  };
}

const STAMPS = "created_on, created_actor, updated_on, updated_actor, properties";

type StampColumns = readonly [
  createdOn: number,
  createdActor: number,
  updatedOn: number,
  updatedActor: number,
  properties: string | null,
];

function stampsOf(columns: StampColumns, numbers: GraphNumbers): Stamps {
  const [createdOn, createdActor, updatedOn, updatedActor, properties] = columns;
  return {
    createdOn,
    createdActor: numbers.urnOf(createdActor),
    updatedOn,
    updatedActor: numbers.urnOf(updatedActor),
    ...(properties !== null && { properties: JSON.parse(properties) }),
  };
}

function createStampsQuery(
  db: DatabaseSync,
  numbers: GraphNumbers,
): (pair: Pair) => Stamps | undefined {
  const { arrays } = preparingOn(db);
  const find = arrays<StampColumns>(`
    SELECT ${STAMPS} FROM edge WHERE source = ? AND type = ? AND destination = ? AND leads = 1`);
  return (pair) => {
    const source = numbers.nodeOf(pair.source);
    const type = numbers.nameOf(pair.type);
    const destination = numbers.nodeOf(pair.destination);
    if (source === undefined || type === undefined || destination === undefined) return undefined;
    const row = find.get(source, type, destination);
    return row && stampsOf(row, numbers);
  };
}
