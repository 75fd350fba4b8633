/**
 * Operations that a client sends to a node without a projector: a projector node runs them, and the
 * first node responds.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLog } from "../../src/app/open-log.ts";
import { entityStream } from "../../src/core/stream.ts";
import { encoded } from "../support/client.ts";
import { type Cluster, type ClusterNode, reachCluster, startCluster } from "../support/cluster.ts";
import { operatorOf } from "../support/operator.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const stores = await reachCluster(["postgres"]);
const rejected = "urn:li:corpuser:rejected";
const urn = (n: number) => `urn:li:tag:t${n}`;
const waitMsMax = 60_000;

// The test needs all servers; the end of the run lists the missing ones.
describe.skipIf("skipped" in stores)("operations sent to an API node", () => {
  let cluster: Cluster;
  let api: ClusterNode;
  let workers: ClusterNode[];
  let admin: pg.Pool;

  const nameOf = async (n: number) => {
    const { body } = await api.client.get(`/entitiesV2/${encoded(urn(n))}`);
    return body.aspects?.tagProperties?.value.name;
  };

  async function ended(node: ClusterNode, id: string) {
    const until = Date.now() + waitMsMax;
    for (;;) {
      const job = await operatorOf(node).value("getJob", { id });
      if (job.state !== "running") return job;
      if (Date.now() > until) throw new Error(`job ${id} goes on: ${JSON.stringify(job)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Changes rows of the view without the service. */
  async function change(statement: (table: string) => string): Promise<void> {
    const name = cluster.settings.ANNALS_STORE_NAME;
    const { rows } = await admin.query(
      `SELECT generation FROM "${name}".view WHERE name = 'aspects' AND live`,
    );
    await admin.query(statement(`"${name}".aspect_value_g${rows[0].generation}`));
  }

  const values = async (): Promise<number> => {
    const name = cluster.settings.ANNALS_STORE_NAME;
    const { rows } = await admin.query(
      `SELECT generation FROM "${name}".view WHERE name = 'aspects' AND live`,
    );
    const found = await admin.query(
      `SELECT count(*) FROM "${name}".aspect_value_g${rows[0].generation}`,
    );
    return Number(found.rows[0].count);
  };

  beforeAll(async () => {
    if ("skipped" in stores) return;
    admin = new pg.Pool({ connectionString: stores.postgres.url, max: 1 });
    cluster = await startCluster(stores);
    workers = [await cluster.startNode("projector")];
    api = await cluster.startNode("api");
    for (let n = 0; n < 10; n++) {
      const reply = await api.client.upsert(urn(n), "tagProperties", { name: `tag ${n}` });
      expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    }
    await cluster.caughtUp(api);
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await admin?.end();
  });

  test("restoreIndices restores the view, and the response reports completion", async () => {
    const all = await values();
    await change((table) => `DELETE FROM ${table}`);
    expect(await values()).toBe(0);
    const reply = await operatorOf(api).value("restoreIndices", {
      urnLike: "urn:li:tag:%",
      limit: 1_000,
    });
    expect(reply).toContain("completed=true");
    expect(await values()).toBe(all);
    expect(await nameOf(3)).toBe("tag 3");
    const id = /taskId=([^,]+)/.exec(reply)?.[1] ?? "";
    for (const node of [api, ...workers]) {
      const status = JSON.parse(await operatorOf(node).value("getEsTaskStatus", { task: id }));
      expect(status).toMatchObject({ completed: true, taskId: id });
    }
  });

  test("retryParked and dropParked apply to entities that the projector node parked", async () => {
    using directory = temporaryDirectory("annals-log");
    const log = await openLog({ data: directory.path, log: cluster.settings.ANNALS_LOG ?? "" });
    const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
    await log.append([{ stream: entityStream(rejected), expected: "any", records }]);
    await log.close();
    const { value } = operatorOf(api);
    const parked = { view: "aspects", urn: rejected };
    await expect
      .poll(async () => (await value("listParked", { view: "aspects" })).total, {
        timeout: waitMsMax,
      })
      .toBe(1);
    expect(await value("retryParked", parked)).toMatchObject({ parked: true });
    expect(await value("dropParked", parked)).toEqual({ parked: false });
    expect((await value("listParked", { view: "aspects" })).total).toBe(0);
    const missing = await operatorOf(api).act("retryParked", { ...parked, urn: urn(2) });
    expect(missing.status).toBe(404);
  });

  test("rebuildViews rebuilds, and every node reports the progress", async () => {
    const before = await values();
    const id = await operatorOf(api).value("rebuildViews", { views: ["aspects"] });
    expect(await ended(api, id)).toMatchObject({ state: "done" });
    expect(await operatorOf(workers[0] ?? api).value("getJob", { id })).toMatchObject({
      ...{ kind: "rebuild", state: "done", request: { views: ["aspects"] } },
    });
    expect(await values()).toBe(before);
    expect(await nameOf(4)).toBe("tag 4");
  });

  test("another projector node runs the operation when the first one is killed", async () => {
    const [first] = workers;
    workers = [await cluster.startNode("projector")];
    await change((table) => `DELETE FROM ${table}`);
    const reply = operatorOf(api).act("restoreIndices", { urnLike: "urn:li:tag:%", limit: 1_000 });
    await first?.stop("SIGKILL");
    const { body } = await reply;
    const id = /taskId=([^,]+)/.exec(body.value)?.[1] ?? "";
    expect(id, JSON.stringify(body)).not.toBe("");
    expect(await ended(api, id)).toMatchObject({ state: "done" });
    expect(await nameOf(5)).toBe("tag 5");
    expect(await values()).toBe(20);
  });

  test("the response states that no projector node is running", async () => {
    await workers[0]?.stop("SIGKILL");
    const { value } = operatorOf(api);
    const reply = await value("restoreIndices", { urn: urn(1) });
    expect(reply).toContain("completed=false");
    const id = /taskId=([^,]+)/.exec(reply)?.[1] ?? "";
    expect(await ended(api, id)).toMatchObject({
      state: "failed",
      error: expect.stringContaining("no projector is running for the views aspects"),
    });
  });
});
