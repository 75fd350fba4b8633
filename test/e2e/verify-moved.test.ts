/**
 * A catalog that moves from one store to another: the log is copied, and the views are built from
 * the copy. The results of a verification are the same before and after.
 */
import { cpSync } from "node:fs";
import { expect, test } from "vitest";
import { copyLogTo } from "../../src/app/offline/offline.ts";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { verify } from "../../src/app/offline/offline-verify.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import {
  type Damaged,
  elasticsearchViews,
  neo4jViews,
  postgresViews,
} from "../adapter/view-rows-places.ts";
import { startEventStoreServer } from "../support/eventstoredb-server/server.ts";
import { writeHistory } from "../support/random-history.ts";
import { runningService } from "../support/running-service.ts";
import { reachStore } from "../support/stores.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const quiet = { onProgress: () => {}, logger: createLogger("silent") };

/** The results of a verification of each view, without positions, which differ by store. */
async function verificationOf(settings: Parameters<typeof readConfig>[0]) {
  const config = readConfig(settings, {});
  await rebuild(config, { views: [], ...quiet });
  const { before, records } = await verify(config, { views: [], repair: false, ...quiet });
  return { records, views: before.map(({ view, rows, count }) => ({ view, rows, count })) };
}

/** Writes a history of all kinds of changes into a directory. */
async function fill(directory: string): Promise<void> {
  await using service = await runningService({ logLevel: "silent" });
  await writeHistory(service, 120, 12);
  await service.restart(async () => cpSync(service.directory, directory, { recursive: true }));
}

test("a log that is copied to EventStoreDB and back gives the same result each time", async () => {
  using first = temporaryDirectory("annals-moved");
  using there = temporaryDirectory("annals-moved");
  using back = temporaryDirectory("annals-moved");
  await fill(first.path);
  const server = await startEventStoreServer();
  try {
    const log = server.address;
    const here = await verificationOf({ data: first.path });
    expect(here.views.map(({ view, count }) => [view, count])).toEqual([
      ...[
        ["aspects", 0],
        ["timeseries", 0],
        ["graph", 0],
        ["search", 0],
      ],
    ]);
    for (const { rows } of here.views) expect(rows).toBeGreaterThan(0);
    await copyLogTo(readConfig({ data: first.path }, {}), { to: log, ...quiet });
    expect(await verificationOf({ data: there.path, log })).toEqual(here);
    await copyLogTo(readConfig({ data: there.path, log }, {}), { to: back.path, ...quiet });
    expect(await verificationOf({ data: back.path })).toEqual(here);
  } finally {
    await server.stop();
  }
});

const names = ["postgres", "neo4j", "elasticsearch"] as const;
const stores = await Promise.all(names.map((name) => reachStore(name)));
const urls = stores.flatMap((store) => ("skipped" in store ? [] : [store.url]));

// The test needs all servers; the end of the run lists the missing ones.
test.skipIf(urls.length < names.length)(
  "views that are moved to servers, one at a time, all with the log, and back give the same result",
  { timeout: 300_000 },
  async () => {
    using first = temporaryDirectory("annals-moved");
    using there = temporaryDirectory("annals-moved");
    await fill(first.path);
    const [aspects = "", graph = "", elasticsearch = ""] = urls;
    const tables = await postgresViews(aspects);
    const { name: storeName } = tables.place;
    const places: readonly Pick<Damaged, "remove">[] = [
      tables,
      await neo4jViews(graph, storeName),
      await elasticsearchViews(elasticsearch, storeName, "search"),
      await elasticsearchViews(elasticsearch, storeName, "timeseries"),
    ];
    const server = await startEventStoreServer();
    try {
      const here = await verificationOf({ data: first.path });
      for (const { count } of here.views) expect(count).toBe(0);
      const moves = [
        { aspects },
        { graph },
        { search: elasticsearch },
        { timeseries: elasticsearch },
      ];
      for (const moved of moves) {
        // The number of records read differs by store.
        const { views } = await verificationOf({ data: first.path, storeName, ...moved });
        expect(views, Object.keys(moved).join()).toEqual(here.views);
      }
      const log = server.address;
      await copyLogTo(readConfig({ data: first.path }, {}), { to: log, ...quiet });
      const all = Object.assign({}, ...moves);
      const { views } = await verificationOf({ data: there.path, log, storeName, ...all });
      expect(views).toEqual(here.views);
      expect(await verificationOf({ data: first.path })).toEqual(here);
    } finally {
      await server.stop();
      for (const place of places) await place.remove();
    }
  },
);
