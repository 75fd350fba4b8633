/**
 * The graph's writing side in Neo4j: a batch is one transaction, checkpoint and all, unless that is
 * more than the server takes at once; then it is halved.
 */
import type { Position } from "../../core/position.ts";
import type { ServerView } from "../../projector/view-origin.ts";
import type { GraphSink, GraphWrite } from "../graph.ts";
import { connectNeo4j, tooMuchAtOnce } from "./connection.ts";
import { createEdgeWriter } from "./edge-writer.ts";
import type { EdgeRow } from "./edges.ts";
import { namesOf } from "./schema.ts";
import { createTelling } from "./telling.ts";
import { openView } from "./view.ts";

/** Rejects where the server cannot be reached. */
export async function openNeo4jGraphSink(place: ServerView): Promise<GraphSink> {
  const server = connectNeo4j(place);
  try {
    const view = await openView(server, namesOf(place.name), place);
    return createSink(server, view);
  } catch (error) {
    await server.close();
    throw error;
  }
}

type Server = ReturnType<typeof connectNeo4j>;
type View = Awaited<ReturnType<typeof openView>>;

function createSink(server: Server, view: View): GraphSink {
  /** `writes` are new, and in order. */
  async function commit(writes: readonly GraphWrite[], upTo: Position): Promise<void> {
    const writer = createEdgeWriter(view.label);
    try {
      await view.commit(upTo, async (transaction) => {
        if (writes.length > 0) await writer.apply(transaction, writes);
      });
    } catch (error) {
      const half = halved(writes);
      if (half === undefined || !tooMuchAtOnce(error)) throw error;
      await commit(writes.slice(0, half.length), half.upTo);
      await commit(writes.slice(half.length), upTo);
    }
  }

  return {
    async apply(writes, upTo) {
      server.usable();
      const checkpoint = view.known();
      if (upTo <= checkpoint) return;
      await commit(
        writes.filter((write) => write.position > checkpoint),
        upTo,
      );
    },

    async restore(urn, writes) {
      server.usable();
      const rows = await toldBy(urn, writes);
      const writer = createEdgeWriter(view.label);
      await view.mend((transaction) => writer.restore(transaction, urn, rows));
    },

    position: () => view.position(),
    reset: () => view.reset(),

    async close(outcome = "keep") {
      try {
        await view.close(outcome);
      } finally {
        await server.close();
      }
    },
  };
}

/** What the entity tells after all of its writes; others' requests to forget edges are among them. */
async function toldBy(
  urn: string,
  writes: Iterable<GraphWrite> | AsyncIterable<GraphWrite>,
): Promise<readonly EdgeRow[]> {
  const telling = createTelling([]);
  for await (const write of writes) {
    if (write.op === "forget") telling.forgetTold(urn, write.urn);
    else telling.apply(write);
  }
  return [...telling.rows()].filter(({ entity }) => entity === urn);
}

/** The first half of the writes, so that none of a position is left to the other. */
function halved(
  writes: readonly GraphWrite[],
): { readonly length: number; readonly upTo: Position } | undefined {
  const middle = writes[Math.floor((writes.length - 1) / 2)];
  if (middle === undefined) return undefined;
  const length = writes.findLastIndex(({ position }) => position <= middle.position) + 1;
  return length === writes.length ? undefined : { length, upTo: middle.position };
}
