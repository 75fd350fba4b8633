/** Files that are damaged: the start that cannot succeed ends, and health names what cannot be read. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { openService } from "../../src/service.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { createClient, proposal } from "../support/client.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const open = (directory: string) =>
  openService(readConfig({ port: "0", data: directory, logLevel: "silent" }, {}), {
    logger: createLogger("silent"),
  });

const table = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
const profile = (n: number) =>
  proposal(table, "datasetProfile", { timestampMillis: n, rowCount: n });

async function fill(directory: string): Promise<void> {
  const service = await open(directory);
  const client = createClient(service.address());
  for (let n = 0; n < 200; n++) {
    await client.upsert(`urn:li:tag:t${n}`, "tagProperties", { name: `mark ${n} `.padEnd(200) });
  }
  const proposals = Array.from({ length: 20 }, (_, n) => profile(n));
  await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
  expect((await read(client)).status).toBe(200);
  await service.close();
}

const read = (client: ReturnType<typeof createClient>) =>
  client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
    ...{ urn: table, entity: "dataset", aspect: "datasetProfile" },
  });

/** Overwrites the page that holds a place of the file. */
function damage(file: string, place: (content: Buffer) => number): void {
  const content = readFileSync(file);
  const size = content.readUInt16BE(16);
  const start = Math.floor(place(content) / size) * size;
  content.fill(0xff, start, start + size);
  writeFileSync(file, content);
}

const rootOf = (file: string, name: string): number => {
  const database = new DatabaseSync(file, { readOnly: true });
  const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name);
  const size = database.prepare("PRAGMA page_size").get();
  database.close();
  return (Number(page?.rootpage) - 1) * Number(size?.page_size);
};

test("a log that is damaged where the views need it ends the start, and says so", {
  timeout: 60_000,
}, async () => {
  using directory = temporaryDirectory("annals-damaged");
  await fill(directory.path);
  for (const view of ["aspects", "timeseries", "graph", "search"]) {
    rmSync(join(directory.path, `${view}.sqlite`), { force: true });
  }
  damage(join(directory.path, "log.sqlite"), (content) => content.indexOf("mark 100 "));
  const started = performance.now();
  await expect(open(directory.path)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/the view "aspects" does not come .*log is damaged/),
  });
  expect(performance.now() - started).toBeLessThan(15_000);
});

test("a view that cannot be read is what health names", { timeout: 60_000 }, async () => {
  using directory = temporaryDirectory("annals-damaged");
  await fill(directory.path);
  const file = join(directory.path, "timeseries.sqlite");
  const root = rootOf(file, "event");
  damage(file, () => root);
  const service = await open(directory.path);
  try {
    const client = createClient(service.address());
    expect((await client.get("/health")).status).toBe(200);
    expect(await read(client)).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining("rebuild timeseries") },
    });
    expect(await client.get("/health")).toMatchObject({
      status: 503,
      body: {
        message: expect.stringMatching(/view "timeseries": .*malformed.*rebuild timeseries/),
      },
    });
    // The others are read as ever.
    expect((await client.get("/entitiesV2/urn%3Ali%3Atag%3At7")).status).toBe(200);
    expect((await client.get("/health")).status).toBe(503);
  } finally {
    await service.close();
  }
});
