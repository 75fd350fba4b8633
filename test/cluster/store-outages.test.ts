/**
 * Stores that go down and come back, with their data or empty, while the catalog continues to
 * accept writes.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { encoded } from "../support/client.ts";
import { type Cluster, type ClusterNode, reachCluster, startCluster } from "../support/cluster.ts";
import { ownStore } from "../support/stores.ts";

const shared = await reachCluster();
const own = {
  postgres: "skipped" in shared ? shared : await ownStore("postgres"),
  neo4j: "skipped" in shared ? shared : await ownStore("neo4j"),
};
const missing = "skipped" in shared || "skipped" in own.postgres || "skipped" in own.neo4j;

// Only servers of the test's own may be killed, and not every machine can start them.
describe.skipIf(missing)("a catalog with failing stores", () => {
  let cluster: Cluster;
  let node: ClusterNode;
  let written = 0;

  beforeAll(async () => {
    if ("skipped" in shared || "skipped" in own.postgres || "skipped" in own.neo4j) return;
    cluster = await startCluster({ ...shared, postgres: own.postgres, neo4j: own.neo4j });
    node = await cluster.startNode("api,projector,feed");
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    for (const store of Object.values(own)) if (!("skipped" in store)) await store.stop();
  });

  /** Writes tags with owners, so that every view has data of each. */
  async function write(count: number): Promise<readonly string[]> {
    const urns: string[] = [];
    for (let n = 0; n < count; n++) {
      const urn = `urn:li:tag:t${++written}`;
      const named = await node.client.upsert(urn, "tagProperties", { name: `tag ${written}` });
      const owner = { owner: "urn:li:corpuser:ada", type: "DATAOWNER" };
      const owned = await node.client.upsert(urn, "ownership", { owners: [owner] });
      expect([named.status, owned.status], JSON.stringify(named.body)).toEqual([200, 200]);
      urns.push(urn);
    }
    return urns;
  }

  const ownedCount = async () =>
    node.client.get(
      "/relationships?urn=urn%3Ali%3Acorpuser%3Aada&direction=INCOMING&types=OwnedBy",
    );

  const nameOf = async (urn: string) =>
    (await node.client.get(`/aspects/${encoded(urn)}?aspect=tagProperties`)).body.aspect?.[
      "com.linkedin.tag.TagProperties"
    ].name;

  test("writes continue while the graph store is down, and the graph view catches up afterwards", async () => {
    if ("skipped" in own.neo4j) return;
    await write(5);
    await cluster.caughtUp(node);
    await own.neo4j.kill();
    await write(5);
    const rejected = await ownedCount();
    expect(rejected).toMatchObject({
      status: 503,
      body: { message: expect.stringMatching(/graph/) },
    });
    await expect.poll(async () => (await node.client.get("/health")).body.message).toMatch(/graph/);
    await own.neo4j.start();
    await cluster.caughtUp(node);
    expect((await ownedCount()).body.total).toBe(10);
  });

  test("writes and reads of entities continue while the store of the aspect table is down", async () => {
    if ("skipped" in own.postgres) return;
    const before = await write(3);
    await cluster.caughtUp(node);
    await own.postgres.kill();
    const [fresh = "", ...others] = await write(5);
    for (const urn of [...before, fresh, ...others]) {
      expect(await nameOf(urn)).toBe(`tag ${urn.slice("urn:li:tag:t".length)}`);
    }
    const again = await node.client.upsert(before[0] ?? "", "tagProperties", { name: "renamed" });
    expect(again.status).toBe(200);
    await own.postgres.start();
    await cluster.caughtUp(node);
    expect(await nameOf(before[0] ?? "")).toBe("renamed");
    expect(await cluster.differences()).toEqual([]);
  });

  const healthOf = async () => String((await node.client.get("/health")).body.message);

  test("writes continue while the search index is read-only, and the search view catches up afterwards", async () => {
    if ("skipped" in own.postgres || "skipped" in shared) return;
    const settings = `${shared.elasticsearch.url}/${cluster.settings.ANNALS_STORE_NAME}.*/_settings`;
    // Elasticsearch sets this block itself when its disk is full.
    const block = async (blocked: boolean) => {
      const answer = await fetch(`${settings}?expand_wildcards=all`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ "index.blocks.read_only_allow_delete": blocked || null }),
      });
      expect(answer.status).toBe(200);
    };
    const database = new pg.Client({ connectionString: own.postgres.url });
    await database.connect();
    const before = await write(2);
    await cluster.caughtUp(node);
    await database.query("ALTER SYSTEM SET default_transaction_read_only = on");
    await database.query("SELECT pg_reload_conf()");
    await block(true);
    const fresh = await write(4);
    for (const urn of [...before, ...fresh]) {
      expect(await nameOf(urn)).toBe(`tag ${urn.slice("urn:li:tag:t".length)}`);
    }
    for (const view of ["aspects", "search"]) await expect.poll(healthOf).toContain(`"${view}"`);
    await database.query("SET default_transaction_read_only = off");
    await database.query("ALTER SYSTEM RESET default_transaction_read_only");
    await database.query("SELECT pg_reload_conf()");
    await database.end();
    await block(false);
    await cluster.caughtUp(node);
    expect(await cluster.differences()).toEqual([]);
    await expect.poll(async () => (await node.client.get("/health")).status).toBe(200);
  });

  test("writes and reads of entities continue while the aspect table does not respond", async () => {
    if ("skipped" in own.postgres) return;
    const name = cluster.settings.ANNALS_STORE_NAME ?? "";
    const before = await write(3);
    await cluster.caughtUp(node);
    const database = new pg.Client({ connectionString: own.postgres.url });
    await database.connect();
    const { rows } = await database.query("SELECT tablename FROM pg_tables WHERE schemaname = $1", [
      name,
    ]);
    expect(rows).not.toEqual([]);
    // Requests wait until the lock is released.
    await database.query("BEGIN");
    for (const { tablename } of rows) {
      await database.query(`LOCK TABLE "${name}"."${tablename}" IN ACCESS EXCLUSIVE MODE`);
    }
    const fresh = await write(3);
    for (const urn of [...before, ...fresh]) {
      expect(await nameOf(urn)).toBe(`tag ${urn.slice("urn:li:tag:t".length)}`);
    }
    await database.query("COMMIT");
    await database.end();
    await cluster.caughtUp(node);
    expect(await cluster.differences()).toEqual([]);
  });

  test("views that were emptied in their stores are rebuilt", async () => {
    if ("skipped" in own.postgres || "skipped" in shared) return;
    const name = cluster.settings.ANNALS_STORE_NAME ?? "";
    const database = new pg.Client({ connectionString: own.postgres.url });
    await database.connect();
    await database.query(`DROP SCHEMA ${name} CASCADE`);
    await database.end();
    const { url } = shared.elasticsearch;
    const list = await fetch(`${url}/_cat/indices/${name}.*?h=index&expand_wildcards=all`);
    for (const index of (await list.text()).trim().split("\n")) {
      expect((await fetch(`${url}/${index}`, { method: "DELETE" })).status).toBe(200);
    }
    await write(3);
    await cluster.caughtUp(node);
    await expect.poll(() => cluster.differences(), { interval: 1_000 }).toEqual([]);
  });
});
