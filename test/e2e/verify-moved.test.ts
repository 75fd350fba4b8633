/**
 * A catalog that moves from one store to another: the log copied, the views grown from it there. What
 * verification says of it is the same before and after.
 */
import { cpSync } from "node:fs";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { copyLogTo, rebuild } from "../../src/offline.ts";
import { verify } from "../../src/offline-verify.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { startEventStoreServer } from "../support/eventstoredb-server/server.ts";
import { writeHistory } from "../support/random-history.ts";
import { runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const quiet = { onProgress: () => {}, logger: createLogger("silent") };

/** What is said of each view, but for positions, which are the store's own. */
async function told(settings: Parameters<typeof readConfig>[0]) {
  const config = readConfig(settings, {});
  await rebuild(config, { views: [], ...quiet });
  const { found, records } = await verify(config, { views: [], repair: false, ...quiet });
  return { records, views: found.map(({ view, rows, count }) => ({ view, rows, count })) };
}

test("a log that is copied to EventStoreDB and back gives the same result each time", async () => {
  using first = temporaryDirectory("annals-moved");
  using there = temporaryDirectory("annals-moved");
  using back = temporaryDirectory("annals-moved");
  {
    await using service = await runningService({ logLevel: "silent" });
    await writeHistory(service, 120, 12);
    await service.restart(async () => cpSync(service.directory, first.path, { recursive: true }));
  }
  const server = await startEventStoreServer();
  try {
    const log = server.address;
    const here = await told({ data: first.path });
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
    expect(await told({ data: there.path, log })).toEqual(here);
    await copyLogTo(readConfig({ data: there.path, log }, {}), { to: back.path, ...quiet });
    expect(await told({ data: back.path })).toEqual(here);
  } finally {
    await server.stop();
  }
});
