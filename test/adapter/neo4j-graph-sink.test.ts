/** The contract of sinks for the graph in Neo4j; other tests are in neo4j-graph.test.ts. */
import { afterAll, describe } from "vitest";
import { graphHistories } from "../contract/graph-model.ts";
import { sinkContract } from "../contract/sink.contract.ts";
import { reachStore, storeTitle } from "../support/stores.ts";
import { createNeo4jPlace } from "./neo4j-place.ts";

const store = await reachStore("neo4j");
const title = storeTitle("neo4j", store);
const { createPlace, close } = createNeo4jPlace("skipped" in store ? "" : store.url);

const literal = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\u0000", "\\u0000")}'`;

const edgesOf = (urn: string): string => `
  MATCH (s:LABEL)-[r]->(d)
  WHERE r.aspect IS NOT NULL AND coalesce(r.entity, s.urn) = ${literal(urn)}`;

const damages: readonly (readonly [what: string, statements: (urn: string) => string])[] = [
  ["removed", (urn) => `${edgesOf(urn)} DELETE r`],
  ["removed in part", (urn) => `${edgesOf(urn)} AND r.ordinal = 0 DELETE r`],
  ["changed", (urn) => `${edgesOf(urn)} SET r.updatedOn = 1, r.properties = '{}'`],
  ["moved to another place", (urn) => `${edgesOf(urn)} SET r.position = r.position + 5`],
  [
    "added",
    (urn) => `${edgesOf(urn)} AND s.urn = coalesce(r.entity, s.urn) WITH s, r LIMIT 1
      CREATE (s)-[other:Ghost]->(s) SET other = properties(r)`,
  ],
  [
    "written twice",
    (urn) => `${edgesOf(urn)} WITH s, d, r LIMIT 1
      CREATE (s)-[other:Twin]->(d) SET other = properties(r)`,
  ],
];

// The title says why the suite is skipped without a server.
describe.skipIf("skipped" in store)(title, () => {
  afterAll(close);

  sinkContract(`graph in ${title}`, {
    createPlace,
    histories: graphHistories,
    urnOf: ({ urn }) => urn,
    bearsOn: (write, urn) => write.op === "forget" || write.urn === urn,
    ownerOf: ({ entity }) => entity,
    damages,
    slow: true,
  });
});
