/**
 * The cluster profile with nodes as processes on real stores: it gives the same answers as the
 * embedded profile while nodes come and go, and at the end every view equals the log.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../cli/run-program.ts";
import { encoded } from "../support/client.ts";
import { type Cluster, type ClusterNode, reachCluster, startCluster } from "../support/cluster.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const sample = fileURLToPath(new URL("../data/sample/catalog.json", import.meta.url));
const main = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const stores = await reachCluster();

const searches: readonly object[] = [
  { input: "*", entity: "dataset", start: 0, count: 20 },
  { input: "viability", entity: "dataset", start: 0, count: 5 },
  { input: '"germination test"', entity: "dataset", start: 0, count: 5 },
  { input: "seed* NOT forecast", entity: "dataset", start: 0, count: 10 },
  {
    ...{ input: "*", entity: "dataset", start: 0, count: 10 },
    filter: { or: [{ and: [{ field: "platform", condition: "CONTAIN", values: ["snow"] }] }] },
    sort: { field: "name", order: "DESCENDING" },
  },
];

/** Stamps and runs differ between two catalogs with the same writes. */
function comparable(body: unknown): unknown {
  const text = JSON.stringify(body, (key, value) =>
    [
      "time",
      "lastObserved",
      "lastModified",
      "created",
      "systemMetadata",
      "lastModifiedAt",
    ].includes(key)
      ? undefined
      : value,
  );
  return JSON.parse(text);
}

