/** Writes read no streams of EventStoreDB: states come from the aspect table. */
import { expect, test } from "vitest";
import { parseStream } from "../../src/core/stream.ts";
import { batch, single } from "../bench/sample.ts";
import { startEventStoreServer } from "../support/eventstoredb-server/server.ts";
import { runningService } from "../support/running-service.ts";

const entities = 200;

test("writes of new and existing entities read no streams of entities", async () => {
  const server = await startEventStoreServer();
  try {
    await using service = await runningService({ log: server.address });
    const ingest = async (action: string, body: string) => {
      const path = `/aspects?action=${action}`;
      const { status } = await service.client.call("POST", path, JSON.parse(body));
      expect(status).toBe(200);
    };
    const numbers = Array.from({ length: entities }, (_, n) => n);
    await Promise.all(numbers.map((n) => ingest("ingestProposal", single(n, 0))));
    await ingest("ingestProposalBatch", batch(entities, 2 * entities, 0));
    // Also while the view lacks the last change of the entity.
    for (const generation of [1, 2]) {
      for (const n of numbers) await ingest("ingestProposal", single(n % 20, generation * n));
    }
    expect(server.store.all.length).toBeGreaterThan(entities * 2 * 5);
    const urns = server.streamsRead
      .map((name) => parseStream(name))
      .filter((of) => of && "urn" in of);
    expect(urns).toEqual([]);
  } finally {
    await server.stop();
  }
});
