/**
 * Damaged bytes in the log and in each view: the service rejects damaged data with its position and
 * the fix, serves everything else, and returns no wrong answer.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { checkDirectory } from "../../src/app/doctor/check-directory.ts";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openService } from "../../src/app/service.ts";
import { readConfig } from "../../src/config/config.ts";
import type { CatalogError } from "../../src/core/errors.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { type Client, createClient, encoded, proposal } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const tags = 300;
const urnOf = (n: number): string => `urn:li:tag:damage${n}`;
const table = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
const views = ["aspects", "timeseries", "graph", "search"];

async function fill({ client }: RunningService): Promise<void> {
  const proposals = Array.from({ length: tags }, (_, n) => [
    proposal(urnOf(n), "tagProperties", { name: `mark ${n}`, description: `${n} `.repeat(60) }),
    proposal(table, "datasetProfile", { timestampMillis: n, rowCount: n }),
    proposal(`urn:li:dataset:(urn:li:dataPlatform:hive,t${n},PROD)`, "globalTags", {
      tags: [{ tag: urnOf(n) }],
    }),
  ]).flat();
  const path = "/aspects?action=ingestProposalBatch";
  expect((await client.call("POST", path, { proposals })).status).toBe(200);
}

/** A query for each view, and whether the response is right. */
const questions: Readonly<
  Record<string, (client: Client) => Promise<{ status: number; right: boolean; message: string }>>
> = {
  async aspects(client) {
    const path = `/aspects/${encoded(urnOf(170))}?aspect=tagProperties&version=1`;
    const { status, body } = await client.get(path);
    const value = body.aspect?.["com.linkedin.tag.TagProperties"];
    return { status, right: value?.name === "mark 170", message: `${body.message}` };
  },
  async timeseries(client) {
    const path = "/aspects?action=getTimeseriesAspectValues";
    const asked = { urn: table, entity: "dataset", aspect: "datasetProfile", limit: 1_000 };
    const { status, body } = await client.call("POST", path, asked);
    return { status, right: body.value?.values.length === tags, message: `${body.message}` };
  },
  async graph(client) {
    const query = `direction=INCOMING&urn=${encoded(urnOf(170))}&types=TaggedWith`;
    const { status, body } = await client.get(`/relationships?${query}`);
    const right = JSON.stringify(body.entities)?.includes("hive,t170,") === true;
    return { status, right, message: `${body.message}` };
  },
  async search(client) {
    const asked = { entity: "tag", input: '"mark 170"', start: 0, count: 10 };
    const { status, body } = await client.call("POST", "/entities?action=search", asked);
    return { status, right: body.value?.numEntities === 1, message: `${body.message}` };
  },
};

const ask = (view: string, client: Client) => questions[view]?.(client) ?? Promise.reject(view);

async function caughtUp(service: RunningService): Promise<void> {
  const operator = operatorOf(service);
  const lags = async () => {
    const { views: statuses } = await operator.value("getStatus");
    return views.map((view) => statuses[view].lagRecords);
  };
  await expect.poll(lags).toEqual([0, 0, 0, 0]);
}

