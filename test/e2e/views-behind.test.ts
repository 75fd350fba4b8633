/**
 * Two nodes on one log whose views nobody feeds: what one of them wrote, the other finds in the log
 * alone. What it decides and what it says must be true all the same.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded, proposal } from "../support/client.ts";
import { type Cluster, type ClusterNode, reachCluster, startCluster } from "../support/cluster.ts";

const stores = await reachCluster();

// Two nodes need stores that they share; what is missing is told at the end of the run.
describe.skipIf("skipped" in stores)("nodes whose views stand still", { concurrent: true }, () => {
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

  test("a condition is held against what another node wrote", async () => {
    const urn = "urn:li:tag:conditional";
    await one.client.upsert(urn, "tagProperties", { name: "first" });
    const headers = { "If-Version-Match": "1" };
    expect(await ingest(other, urn, "second", { headers })).toMatchObject({ status: 200 });
    expect(await ingest(one, urn, "third", { headers })).toMatchObject({ status: 422 });
  });

  test("what another node deleted can be created again", async () => {
    const urn = "urn:li:tag:again";
    await one.client.upsert(urn, "tagProperties", { name: "first" });
    const gone = await other.client.call("POST", "/entities?action=delete", { urn });
    // Timeseries are counted in a view that does not come so far.
    expect(gone.status).toBe(503);
    const removed = await ingest(other, urn, "", { changeType: "DELETE", aspect: undefined });
    expect(removed).toMatchObject({ status: 200 });
    expect(await ingest(one, urn, "new", { changeType: "CREATE" })).toMatchObject({ status: 200 });
  });

  test("an answer does not claim to show what its view does not have", async () => {
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
