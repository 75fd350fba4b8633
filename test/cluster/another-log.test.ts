/**
 * Views in servers with an older copy of their log: a start fails, and a rebuild replaces the
 * views.
 */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { elasticsearchViews, neo4jViews, postgresViews } from "../adapter/view-rows-places.ts";
import { encoded } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { reachStore } from "../support/stores.ts";

const names = ["postgres", "neo4j", "elasticsearch"] as const;
const stores = await Promise.all(names.map((name) => reachStore(name)));
const urls = stores.flatMap((store) => ("skipped" in store ? [] : [store.url]));

// The test needs all servers; the end of the run lists the missing ones.
describe.skipIf(urls.length < names.length)("views in servers", { timeout: 400_000 }, () => {
  let service: RunningService;
  let flags: Record<string, string>;
  const places: { remove(): Promise<void> }[] = [];

  beforeAll(async () => {
    const [postgres = "", neo4j = "", elasticsearch = ""] = urls;
    const tables = await postgresViews(postgres);
    const { name: storeName } = tables.place;
    places.push(tables, await neo4jViews(neo4j, storeName));
    for (const view of ["search", "timeseries"]) {
      places.push(await elasticsearchViews(elasticsearch, storeName, view));
    }
    flags = {
      ...{ aspects: postgres, graph: neo4j, search: elasticsearch, timeseries: elasticsearch },
      ...{ storeName, logLevel: "silent" },
    };
    service = await runningService(flags);
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    for (const place of places) await place.remove();
  });

  const upsert = (name: string) =>
    service.client.upsert(`urn:li:tag:${name}`, "tagProperties", { name });
  const statusOf = async (name: string) =>
    (await service.client.get(`/aspects/${encoded(`urn:li:tag:${name}`)}?aspect=tagProperties`))
      .status;
  /** Waits until every view has applied all writes. */
  async function settled(): Promise<void> {
    const { position } = await upsert("last");
    const positions = async () => {
      const { body } = await service.client.get("/metrics");
      return [...body.matchAll(/^annals_view_position{view="\w+"} (\d+)/gm)].map(([, at]) => +at);
    };
    await expect.poll(positions, { timeout: 120_000 }).toEqual(Array(4).fill(Number(position)));
  }

  test("a start with an older log fails, and rebuilt views follow the older log", async () => {
    const log = join(service.directory, "log.sqlite");
    const backup = join(service.directory, "backup.sqlite");
    await upsert("kept");
    await settled();
    await service.restart(async () => cpSync(log, backup));
    for (let n = 0; n < 5; n++) await upsert(`lost${n}`);
    await settled();
    const rejected = service.restart(async () => {
      for (const end of ["-wal", "-shm"]) rmSync(`${log}${end}`, { force: true });
      cpSync(backup, log);
    });
    await expect(rejected).rejects.toThrow(/but the log ends at \d+/);

    const config = readConfig({ ...flags, data: service.directory }, {});
    await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
    await service.restart();
    expect([await statusOf("kept"), await statusOf("lost0")]).toEqual([200, 404]);
    await upsert("later");
    expect(await statusOf("later")).toBe(200);
  });
});
