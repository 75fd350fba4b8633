/**
 * Stores with a full disk: writes continue, the view names the cause of its lag, and it catches up
 * when there is space. A store that ends because of a full disk is started again, as an operator
 * does.
 */
import pg from "pg";
import { describe, type ExpectStatic, test } from "vitest";
import { topics } from "../../src/feed/event-schemas.ts";
import { createKafkaSpace } from "../adapter/kafka-place.ts";
import { encoded } from "../support/client.ts";
import {
  type Cluster,
  type ClusterNode,
  type ClusterStore,
  startCluster,
} from "../support/cluster.ts";
import { type Possible, type SmallDisk, smallDisk } from "../support/faults.ts";
import type { OwnStore } from "../support/servers/store-keeper.ts";
import { ownStore } from "../support/stores.ts";

const diskMegabytes = 128;
/** Bytes that a store may still write into its existing files. */
const writesMax = 400;
const bulk = "x".repeat(20_000);

interface Place extends AsyncDisposable {
  readonly disk: SmallDisk;
  readonly store: OwnStore;
  readonly cluster: Cluster;
  readonly node: ClusterNode;
  readonly acknowledged: Map<string, string>;
  /** The `expect` of the test, because several tests run at once. */
  readonly expect: ExpectStatic;
}

/** A catalog with one store in a server that has a small disk. */
async function openPlace(name: ClusterStore, expect: ExpectStatic): Promise<Possible<Place>> {
  const disk = smallDisk(diskMegabytes);
  if ("skipped" in disk) return disk;
  await using opened = new AsyncDisposableStack();
  opened.use(disk);
  const store = await ownStore(name, disk.path);
  if ("skipped" in store) return store;
  opened.defer(() => store.stop());
  const cluster = opened.use(await startCluster({ [name]: store }));
  const node = await cluster.startNode("api,projector,feed");
  const all = opened.move();
  const acknowledged = new Map<string, string>();
  const place = { disk, store, cluster, node, acknowledged, expect };
  await write(place, 3);
  await cluster.caughtUp(node);
  return { ...place, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

type Catalog = Pick<Place, "node" | "acknowledged" | "expect">;

/** Writes tags with owners, so that every view has data of each. */
async function write({ node, acknowledged, expect }: Catalog, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const urn = `urn:li:tag:t${acknowledged.size + 1}`;
    const name = `tag ${acknowledged.size + 1}`;
    const owner = { owner: "urn:li:corpuser:ada", type: "DATAOWNER" };
    const replies = [
      await node.client.upsert(urn, "ownership", { owners: [owner] }),
      await node.client.upsert(urn, "tagProperties", { name, description: bulk }),
    ];
    for (const { status, body } of replies)
      expect([status, body.message]).toEqual([200, undefined]);
    acknowledged.set(urn, name);
  }
}

async function findAll({ node, acknowledged, expect }: Catalog): Promise<void> {
  for (const [urn, name] of acknowledged) {
    const { body } = await node.client.get(`/aspects/${encoded(urn)}?aspect=tagProperties`);
    expect([urn, body.aspect?.["com.linkedin.tag.TagProperties"].name]).toEqual([urn, name]);
  }
}

const messageOf = async ({ client }: ClusterNode, path = "/health"): Promise<string> =>
  String((await client.get(path)).body.message);

/** Writes until the view names the cause of its lag, and checks that everything else continues. */
async function writeUntilSaid(place: Place, view: string, why: RegExp): Promise<void> {
  const { node, expect } = place;
  for (let n = 0; n < writesMax && !why.test(await messageOf(node)); n += 5) await write(place, 5);
  await expect.poll(() => messageOf(node)).toMatch(why);
  expect(await messageOf(node)).toContain(`view "${view}"`);
  await write(place, 3);
  await findAll(place);
  expect((await node.client.get("/health/live")).status).toBe(200);
  const { body } = await node.client.get("/metrics");
  expect(body).toContain(`annals_view_failing{view="${view}"} 1\n`);
  expect(body).toMatch(new RegExp(`annals_view_lag_records\\{view="${view}"\\} [1-9]`));
}

async function comesBack({ cluster, node, expect }: Place): Promise<void> {
  await cluster.caughtUp(node);
  await expect.poll(async () => (await node.client.get("/health")).status).toBe(200);
  expect(await cluster.differences()).toEqual([]);
}

// Most of the time is spent waiting for servers.
describe("a store with a full disk", { timeout: 400_000, concurrent: true }, () => {
  test("PostgreSQL rejects rows, then ends; the aspect table catches up after a restart", async ({
    skip,
    expect,
  }) => {
    const opened = await openPlace("postgres", expect);
    if ("skipped" in opened) return skip(opened.skipped);
    await using place = opened;
    const { disk, store, cluster, node } = place;
    disk.fill();
    await writeUntilSaid(
      place,
      "aspects",
      /No space left on device\. Free disk space on the server/,
    );
    disk.release();
    await cluster.caughtUp(node);

    disk.fill();
    await switchLogsUntilEnd(store.url);
    await writeUntilSaid(
      place,
      "aspects",
      /PostgreSQL at .* could not serve .*Check that the server/,
    );
    disk.release();
    await store.kill();
    await store.start();
    await comesBack(place);
    await findAll(place);
  });

  test("Neo4j stops its database; the graph view catches up after a restart", async ({
    skip,
    expect,
  }) => {
    const opened = await openPlace("neo4j", expect);
    if ("skipped" in opened) return skip(opened.skipped);
    await using place = opened;
    const { disk, store, node, acknowledged } = place;
    disk.fill();
    await writeUntilSaid(place, "graph", /Neo4j at .* critical error.* and restart it;/);
    await expect.poll(() => messageOf(node, "/health/ready")).toMatch(/view "graph" is stalled/);
    disk.release();
    await store.kill();
    await store.start();
    await comesBack(place);
    expect((await node.client.get("/health/ready")).status).toBe(200);
    const owned = "/relationships?urn=urn%3Ali%3Acorpuser%3Aada&direction=INCOMING&types=OwnedBy";
    expect((await node.client.get(owned)).body.total).toBe(acknowledged.size);
  });

  test("Kafka ends; after a restart its topics receive each change once", async ({
    skip,
    expect,
  }) => {
    const opened = await openPlace("kafka", expect);
    if ("skipped" in opened) return skip(opened.skipped);
    await using place = opened;
    const { disk, store, cluster, node } = place;
    disk.fill();
    await writeUntilSaid(place, "kafka", /Kafka at .* Check that the brokers run/);
    disk.release();
    await store.kill();
    await store.start();
    await comesBack(place);
    const prefix = `${cluster.settings.ANNALS_STORE_NAME}.`;
    const messages = await createKafkaSpace(store.url, { prefix }).read(topics.versioned);
    const published = messages.map(({ headers }) => Number(headers["annals-position"]));
    expect(published.toSorted((a, b) => a - b)).toEqual(await positionsInLog(node));
    for (const ofKey of Map.groupBy(messages, ({ key }) => key).values()) {
      const positions = ofKey.map(({ headers }) => Number(headers["annals-position"]));
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    }
  });
});

/** The positions of all changes. How many there are depends on the speed of the machine. */
async function positionsInLog({ client }: ClusterNode): Promise<readonly number[]> {
  const positions: number[] = [];
  for (let after = 0; ; ) {
    const { body } = await client.get(`/changes?after=${after}&limit=1000`);
    positions.push(...body.changes.map(({ position }: { position: number }) => position));
    if (body.end) return positions;
    after = body.position;
  }
}

/** Each topic begins another file of the log: the server ends when it cannot create one. */
async function switchLogsUntilEnd(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    for (let n = 0; n < 20; n++) {
      await client.query("SELECT pg_switch_wal()");
      await client.query("SELECT pg_logical_emit_message(false, '', '')");
    }
  } catch {
    return;
  }
  await client.end();
  throw new Error("the server goes on");
}
