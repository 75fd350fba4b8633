/**
 * Two nodes on one log without a projector: each node finds the writes of the other one only in the
 * log. Conditions and responses must be right all the same.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type Cluster, type ClusterNode, reachCluster, startCluster } from "../support/cluster.ts";

const stores = await reachCluster();

// Two nodes need shared stores; the end of the run lists the missing ones.
describe.skipIf("skipped" in stores)("nodes without a projector", { concurrent: true }, () => {
  let cluster: Cluster;
  let one: ClusterNode;
  let other: ClusterNode;

  beforeAll(async () => {
    if ("skipped" in stores) return;
    cluster = await startCluster(stores);
    [one, other] = await Promise.all([cluster.startNode("api"), cluster.startNode("api")]);
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  const ingest = (node: ClusterNode, urn: string, name: string, more: object) =>
    node.client.call("POST", "/aspects?action=ingestProposal", {
      proposal: proposal(urn, "tagProperties", { name }, more),
    });

  test("a condition is checked against the writes of another node", async () => {
    const urn = "urn:li:tag:conditional";
    await one.client.upsert(urn, "tagProperties", { name: "first" });
    const headers = { "If-Version-Match": "1" };
    expect(await ingest(other, urn, "second", { headers })).toMatchObject({ status: 200 });
    expect(await ingest(one, urn, "third", { headers })).toMatchObject({ status: 422 });
  });

  test("an entity that another node deleted can be created again", async () => {
    const urn = "urn:li:tag:again";
    await one.client.upsert(urn, "tagProperties", { name: "first" });
    const gone = await other.client.call("POST", "/entities?action=delete", { urn });
    // A hard delete counts timeseries events in a view that does not cover the log.
    expect(gone.status).toBe(503);
    const removed = await ingest(other, urn, "", { changeType: "DELETE", aspect: undefined });
    expect(removed).toMatchObject({ status: 200 });
    expect(await ingest(one, urn, "new", { changeType: "CREATE" })).toMatchObject({ status: 200 });
  });

  test("a response does not name a position that its view does not cover", async () => {
    const urn = "urn:li:tag:shown";
    const { position } = await one.client.upsert(urn, "tagProperties", { name: "first" });
    await other.client.upsert("urn:li:tag:later", "tagProperties", { name: "later" });
    const path = `/aspects/${encoded(urn)}?aspect=tagProperties`;
    const early = await other.client.get(path);
    expect(early.position ?? 0).toBeLessThan(position ?? 0);
    const asked = { "X-Annals-Min-Position": String(position) };
    expect(await other.client.call("GET", path, undefined, asked)).toMatchObject({ status: 503 });
  });
});
