/**
 * A write to EventStoreDB costs one append for each entity, and reads no stream: states come from
 * the aspect table.
 */
import { expect, test, vi } from "vitest";
import { parseStream } from "../../src/core/stream.ts";
import { batch, single, urnOf } from "../bench/sample.ts";
import { startEventStoreServer } from "../support/eventstoredb-server/server.ts";
import { runningService } from "../support/running-service.ts";

const entities = 200;

test("writes of new and existing entities append once for each entity, and read no streams", async () => {
  const server = await startEventStoreServer();
  const append = vi.spyOn(server.store, "append");
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
    const urnsOf = (names: readonly string[]) =>
      names.flatMap((name) => parseStream(name)?.urn ?? []);
    expect(urnsOf(server.streamsRead)).toEqual([]);
    const appends = urnsOf(append.mock.calls.map(([name]) => name));
    // The first 20 entities are changed 20 times; the others are only created.
    const expected = Array.from({ length: 2 * entities }, (_, n) => (n < 20 ? 21 : 1));
    const counts = Map.groupBy(appends, (urn) => urn);
    expect(expected.map((_, n) => counts.get(urnOf(n))?.length)).toEqual(expected);
  } finally {
    await server.stop();
  }
});
