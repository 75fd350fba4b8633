/** The location of a graph in Neo4j for a test: a catalog of its own in a shared server. */
import neo4j, { type Driver } from "neo4j-driver";
import type { ViewOrigin } from "../../src/storage/view-origin.ts";
import type { GraphSink } from "../../src/views/graph/graph.ts";
import { openNeo4jGraphReader } from "../../src/views/graph/neo4j/neo4j-graph-reader.ts";
import { openNeo4jGraphRows } from "../../src/views/graph/neo4j/neo4j-graph-rows.ts";
import { openNeo4jGraphSink } from "../../src/views/graph/neo4j/neo4j-graph-sink.ts";
import { withGraphDump } from "../support/dumped-readers.ts";

const run = Math.random().toString(36).slice(2, 8);

export function createNeo4jPlace(text: string) {
  let driver: Driver | undefined;
  let names = 0;
  /** Names of earlier tests whose labels are empty again: the server has cached their queries. */
  const free: string[] = [];

  /** A driver for statements without the adapter. */
  function connected(): Driver {
    const url = new URL(text);
    driver ??= neo4j.driver(
      `${url.protocol}//${url.host}`,
      neo4j.auth.basic(url.username, url.password),
      { disableLosslessIntegers: true },
    );
    return driver;
  }

  const ask = async (query: string): Promise<readonly Record<string, unknown>[]> =>
    (await connected().executeQuery(query)).records.map((record) => record.toObject());

  const labelsOf = async (name: string): Promise<readonly string[]> =>
    (await ask("SHOW CONSTRAINTS YIELD name RETURN name"))
      .map((one) => String(one.name))
      .filter((label) => label === `${name}_graph` || label.startsWith(`${name}_`));

  async function createPlace() {
    const name = free.pop() ?? `t${run}_${++names}`;
    let abandoned: GraphSink[] = [];
    let sink: GraphSink | undefined;

    return {
      name,
      ask,
      async openSink(origin: ViewOrigin = {}) {
        sink = await openNeo4jGraphSink({ url: text, name, ...origin });
        return sink;
      },
      openReader: async () =>
        withGraphDump(await openNeo4jGraphReader({ url: text, name }), () =>
          openNeo4jGraphRows({ url: text, name }),
        ),
      /** Replaces `LABEL` by the label of the live generation. */
      async change(statements: string) {
        const [live] = await ask(`MATCH (v:${name}_graph {part: 'live'}) RETURN v.generation AS g`);
        await ask(statements.replaceAll("LABEL", `${name}_graph_${live?.g}`));
      },
      /** Committed writes stay; a killed process leaves its connections to the server. */
      async crash() {
        if (sink !== undefined) abandoned.push(sink);
      },
      async remove() {
        for (const lost of abandoned) await lost.close();
        abandoned = [];
        for (const label of [`${name}_graph`, ...(await labelsOf(name))]) {
          await ask(`MATCH (n:${label}) DETACH DELETE n`);
        }
        free.push(name);
      },
    };
  }

  return {
    createPlace,
    async close() {
      for (const label of await labelsOf(`t${run}`))
        await ask(`DROP CONSTRAINT ${label} IF EXISTS`);
      await driver?.close();
      driver = undefined;
    },
  };
}
