/**
 * A running service with views in servers: views are verified, listed and repaired as embedded ones
 * are, writes cause no reported differences, and parked records are no differences.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import {
  type Damaged,
  elasticsearchViews,
  neo4jViews,
  postgresViews,
} from "../adapter/view-rows-places.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { dataset, user, writeHistory } from "../support/random-history.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { reachStore } from "../support/stores.ts";

const names = ["postgres", "neo4j", "elasticsearch"] as const;
const stores = await Promise.all(names.map((name) => reachStore(name)));
const urls = stores.flatMap((store) => ("skipped" in store ? [] : [store.url]));
const views = ["aspects", "timeseries", "graph", "search"];
/** Each job yields to all other work of the machine. */
const endedMsMax = 120_000;

// The test needs all servers; the end of the run lists the missing ones.
describe.skipIf(urls.length < names.length)("views in servers", { timeout: 400_000 }, () => {
  let service: RunningService;
  let operator: Operator;
  const places: Record<string, Pick<Damaged, "damage" | "remove">> = {};

  beforeAll(async () => {
    const [postgres = "", neo4j = "", elasticsearch = ""] = urls;
    const tables = await postgresViews(postgres);
    const { name: storeName } = tables.place;
    places.aspects = { damage: tables.change, remove: tables.remove };
    places.graph = await neo4jViews(neo4j, storeName);
    for (const view of ["search", "timeseries"]) {
      places[view] = await elasticsearchViews(elasticsearch, storeName, view);
    }
    service = await runningService({
      ...{ aspects: postgres, graph: neo4j, search: elasticsearch, timeseries: elasticsearch },
      ...{ storeName, logLevel: "silent" },
    });
    operator = operatorOf(service);
    await writeHistory(service, 150, 15);
    await settled();
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    for (const place of Object.values(places)) await place.remove();
  });

  /** Waits until every view has applied all writes. */
  async function settled(): Promise<void> {
    const { position } = await service.client.upsert(user(0), "corpUserInfo", { active: true });
    const until = Date.now() + endedMsMax;
    while ((await positions()).some((at) => !(at >= Number(position)))) {
      if (Date.now() > until) throw new Error(`views are behind: ${await positions()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async function positions(): Promise<readonly number[]> {
    const { body } = await service.client.get("/metrics");
    return views.map((view) =>
      Number(new RegExp(`^annals_view_position{view="${view}"} (\\d+)`, "m").exec(body)?.[1]),
    );
  }

  async function verify(asked: object = {}) {
    const id = await operator.value("verify", asked);
    const until = Date.now() + endedMsMax;
    for (;;) {
      const job = await operator.value("getJob", { id });
      if (job.state !== "running") return job;
      if (Date.now() > until) throw new Error(`verifying goes on: ${JSON.stringify(job)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const found = () => operator.value("listDifferences", { count: 1_000 });

  test("a verification job finds no difference, and metrics report that", async () => {
    expect(await verify({ full: true })).toMatchObject({ state: "done" });
    expect(await found()).toMatchObject({ total: 0, views: views.map((view) => ({ view })) });
    const { body } = await service.client.get("/metrics");
    for (const view of views) {
      expect(body).toMatch(new RegExp(`annals_view_verified_position{view="${view}"} [1-9]`));
      expect(body).toContain(`annals_view_differences{view="${view}"} 0`);
    }
  });

  test("a verification under writes reports no differences", async () => {
    let writing = true;
    const writers = [0, 1].map(async () => {
      while (writing) await writeHistory(service, 10, 8);
    });
    try {
      for (let n = 0; n < 3; n++) {
        expect(await verify({ full: n % 2 === 0 })).toMatchObject({ state: "done" });
        expect((await found()).differences).toEqual([]);
      }
    } finally {
      writing = false;
      await Promise.all(writers);
    }
    await settled();
  });

  test("a verification with repair repairs damaged views", async () => {
    await places.aspects?.damage("UPDATE {aspect_value} SET value = '{}' WHERE position % 7 = 0");
    await places.graph?.damage("MATCH (:LABEL)-[r:OwnedBy]->() DELETE r");
    await places.search?.damage("words gone");
    await places.timeseries?.damage("some removed");
    expect(await verify({ full: true })).toMatchObject({ state: "done" });
    const { differences } = await found();
    const damaged = new Set(differences.map((one: { view: string }) => one.view));
    expect([...damaged].sort()).toEqual(views.toSorted());
    expect(await verify({ repair: true })).toMatchObject({ state: "done" });
    expect(await found()).toMatchObject({ total: 0, differences: [] });
    expect(await verify({ full: true })).toMatchObject({ state: "done" });
    expect(await found()).toMatchObject({ total: 0, differences: [] });
  });

  test("parked records are no differences", async () => {
    const rejected = dataset("sick");
    await service.client.upsert(rejected, "status", { removed: false });
    // A record in a format that no release has written.
    await service.restart(async () => {
      const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
      const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
      await log.append([{ stream: entityStream(rejected), expected: "any", records }]);
      await log.close();
    });
    operator = operatorOf(service);
    const parked = async () => (await operator.value("listParked")).total;
    await expect.poll(parked, { timeout: endedMsMax }).toBe(views.length);
    await settled();
    expect(await verify({ full: true })).toMatchObject({ state: "done" });
    expect((await found()).differences).toEqual([]);
    for (const view of views) await operator.value("dropParked", { view, urn: rejected });
    expect(await verify({ full: true })).toMatchObject({ state: "done" });
    expect((await found()).differences).toEqual([]);
  });
});
