/**
 * Counts that views return for datasets with references to others. They never shrink while no
 * dataset is deleted.
 */
import { expect } from "vitest";
import { type Client, proposal } from "../support/client.ts";

export const dataset = (n: number): string =>
  `urn:li:dataset:(urn:li:dataPlatform:hive,table${n},PROD)`;

/** A dataset with data for every view: words, an edge to the first dataset, and an event. */
export const datasetProposals = (n: number, profiled = n) => [
  proposal(dataset(n), "datasetProperties", { name: `table${n}`, description: `ordinary ${n}` }),
  proposal(dataset(n), "upstreamLineage", { upstreams: [{ dataset: dataset(0), type: "COPY" }] }),
  proposal(dataset(profiled), "datasetProfile", { timestampMillis: n, rowCount: n }),
];

/** One count for each view; the events are those of the first dataset. */
export async function shownCounts(client: Client) {
  const ok = async (path: string, body?: object) => {
    const reply = await client.call(body === undefined ? "GET" : "POST", path, body);
    expect(reply.status, `${path}: ${JSON.stringify(reply.body)}`).toBe(200);
    return reply.body;
  };
  const zero = encodeURIComponent(dataset(0));
  const [total, found, edges, events] = await Promise.all([
    ok("/entities?action=getTotalEntityCount", { entity: "dataset" }),
    ok("/entities?action=search", { entity: "dataset", input: "ordinary", start: 0, count: 1 }),
    ok(`/relationships?direction=INCOMING&urn=${zero}&types=DownstreamOf&start=0&count=1`),
    ok("/aspects?action=getTimeseriesAspectValues", {
      ...{ urn: dataset(0), entity: "dataset", aspect: "datasetProfile", limit: 10_000 },
    }),
  ]);
  return {
    entities: total.value,
    found: found.value.numEntities,
    edges: edges.total,
    events: events.value.values.length,
  };
}