// The test needs all servers; the end of the run lists the missing ones.
describe.skipIf("skipped" in stores)("a cluster on real stores", () => {
  let cluster: Cluster;
  let embedded: RunningService;
  let api: ClusterNode;
  let other: ClusterNode;
  let worker: ClusterNode;
  let next: ClusterNode;
  const urns = new Set<string>();

  beforeAll(async () => {
    if ("skipped" in stores) return;
    cluster = await startCluster(stores);
    [api, other, worker] = await Promise.all([
      cluster.startNode("api"),
      cluster.startNode("api"),
      cluster.startNode("projector,feed"),
    ]);
    embedded = await runningService({ logLevel: "silent" });
  });

  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await embedded?.[Symbol.asyncDispose]();
  });

  test("an entity that is written through one node can be read through another", async () => {
    for (const address of [api.address, embedded.address]) {
      const args = [main, "ingest", sample, "--server", address];
      expect(await start(process.execPath, args).ended).toMatchObject({ code: 0 });
    }
    const { body } = await embedded.client.call("POST", "/entities?action=search", searches[0]);
    for (const urn of body.value.entities) urns.add(urn);
    expect(urns.size).toBeGreaterThan(5);
    await cluster.caughtUp(other);
    for (const urn of urns) {
      const path = `/entitiesV2/${encoded(urn)}`;
      const [there, here] = [await other.client.get(path), await embedded.client.get(path)];
      expect(comparable(there.body), urn).toEqual(comparable(here.body));
    }
  });

  test("searches return the same results, order and facets as the embedded profile", async () => {
    for (const input of searches) {
      const ask = (client: ClusterNode["client"]) =>
        client.call("POST", "/entities?action=search", input);
      const [there, here] = [await ask(other.client), await ask(embedded.client)];
      expect(there.status).toBe(200);
      expect(comparable(there.body), JSON.stringify(input)).toEqual(comparable(here.body));
    }
    const typed = { query: "via", entity: "dataset", limit: 5 };
    const complete = (client: ClusterNode["client"]) =>
      client.call("POST", "/entities?action=autocomplete", typed);
    expect((await complete(api.client)).body).toEqual((await complete(embedded.client)).body);
  });

  test("/relationships and lineage from Neo4j equal those of the embedded graph", async () => {
    for (const urn of urns) {
      for (const direction of ["INCOMING", "OUTGOING"]) {
        const types = "List(OwnedBy,DownstreamOf,IsPartOf,Contains,Consumes,Produces)";
        const path = `/relationships?urn=${encoded(urn)}&direction=${direction}&types=${types}`;
        const [there, here] = [await api.client.get(path), await embedded.client.get(path)];
        expect(there.body.total, `${direction} of ${urn}`).toBe(here.body.total);
        expect(comparable(there.body)).toEqual(comparable(here.body));
      }
    }
  });

  test("a write can be read at once through its node, and through other nodes at its position", async () => {
    const urn = "urn:li:tag:fresh";
    for (const name of ["first", "second", "third"]) {
      const { position } = await api.client.upsert(urn, "tagProperties", { name });
      const own = await api.client.get(`/aspects/${encoded(urn)}?aspect=tagProperties`);
      expect(own.body.aspect["com.linkedin.tag.TagProperties"].name).toBe(name);
      const there = await other.client.call(
        "GET",
        `/aspects/${encoded(urn)}?aspect=tagProperties`,
        undefined,
        { "X-Annals-Min-Position": String(position) },
      );
      expect(there.body.aspect["com.linkedin.tag.TagProperties"].name).toBe(name);
    }
  });

  test("annals check reports no problem, and names a missing store next to the healthy ones", async () => {
    const check = (changed: Readonly<Record<string, string>> = {}) =>
      start(process.execPath, [main, "check", "--data", api.directory], {
        ...cluster.settings,
        ...changed,
      }).ended;
    const findings = (stdout: string) =>
      [...stdout.matchAll(/^(\w+) .* (ok|to be repaired)((?:\n {2}- .*)*)$/gm)].map(
        ([, store = "", , found = ""]) => [store, found.trim()] as const,
      );
    const healthy = await check();
    const places = ["directory", "log", "aspects", "timeseries", "graph", "search", "kafka"];
    expect(findings(healthy.stdout).map(([store]) => store)).toEqual(places);
    // The test server turns off settings that only a crash of the machine needs.
    const wrong = findings(healthy.stdout).filter(
      ([, found]) => !/^(?:- fsync is off.*)?$/.test(found),
    );
    expect(wrong, healthy.stderr).toEqual([]);

    const graph = cluster.settings.ANNALS_GRAPH ?? "";
    const ill = await check({
      ANNALS_GRAPH: graph.replace(/:[^:@]*@/, ":another-password@"),
      ANNALS_KAFKA: "127.0.0.1:1",
    });
    const found = new Map(findings(ill.stdout));
    expect(found.get("graph")).toMatch(/^- .*neo4j.*(?:user|password)/is);
    expect(found.get("kafka")).toMatch(/^- Kafka at 127\.0\.0\.1:1 does not answer/);
    const others = (stdout: string) =>
      findings(stdout).filter(([store]) => store !== "graph" && store !== "kafka");
    expect(others(ill.stdout)).toEqual(others(healthy.stdout));
    expect(`${ill.stdout}${ill.stderr}`).not.toContain("another-password");
    expect(ill.code).toBe(1);
  });

  test("writes of two nodes to one entity have versions without gaps", async () => {
    const urn = "urn:li:tag:contested";
    const names = Array.from({ length: 20 }, (_, n) => `name ${n}`);
    const replies = await Promise.all(
      names.map((name, n) =>
        (n % 2 === 0 ? api : other).client.upsert(urn, "tagProperties", { name }),
      ),
    );
    const taken = names.filter((_, n) => replies[n]?.status === 200);
    // A write that loses the race too often is rejected with that error.
    for (const { status } of replies) expect([200, 409]).toContain(status);
    await cluster.caughtUp(api);
    const found: string[] = [];
    for (let version = 1; version <= taken.length; version++) {
      const path = `/aspects/${encoded(urn)}?aspect=tagProperties&version=${version}`;
      const { body } = await api.client.get(path);
      found.push(body.aspect["com.linkedin.tag.TagProperties"].name);
    }
    expect(found.toSorted()).toEqual(taken.toSorted());
  });

  test("another projector takes over when the active one is killed", async () => {
    next = await cluster.startNode("projector,feed");
    await worker.stop("SIGKILL");
    const written: string[] = [];
    for (let n = 0; n < 50; n++) {
      const urn = `urn:li:tag:after-${n}`;
      const node = n % 2 === 0 ? api : other;
      expect((await node.client.upsert(urn, "tagProperties", { name: `after ${n}` })).status).toBe(
        200,
      );
      written.push(urn);
    }
    await other.stop("SIGKILL");
    await cluster.caughtUp(next);
    const { body } = await api.client.call("POST", "/entities?action=search", {
      ...{ input: "after", entity: "tag", start: 0, count: 100 },
    });
    expect(body.value.entities.toSorted()).toEqual(written.toSorted());
  });

  test("every view equals the log", async () => {
    expect(await cluster.differences()).toEqual([]);
  });

  test("any node verifies and repairs the views, whichever node projects them", async () => {
    const verify = async (node: ClusterNode, ...more: string[]) =>
      start(process.execPath, [
        ...[main, "verify", "--server", node.address, "--data", node.directory, ...more],
      ]).ended;
    for (const node of [api, next]) {
      const { code, stdout, stderr } = await verify(node);
      expect(code, `${stdout}${stderr}`).toBe(0);
      for (const view of ["aspects", "timeseries", "graph", "search"]) {
        expect(stdout).toMatch(new RegExp(`${view}: \\d+ rows, as the log says`));
      }
    }
    await cluster.damageAspects("UPDATE {entity} SET living = NOT living WHERE id % 5 = 0");
    const found = await verify(api, "aspects");
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/aspects: \d+ differences/);
    const repaired = await verify(api, "--repair");
    expect(repaired.code, `${repaired.stdout}${repaired.stderr}`).toBe(0);
    expect(await cluster.differences()).toEqual([]);
  });
});
