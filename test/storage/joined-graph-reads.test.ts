/** Reads of the graph in Neo4j that differ in the entity only are one query. */
import { expect, test } from "vitest";
import { createNeighbourhood } from "../../src/views/graph/neo4j/read/neighbourhood.ts";
import { createFollowing } from "../../src/views/graph/neo4j/read/traverse.ts";

const COUNT = 200;
const dataset = (n: number) => `urn:li:dataset:(urn:li:dataPlatform:hive,t${n},PROD)`;
const urns = Array.from({ length: COUNT }, (_, n) => dataset(n));

/** The live generation of a graph, which answers with `answer`, and the queries that it got. */
function countingGeneration(answer: (asked: readonly (readonly [unknown, string])[]) => unknown) {
  const queries: number[] = [];
  const ask = async (question: (label: string) => { parameters: Record<string, unknown> }) => {
    const asked = question("graph").parameters.asked as readonly (readonly [unknown, string])[];
    queries.push(asked.length);
    return answer(asked);
  };
  return { ask: ask as Parameters<typeof createNeighbourhood>[0], queries };
}

test("pages of neighbours of many entities are one query", async () => {
  const { ask, queries } = countingGeneration((asked) =>
    asked.map(([, urn], at) => [at, 1, [["OwnedBy", `urn:li:corpuser:${urn}`, null]]]).reverse(),
  );
  const neighbours = createNeighbourhood(ask);
  const query = { direction: "OUTGOING", types: ["OwnedBy"], start: 0, count: 10 } as const;
  const pages = await Promise.all(urns.map((urn) => neighbours({ ...query, urn })));
  expect(pages).toEqual(
    urns.map((urn) => ({
      neighbours: [{ type: "OwnedBy", urn: `urn:li:corpuser:${urn}` }],
      total: 1,
    })),
  );
  expect(queries).toEqual([COUNT]);
});

test("steps of many walks are one query, and are split while there are too many edges", async () => {
  const { ask, queries } = countingGeneration((asked) =>
    asked.map(([, urn], at) => [at, "DownstreamOf", `${urn} source`, "dataset", null, at, 0]),
  );
  const follow = createFollowing(ask);
  const step = { direction: "OUTGOING", type: "DownstreamOf", to: new Set(["dataset"]) } as const;
  const steps = new Map([["dataset", [step]]]);
  const read = (edgesMax: number) =>
    Promise.all(urns.map((urn) => follow({ urns: [urn], steps, edgesMax })));
  const edgeOf = (from: string) => ({
    ...{ from, to: `${from} source`, direction: "OUTGOING", type: "DownstreamOf" },
  });
  const found = urns.map((urn) => ({ edges: [edgeOf(urn)], complete: true }));
  expect(await read(1_000)).toEqual(found);
  expect(queries).toEqual([COUNT]);
  queries.length = 0;
  expect(await read(COUNT / 2)).toEqual(found);
  expect(queries).toEqual([COUNT, COUNT / 2, COUNT / 2]);
});
