/** Damaged indexes of the embedded log: their effects on clients and operators. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkDirectory } from "../../src/app/doctor/check-directory.ts";
import { repairLogIndexes } from "../../src/app/offline/offline.ts";
import { verify } from "../../src/app/offline/offline-verify.ts";
import { openService } from "../../src/app/service.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { caughtUp } from "../support/caught-up.ts";
import { type Client, createClient, encoded } from "../support/client.ts";
import { flipText, hideCells } from "../support/flipped-bits.ts";
import { operatorOf } from "../support/operator.ts";
import { runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const tags = Array.from({ length: 30 }, (_, n) => `urn:li:tag:shelf${n}x`);
const hidden = tags[4] ?? "";
const NAMES = "sqlite_autoindex_stream_1";
const logger = createLogger("silent");
const fix = /annals -- check --repair-indexes/;

const filled = temporaryDirectory("annals-indexed");
const configOf = (data: string) => readConfig({ port: "0", data, logLevel: "silent" }, {});

beforeAll(async () => {
  await using service = await runningService();
  for (const urn of tags) await service.client.upsert(urn, "tagProperties", { name: urn });
  await caughtUp(service);
  await service.restart(async () => {
    cpSync(service.directory, filled.path, { recursive: true });
  });
});
afterAll(() => filled[Symbol.dispose]());

function damagedCopy(damage: (file: string) => void) {
  const directory = temporaryDirectory("annals-damaged-indexes");
  cpSync(filled.path, directory.path, { recursive: true });
  damage(join(directory.path, "log.sqlite"));
  return directory;
}

async function expectAll(client: Client): Promise<void> {
  for (const urn of tags) {
    const { status, body } = await client.get(`/entitiesV2/${encoded(urn)}`);
    expect(status).toBe(200);
    expect(body.aspects.tagProperties.value).toEqual({ name: urn });
  }
}

const damages = [
  ["lacks a name", (file: string) => flipText(file, NAMES, hidden)],
  ["hides names", (file: string) => hideCells(file, NAMES)],
  ["hides revisions", (file: string) => hideCells(file, "log_revision")],
] as const;

describe.each(damages)("when an index of the log %s", (_, damage) => {
  test("the service starts, answers reads, and names the fix in /health and for each write", async () => {
    using directory = damagedCopy(damage);
    const service = await openService(configOf(directory.path), { logger });
    try {
      const client = createClient(service.address());
      await expectAll(client);
      await expect
        .poll(() => client.get("/health"))
        .toMatchObject({ status: 503, body: { message: expect.stringMatching(fix) } });
      expect(await client.upsert(hidden, "tagProperties", { name: "again" })).toMatchObject({
        status: 503,
        body: { message: expect.stringMatching(fix) },
      });
      expect(await client.get(`/entitiesV2/${encoded(hidden)}?asOfPosition=20`)).toMatchObject({
        status: 500,
        body: { code: "unreadable" },
      });
      const operator = operatorOf({ client, directory: directory.path });
      for (const [action, asked] of [
        ["verify", { repair: true }],
        ["restoreIndices", { urn: hidden }],
      ] as const) {
        expect(await operator.act(action, asked)).toMatchObject({
          status: 500,
          body: { code: "unreadable", message: expect.stringMatching(fix) },
        });
      }
      await expectAll(client);
    } finally {
      await service.close();
    }
  });

  test("verify with repair deletes no row, check names the fix, and the fix restores the service", async () => {
    using directory = damagedCopy(damage);
    const config = configOf(directory.path);
    const options = { views: [], repair: true, logger, onProgress: () => {} };
    await expect(verify(config, options)).rejects.toMatchObject({
      code: "unreadable",
      hint: expect.stringMatching(fix),
    });
    const own = ["log", "aspects", "timeseries", "graph", "search"] as const;
    expect((await checkDirectory(config, own)).findings).toEqual([expect.stringMatching(fix)]);
    expect(await repairLogIndexes(config)).toEqual({ records: expect.any(Number) });
    expect((await checkDirectory(config, own)).findings).toEqual([]);
    const { before } = await verify(config, options);
    expect(before.map(({ count }) => count)).toEqual([0, 0, 0, 0]);
    const service = await openService(config, { logger });
    try {
      const client = createClient(service.address());
      await expectAll(client);
      expect((await client.get("/health")).status).toBe(200);
      expect((await client.upsert(hidden, "tagProperties", { name: "again" })).status).toBe(200);
      expect(await client.get(`/entitiesV2/${encoded(hidden)}`)).toMatchObject({
        body: { aspects: { tagProperties: { value: { name: "again" } } } },
      });
    } finally {
      await service.close();
    }
  });
});

test("an index that is damaged while the service runs is found by a verification, which repairs nothing", async () => {
  await using service = await runningService();
  for (const urn of tags) await service.client.upsert(urn, "tagProperties", { name: urn });
  // Move the write-ahead log into the file.
  await service.restart();
  const operator = operatorOf(service);
  hideCells(join(service.directory, "log.sqlite"), NAMES);
  const id = await operator.value("verify", { repair: true });
  await expect
    .poll(() => service.client.get("/health"))
    .toMatchObject({ status: 503, body: { message: expect.stringMatching(fix) } });
  expect(await operator.act("getJob", { id })).toMatchObject({
    status: 500,
    body: { code: "unreadable", message: expect.stringMatching(fix) },
  });
  await expectAll(service.client);
});

test("a repair of the indexes is rejected while a service runs on the directory", async () => {
  await using service = await runningService();
  await expect(repairLogIndexes(configOf(service.directory))).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("in use by another process"),
  });
});
