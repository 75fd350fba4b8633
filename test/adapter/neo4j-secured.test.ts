/** The graph in a real Neo4j with users, TLS and a certificate of an unknown authority. */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { position } from "../../src/core/position.ts";
import { checkNeo4j } from "../../src/views/graph/neo4j/check.ts";
import { openNeo4jGraphReader } from "../../src/views/graph/neo4j/neo4j-graph-reader.ts";
import { openNeo4jGraphSink } from "../../src/views/graph/neo4j/neo4j-graph-sink.ts";
import { certificateFile } from "../support/servers/neo4j.ts";
import { ownStore, storeTitle } from "../support/stores.ts";

const store = await ownStore("neo4j");
const url = "skipped" in store ? "" : store.url.replace("bolt://", "bolt+s://");
const certificates = readFileSync(certificateFile, "utf8");
const name = "secured";

// Only a server that the test starts itself has a known certificate.
describe.skipIf("skipped" in store)(`with users and TLS, ${storeTitle("neo4j", store)}`, () => {
  afterAll(async () => {
    if (!("skipped" in store)) await store.stop();
  });

  test("the graph is written, read and checked without findings", async () => {
    const place = { url, name, certificates };
    expect((await checkNeo4j(place)).findings).toEqual([]);
    const sink = await openNeo4jGraphSink(place);
    const [urn, owner] = ["urn:li:tag:a", "urn:li:corpuser:ada"];
    const edge = { source: urn, type: "OwnedBy", destination: owner, path: "/owners/*/owner" };
    const stamp = { time: 1, actor: owner };
    await sink.apply(
      [{ op: "replace", urn, aspect: "ownership", position: position(1), stamp, edges: [edge] }],
      position(1),
    );
    const reader = await openNeo4jGraphReader(place);
    const { total } = await reader.neighbours({
      ...{ urn, types: ["OwnedBy"], start: 0, count: 9, direction: "OUTGOING" as const },
    });
    expect(total).toBe(1);
    await reader.close();
    await sink.close();
  });

  test.each<readonly [string, { url: string; certificates?: string }, RegExp]>([
    ["an authority that nobody named", { url }, /store-certificates-file|CERTIFICATES_FILE/],
    [
      "another password",
      { url: url.replace(/:[^:@]+@/, ":wrong-one@"), certificates },
      /user|password/i,
    ],
  ])("the error for %s names the fix, and shows no password", async (_, place, hint) => {
    const rejected = await checkNeo4j({ ...place, name }).catch((error: unknown) => error);
    expect(rejected).toMatchObject({ code: "unavailable", hint: expect.stringMatching(hint) });
    expect(JSON.stringify(rejected)).not.toMatch(/annals-test|wrong-one/);
  });
});
