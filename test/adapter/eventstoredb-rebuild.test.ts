/** The number of requests that a rebuild sends to EventStoreDB. */
import { expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog } from "../../src/app/open-log.ts";
import { viewNames } from "../../src/app/store-locations.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { fill } from "../bench/offline-rebuild.ts";
import { startEventStoreServer } from "../support/eventstoredb-server/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const records = 3_000;
const entities = records / 5;

test("a rebuild reads the log in pages, and sends no request per entity", async () => {
  using directory = temporaryDirectory("annals-rebuild-requests");
  const server = await startEventStoreServer();
  try {
    const config = readConfig({ data: directory.path, log: server.address }, {});
    await fill(await openLog(config), records);
    server.asked.clear();
    const rebuilt = await rebuild(config, {
      views: [],
      onProgress: () => {},
      logger: createLogger("silent"),
    });
    expect(rebuilt.map(({ view }) => view).toSorted()).toEqual(viewNames.toSorted());
    const { read = 0, readStream = 0 } = Object.fromEntries(server.asked);
    expect(readStream).toBeLessThan(entities / 10);
    expect(read).toBeLessThan(entities / 5);
  } finally {
    await server.stop();
  }
});