/** Moves the contents of the write-ahead log, which has checksums of its own, into the file. */
function settle(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

/** Overwrites pages of tables and indexes; `further`: only pages below the roots. */
function pagesOf(file: string, further: boolean): readonly number[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const pages = database.prepare("SELECT pageno, path FROM dbstat WHERE name <> 'view'").all();
  database.close();
  return pages
    .filter(({ path }) => !further || !/^\/(000\/)*$/.test(String(path)))
    .map(({ pageno }) => Number(pageno))
    .filter((page) => page > 1);
}

function damagePages(file: string, byte: number, further: boolean): void {
  settle(file);
  const pages = pagesOf(file, further);
  expect(pages.length).toBeGreaterThan(2);
  const content = readFileSync(file);
  const size = content.readUInt16BE(16);
  for (const page of pages) content.fill(byte, (page - 1) * size, page * size);
  writeFileSync(file, content);
}

const rebuildOne = async (directory: string, view: string): Promise<void> => {
  await rebuild(readConfig({ data: directory }, {}), {
    views: [view],
    logger: createLogger("silent"),
    onProgress: () => {},
  });
};

describe.each([0xff, 0x00])("a view overwritten with %i", (byte) => {
  async function areRight(service: RunningService): Promise<void> {
    await caughtUp(service);
    for (const name of views) {
      expect([name, await ask(name, service.client)]).toMatchObject([name, { right: true }]);
    }
  }

  const equalsLog = (service: RunningService) =>
    service.restart(async () => {
      expect((await differencesFromRebuild(service.directory)).differences).toEqual([]);
    });

  async function filled(): Promise<RunningService> {
    const service = await runningService({ logLevel: "silent" });
    await fill(service);
    await caughtUp(service);
    return service;
  }

  // The tests damage one view after the other in one catalog; the other views are intact each time.
  test("a damaged file is set aside and the view is rebuilt", async () => {
    await using service = await filled();
    for (const view of views) {
      const file = join(service.directory, `${view}.sqlite`);
      await service.restart(async () => damagePages(file, byte, false));
      expect(existsSync(`${file}.damaged`), view).toBe(true);
      await areRight(service);
    }
    await equalsLog(service);
  });

  test("damage below the root pages gives no wrong answer", async () => {
    await using service = await filled();
    for (const view of views) {
      const file = join(service.directory, `${view}.sqlite`);
      let rejection = "";
      await service
        .restart(async () => damagePages(file, byte, true))
        .catch((error: CatalogError) => {
          rejection = error.text;
        });
      if (rejection !== "") expect(rejection).toContain(`rebuild ${view}`);
      else {
        for (const name of views) {
          const { status, right, message } = await ask(name, service.client);
          if (right) continue;
          expect([status, message]).toEqual([503, expect.stringContaining("rebuild")]);
        }
      }
      await service.restart(() => rebuildOne(service.directory, view));
      await areRight(service);
    }
    await equalsLog(service);
  });
});

describe("a flipped bit in the log", () => {
  const flip = (directory: string, needle: string): number => {
    const file = join(directory, "log.sqlite");
    const database = new DatabaseSync(file);
    const row = database
      .prepare("SELECT position, data FROM log WHERE instr(data, CAST(? AS BLOB)) > 0")
      .get(needle);
    database.close();
    settle(file);
    const content = readFileSync(file);
    const at = content.indexOf(needle);
    content[at] = (content[at] ?? 0) ^ 1;
    writeFileSync(file, content);
    return Number(row?.position);
  };

  test("a start without views fails with an error that names the position, and builds no view", async () => {
    await using service = await runningService({ logLevel: "silent" });
    const { client } = service;
    for (let n = 0; n < 20; n++)
      await client.upsert(urnOf(n), "tagProperties", { name: `mark ${n};` });
    await caughtUp(service);
    let position = 0;
    const started = service.restart(async () => {
      position = flip(service.directory, "mark 12;");
      for (const view of views) rmSync(join(service.directory, `${view}.sqlite`));
    });
    await expect(started).rejects.toThrow(/log is damaged at position \d+/);
    await expect(started).rejects.toThrow(`position ${position}: the row does not match`);
  });

  test("existing views serve reads and writes, and restoring the damaged entity fails", async () => {
    await using service = await runningService({ logLevel: "silent" });
    for (let n = 0; n < 20; n++) {
      await service.client.upsert(urnOf(n), "tagProperties", { name: `mark ${n};` });
    }
    await caughtUp(service);
    let position = 0;
    await service.restart(async () => {
      position = flip(service.directory, "mark 12;");
    });
    const { client } = service;
    for (let n = 0; n < 20; n++) {
      const { body } = await client.get(`/entitiesV2/${encoded(urnOf(n))}`);
      expect(body.aspects.tagProperties.value.name).toBe(`mark ${n};`);
    }
    expect((await client.upsert(urnOf(12), "tagProperties", { name: "again" })).status).toBe(200);
    const operator = operatorOf(service);
    const rejected = await operator.act("restoreIndices", { urn: urnOf(12) });
    expect(rejected.status).toBe(503);
    expect(rejected.body.message).toContain(`log is damaged at position ${position}`);
    expect(await operator.value("restoreIndices", { urn: urnOf(13) })).toContain("rowsMigrated=2");
    await caughtUp(service);
    const { body } = await client.get(`/entitiesV2/${encoded(urnOf(12))}`);
    expect(body.aspects.tagProperties.value.name).toBe("again");
  });
});

test("a damaged write-ahead log after a kill ends the start, and is left unchanged", async () => {
  using directory = temporaryDirectory("annals-damaged");
  await using service = await startService(directory.path);
  const client = createClient(service.address);
  for (let n = 0; n < 40; n++) {
    await client.upsert(urnOf(n), "tagProperties", { name: `mark ${n}`.padEnd(4_000) });
  }
  await service.stop("SIGKILL");
  const file = join(directory.path, "log.sqlite-wal");
  const content = readFileSync(file);
  const at = Math.floor(content.length / 2);
  const whole = Buffer.from(content);
  content.fill(0x55, at, at + 16);
  writeFileSync(file, content);
  const error = {
    code: "invalid",
    message: expect.stringMatching(
      /the log ".*" is damaged: the write-ahead log ".*-wal" is damaged from byte \d+ on/,
    ),
    hint: expect.stringContaining("backup"),
  };
  const config = readConfig(
    { port: "0", data: directory.path, logLevel: "silent", builtInEntities: "off" },
    {},
  );
  const logger = createLogger("silent");
  for (const isWithout of [false, true]) {
    if (isWithout) {
      for (const view of views) {
        for (const end of ["", "-wal", "-shm", "-sums"]) {
          rmSync(join(directory.path, `${view}.sqlite${end}`), { force: true });
        }
      }
    }
    await expect(openService(config, { logger })).rejects.toMatchObject(error);
    await expect(rebuildOne(directory.path, "aspects")).rejects.toMatchObject(error);
    expect(readFileSync(file).equals(content)).toBe(true);
  }
  const { findings } = await checkDirectory(config, ["log"]);
  expect(findings).toEqual([error.message]);
  writeFileSync(file, whole);
  const again = await openService(config, { logger });
  try {
    for (let n = 0; n < 40; n++) {
      const path = `/entitiesV2/${encoded(urnOf(n))}`;
      expect((await createClient(again.address()).get(path)).body).toMatchObject({
        aspects: { tagProperties: { value: { name: `mark ${n}`.padEnd(4_000) } } },
      });
    }
  } finally {
    await again.close();
  }
});
