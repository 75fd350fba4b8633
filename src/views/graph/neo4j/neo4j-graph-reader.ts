/** The reader of the graph in Neo4j. Connects with the first query. */
import type { ServerAddress } from "../../../storage/view-origin.ts";
import type { GraphReader } from "../graph.ts";
import { connectNeo4j } from "./connection.ts";
import { createAskLive } from "./live-generation.ts";
import { createStampsQuery } from "./read/edge-details.ts";
import { createNeighbourhood } from "./read/neighbourhood.ts";
import { createFollowing } from "./read/traverse.ts";
import { namesOf } from "./schema.ts";

export async function openNeo4jGraphReader(address: ServerAddress): Promise<GraphReader> {
  const server = connectNeo4j(address);
  const ask = createAskLive(server, namesOf(address.name));
  const neighbours = createNeighbourhood(ask);
  const follow = createFollowing(ask);
  const stamps = createStampsQuery(ask);

  return {
    async neighbours(query) {
      server.usable();
      return neighbours(query);
    },
    async follow(urns, steps, { edgesMax }) {
      server.usable();
      return follow({ urns, steps, edgesMax });
    },
    async stamps(pairs) {
      server.usable();
      return stamps(pairs);
    },
    close: () => server.close(),
  };
}
