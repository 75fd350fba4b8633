/**
 * A catalog on all real stores is filled and read while every store and every node is killed and
 * restarted. No acknowledged write is lost, every view equals the log at the end, and consumers of
 * the topics receive each change once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { topics } from "../../src/feed/event-schemas.ts";
import { createKafkaSpace } from "../adapter/kafka-place.ts";
import { start } from "../cli/run-program.ts";
import { encoded } from "../support/client.ts";
import { type Cluster, type ClusterNode, clusterStores, startCluster } from "../support/cluster.ts";
import {
  type EventStoreServer,
  startEventStoreServer,
} from "../support/eventstoredb-server/server.ts";
import type { OwnStore } from "../support/servers/store-keeper.ts";
import { ownStore, type SkippedStore } from "../support/stores.ts";

const sample = fileURLToPath(new URL("../data/sample/catalog.json", import.meta.url));
const main = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const roles = ["api", "api", "projector,feed", "projector,feed"] as const;
const writers = 4;
/** The average time between two writes of a writer. */
const pauseMs = 300;

const [postgres, neo4j, elasticsearch, kafka] = await Promise.all(
  clusterStores.map((name) => ownStore(name)),
);
const isThere = (store: OwnStore | SkippedStore | undefined): store is OwnStore =>
  store !== undefined && !("skipped" in store);
const stores = [postgres, neo4j, elasticsearch, kafka].filter(isThere);

const between = (least: number, most: number): number =>
  least + Math.floor(Math.random() * (most - least + 1));

/** Undefined if the connection broke with the process of the node. */
const unlessKilled = <T>(asking: Promise<T>): Promise<T | undefined> =>
  asking.catch((error: unknown) => {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  });

/** Processes that are killed and restarted with their data. */
interface Mortal {
  readonly name: string;
  kill(): Promise<unknown>;
  start(): Promise<unknown>;
}

