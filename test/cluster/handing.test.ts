/**
 * Operations that are asked of a node which does not feed the view: another does them, and it
 * answers.
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
const sick = "urn:li:corpuser:sick";
const urn = (n: number) => `urn:li:tag:t${n}`;
const waitMsMax = 60_000;

// Without the servers there is nothing to bring up; what is missing is told at the end of the run.
describe.skipIf("skipped" in stores)(
  "asked of a node that only answers",
  { timeout: 120_000 },
  () => {
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

    /** In the view, by hand. */
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

    test("restoreIndices restores, and says so", async () => {
      const all = await values();
      await change((table) => `DELETE FROM ${table}`);
      expect(await values()).toBe(0);
      const told = await operatorOf(api).value("restoreIndices", {
        urnLike: "urn:li:tag:%",
        limit: 1_000,
      });
      expect(told).toContain("completed=true");
      expect(await values()).toBe(all);
      expect(await nameOf(3)).toBe("tag 3");
      const id = /taskId=([^,]+)/.exec(told)?.[1] ?? "";
      for (const node of [api, ...workers]) {
        const status = JSON.parse(await operatorOf(node).value("getEsTaskStatus", { task: id }));
        expect(status).toMatchObject({ completed: true, taskId: id });
      }
    });

    test("retryParked and dropParked reach what is parked", async () => {
      using directory = temporaryDirectory("annals-log");
      const log = await openLog({ data: directory.path, log: cluster.settings.ANNALS_LOG ?? "" });
      const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
      await log.append([{ stream: entityStream(sick), expected: "any", records }]);
      await log.close();
      const { value } = operatorOf(api);
      const parked = { view: "aspects", urn: sick };
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

    test("rebuildViews rebuilds, and every node tells how far it is", async () => {
      const before = await values();
      const id = await operatorOf(api).value("rebuildViews", { views: ["aspects"] });
      expect(await ended(api, id)).toMatchObject({ state: "done" });
      expect(await operatorOf(workers[0] ?? api).value("getJob", { id })).toMatchObject({
        ...{ kind: "rebuild", state: "done", request: { views: ["aspects"] } },
      });
      expect(await values()).toBe(before);
      expect(await nameOf(4)).toBe("tag 4");
    });

    test("is done by another node when the one that fed the view is killed", async () => {
      const [first] = workers;
      workers = [await cluster.startNode("projector")];
      await change((table) => `DELETE FROM ${table}`);
      const told = operatorOf(api).act("restoreIndices", { urnLike: "urn:li:tag:%", limit: 1_000 });
      await first?.stop("SIGKILL");
      const { body } = await told;
      const id = /taskId=([^,]+)/.exec(body.value)?.[1] ?? "";
      expect(id, JSON.stringify(body)).not.toBe("");
      expect(await ended(api, id)).toMatchObject({ state: "done" });
      expect(await nameOf(5)).toBe("tag 5");
      expect(await values()).toBe(20);
    });

    test("says that nobody is there to do it", async () => {
      await workers[0]?.stop("SIGKILL");
      const { value } = operatorOf(api);
      const told = await value("restoreIndices", { urn: urn(1) });
      expect(told).toContain("completed=false");
      const id = /taskId=([^,]+)/.exec(told)?.[1] ?? "";
      expect(await ended(api, id)).toMatchObject({
        state: "failed",
        error: expect.stringContaining("no projector is running for the views aspects"),
      });
    });
  },
);
