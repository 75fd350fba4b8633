/**
 * The sink of the graph in Neo4j: a batch is one transaction with the checkpoint, or several if the
 * server rejects it as too large.
 */
import type { Position } from "../../../core/position.ts";
import type { ServerView } from "../../../storage/view-origin.ts";
import type { GraphSink, GraphWrite } from "../graph.ts";
import { connectNeo4j, tooMuchAtOnce } from "./connection.ts";
import type { EdgeRow } from "./edges.ts";
import { namesOf } from "./schema.ts";
import { openView } from "./view.ts";
import { createEdgeState } from "./write/diff-edges.ts";
import { createEdgeWriter } from "./write/edge-writer.ts";

/** Growth of the transaction size after a success. */
const GROWTH = 1.1;

/** Rejects if the server cannot be reached. */
export async function openNeo4jGraphSink(address: ServerView): Promise<GraphSink> {
  const server = connectNeo4j(address);
  try {
    const view = await openView(server, namesOf(address.name), address);
    return createSink(server, view);
  } catch (error) {
    await server.close();
    throw error;
  }
}

type Server = ReturnType<typeof connectNeo4j>;
type View = Awaited<ReturnType<typeof openView>>;

function createSink(server: Server, view: View): GraphSink {
  /** Maximum size of a transaction: shrinks if the server rejects one, and grows slowly after that. */
  let most = Number.POSITIVE_INFINITY;

  /** Applies the first of the writes, which are new and in order; returns their number. */
  async function commit(
    writes: readonly GraphWrite[],
    upTo: Position,
    record: string | undefined,
  ): Promise<number> {
    const some = firstOf(writes, most);
    const all = some.length === writes.length;
    const writer = createEdgeWriter(view.label);
    try {
      const to = all ? upTo : (some.at(-1)?.position ?? upTo);
      await view.commit(to, writer.apply(some), all ? record : undefined);
      if (some.length >= most) most = Math.ceil(most * GROWTH);
      return some.length;
    } catch (error) {
      if (!tooMuchAtOnce(error) || firstOf(some, 1).length === some.length) throw error;
      most = Math.max(1, Math.floor(some.length / 2));
      return 0;
    }
  }

  return {
    async apply(writes, upTo, record) {
      server.usable();
      const checkpoint = view.known();
      if (upTo <= checkpoint) return;
      let left = writes.filter((write) => write.position > checkpoint);
      do left = left.slice(await commit(left, upTo, record));
      while (left.length > 0);
    },

    async restore(urn, writes) {
      server.usable();
      const rows = await statedBy(urn, writes);
      const writer = createEdgeWriter(view.label);
      await view.amend(writer.restore(urn, rows));
    },

    position: () => view.position(),
    lastRecord: () => view.lastRecord(),
    reset: () => view.reset(),

    staged: async () => view.staged(),
    publish: (head) => view.publish(head),

    async close(outcome = "keep") {
      try {
        await view.close(outcome);
      } finally {
        await server.close();
      }
    },
  };
}

/** The edges that the entity states after its writes and the requests that removed edges. */
async function statedBy(
  urn: string,
  writes: Iterable<GraphWrite> | AsyncIterable<GraphWrite>,
): Promise<readonly EdgeRow[]> {
  const state = createEdgeState([]);
  for await (const write of writes) {
    if (write.op === "forget") state.removeStated(urn, write.urn);
    else state.apply(write);
  }
  return [...state.rows()].filter(({ entity }) => entity === urn);
}

/** The first `count` writes, and further ones with the same position. */
function firstOf(writes: readonly GraphWrite[], count: number): readonly GraphWrite[] {
  const last = writes[count - 1];
  if (last === undefined) return writes;
  return writes.slice(0, writes.findLastIndex(({ position }) => position <= last.position) + 1);
}