// Only servers of the test's own may be killed, and not every machine can start them.
describe.skipIf(stores.length < clusterStores.length)(
  "a cluster whose stores and nodes are killed",
  // A second attempt needs new servers, which only a run of the whole file starts.
  { timeout: 900_000, retry: 0 },
  () => {
    let log: EventStoreServer;
    let cluster: Cluster;
    const nodes: ClusterNode[] = [];
    /** The last acknowledged name of each tag. */
    const acknowledged = new Map<string, string>();
    const profiles = new Map<string, number>();
    let written = 0;
    let logIsAway = false;
    let logOutages = 0;
    let isOver = false;

    beforeAll(async () => {
      if (!isThere(postgres) || !isThere(neo4j)) return;
      if (!isThere(elasticsearch) || !isThere(kafka)) return;
      log = await startEventStoreServer();
      // On a busy machine responses are slow: a write may wait for a log that is available.
      const address = `${log.address}&defaultDeadline=60000`;
      cluster = await startCluster({ postgres, neo4j, elasticsearch, kafka }, address);
      nodes.push(...(await Promise.all(roles.map((role) => cluster.startNode(role)))));
    });

    afterAll(async () => {
      await cluster?.[Symbol.asyncDispose]();
      await log?.stop();
      for (const store of stores) await store.stop();
    });

    const nodeAt = (index: number): ClusterNode => {
      const node = nodes[index];
      if (node === undefined) throw new Error(`there is no node ${index}`);
      return node;
    };
    const anApi = (): ClusterNode => nodeAt(between(0, 1));

    const mortals: readonly Mortal[] = [
      ...stores.map((store, n) => ({ ...store, name: clusterStores[n] ?? "" })),
      { name: "log", kill: () => log.stop(), start: () => log.start() },
      ...roles.map((role, n) => ({
        name: `${role} ${n}`,
        kill: () => nodeAt(n).stop("SIGKILL"),
        start: async () => {
          nodes[n] = await cluster.startNode(role, { directory: nodeAt(n).directory });
        },
      })),
    ];

    /** Returns a function: true if the log was away at any moment since this call. */
    function watchLog(): () => boolean {
      const wasAway = logIsAway;
      const outagesBefore = logOutages;
      return () => wasAway || logOutages > outagesBefore;
    }

    type Write = (
      node: ClusterNode,
    ) => Promise<{ readonly status: number; readonly body: unknown }>;

    /** Returns the node that acknowledged the write; a killed node is replaced by another. */
    async function insist(write: Write, choose: () => ClusterNode = anApi): Promise<ClusterNode> {
      for (;;) {
        const node = choose();
        const logWasAway = watchLog();
        const reply = await unlessKilled(write(node));
        if (reply?.status === 200) {
          written++;
          return node;
        }
        // The catalog accepts writes as long as the log does.
        if (reply !== undefined) {
          expect([reply.status, logWasAway()], JSON.stringify(reply.body)).toEqual([503, true]);
        }
        await sleep(50);
      }
    }

    /** Each writer has its own tags. */
    async function writeOn(writer: number): Promise<void> {
      for (let n = 0; !isOver; n++) {
        const urn = `urn:li:tag:story-${writer}-${n % 25}`;
        const series = `urn:li:dataset:(urn:li:dataPlatform:hive,story.t${writer},PROD)`;
        const name = `part ${n} of ${writer}`;
        const owner = { owner: `urn:li:corpuser:writer${writer}`, type: "DATAOWNER" };
        const profile = { timestampMillis: 1_700_000_000_000 + n, rowCount: n };
        const taker = await insist(({ client }) => client.upsert(urn, "tagProperties", { name }));
        acknowledged.set(urn, name);
        // Whichever store is down, a node returns the writes that it accepted.
        const logWasAway = watchLog();
        const found = await unlessKilled(nameAt(taker, urn));
        if (found !== undefined && !logWasAway()) expect(found).toBe(name);
        await insist(({ client }) => client.upsert(urn, "ownership", { owners: [owner] }));
        await insist(({ client }) => client.upsert(series, "datasetProfile", profile));
        profiles.set(series, n + 1);
        // A server starts within seconds; more writes in this time would test nothing more.
        await sleep(between(0, 2 * pauseMs));
      }
    }

    async function progress(requests: number): Promise<void> {
      const aim = written + requests;
      await expect.poll(() => isOver || written >= aim, { timeout: 240_000 }).toBe(true);
    }

    /** Reads some tags at once. */
    async function outage(dead: readonly Mortal[]): Promise<void> {
      const names = dead.map(({ name }) => name);
      const withoutLog = names.includes("log");
      if (withoutLog) {
        logIsAway = true;
        logOutages++;
      }
      await Promise.all(dead.map((one) => one.kill()));
      const isMute = withoutLog || (names.includes("api 0") && names.includes("api 1"));
      await (isMute ? sleep(between(0, 1_000)) : progress(between(1, 40)));
      await Promise.all(dead.map((one) => one.start()));
      if (!withoutLog) return;
      for (const n of [0, 1]) {
        const urn = "urn:li:tag:story-again";
        const name = `again at ${n}, after ${written}`;
        const write: Write = ({ client }) => client.upsert(urn, "tagProperties", { name });
        await insist(write, () => nodeAt(n));
      }
      logIsAway = false;
    }

    const nameAt = async ({ client }: ClusterNode, urn: string) => {
      const logWasAway = watchLog();
      const { body, status } = await client.get(`/aspects/${encoded(urn)}?aspect=tagProperties`);
      if (!logWasAway()) expect(status, JSON.stringify(body)).toBe(200);
      return body.aspect?.["com.linkedin.tag.TagProperties"].name;
    };

    async function findAll(): Promise<void> {
      const known = [...acknowledged];
      for (const node of nodes.slice(0, 2)) {
        for (const [urn, name] of known) expect(await nameAt(node, urn)).toBe(name);
      }
    }

    test("the catalog continues after each kill, and loses no acknowledged write", async () => {
      // The first failure ends the run.
      const writing = Promise.all(Array.from({ length: writers }, (_, n) => writeOn(n)));
      writing.catch(() => {
        isOver = true;
      });
      const args = [main, "ingest", sample, "--server", nodeAt(0).address];
      const { code, stderr } = await start(process.execPath, args).ended;
      expect(code, stderr).toBe(0);
      const left = mortals.toSorted(() => Math.random() - 0.5);
      while (left.length > 0 && !isOver) {
        await progress(between(1, 40));
        await outage(left.splice(0, between(3, 5)));
      }
      // Kill all stores except the log at once.
      await outage(mortals.slice(0, stores.length));
      await progress(between(1, 30));
      isOver = true;
      await writing;
      expect(acknowledged.size).toBeGreaterThan(writers);
    });

    test("every node catches up with all writes", async () => {
      for (const node of nodes) await cluster.caughtUp(node);
      await findAll();
      const { client } = nodeAt(1);
      for (let writer = 0; writer < writers; writer++) {
        const owner = encoded(`urn:li:corpuser:writer${writer}`);
        const own = [...acknowledged.keys()].filter((urn) => urn.includes(`story-${writer}-`));
        const path = `/relationships?urn=${owner}&direction=INCOMING&types=OwnedBy`;
        expect((await client.get(path)).body.total).toBe(own.length);
      }
      const search = { input: "*", entity: "tag", start: 0, count: 0 };
      const found = await client.call("POST", "/entities?action=search", search);
      expect(found.body.value.numEntities).toBeGreaterThanOrEqual(acknowledged.size);
      for (const [urn, count] of profiles) {
        const asked = { urn, entity: "dataset", aspect: "datasetProfile", limit: 10_000 };
        const path = "/aspects?action=getTimeseriesAspectValues";
        const { body } = await client.call("POST", path, asked);
        expect(body.value.values).toHaveLength(count);
      }
    });

    test("every view equals the log", async () => {
      expect(await cluster.differences()).toEqual([]);
    });

    test("consumers of the topics receive each change once, in the order of its entity", async () => {
      if (!isThere(kafka)) return;
      const prefix = `${cluster.settings.ANNALS_STORE_NAME}.`;
      const space = createKafkaSpace(kafka.url, { prefix });
      const read = await Promise.all(
        [topics.versioned, topics.timeseries].map((topic) => space.read(topic)),
      );
      const messages = read.flat().map(({ key, headers }) => ({
        ...{ urn: key, position: Number(headers["annals-position"]) },
      }));
      const changes: { readonly urn: string; readonly position: number }[] = [];
      for (let from = "from=start"; ; ) {
        const { body } = await nodeAt(0).client.get(`/changes?${from}&limit=1000`);
        for (const { entityUrn: urn, position } of body.changes) changes.push({ urn, position });
        if (body.changes.length === 0) break;
        from = `after=${body.position}`;
      }
      const inOrder = messages.toSorted((a, b) => a.position - b.position);
      expect(inOrder).toEqual(changes);
      expect(changes.length).toBeGreaterThan(acknowledged.size);
      for (const messages of read) {
        for (const one of Map.groupBy(messages, ({ key }) => key).values()) {
          const positions = one.map(({ headers }) => Number(headers["annals-position"]));
          expect(positions).toEqual(positions.toSorted((a, b) => a - b));
        }
      }
    });
  },
);
