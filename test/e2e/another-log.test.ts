/**
 * Views next to a log that they were not built from: the service never serves views of another log.
 */
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openService } from "../../src/app/service.ts";
import { readConfig } from "../../src/config/config.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { entry } from "../contract/change-log-driver.ts";
import { caughtUp } from "../support/caught-up.ts";
import { createClient, encoded } from "../support/client.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Starts a service on a directory and writes the given number of tags. */
async function filled(directory: string, name: string, count: number) {
  const config = readConfig(
    { port: "0", data: directory, logLevel: "silent", builtInEntities: "off" },
    {},
  );
  const lines: string[] = [];
  const logger = createLogger("silent");
  logger.warn = (_: unknown, message?: string) => void lines.push(String(message));
  const service = await openService(config, { logger });
  const client = createClient(service.address());
  for (let n = 0; n < count; n++) {
    await client.upsert(`urn:li:tag:${name}${n}`, "tagProperties", { name });
  }
  await caughtUp({ client, directory });
  return { service, client, lines };
}

const exists = async (client: ReturnType<typeof createClient>, urn: string): Promise<boolean> =>
  (await client.get(`/aspects/${encoded(urn)}?aspect=tagProperties`)).status === 200;

test("views of another log are rebuilt, and the rebuild is logged", async () => {
  using one = temporaryDirectory("annals-one");
  using other = temporaryDirectory("annals-other");
  await (await filled(one.path, "one", 3)).service.close();
  await (await filled(other.path, "other", 9)).service.close();
  rmSync(join(one.path, "log.sqlite"));
  cpSync(join(other.path, "log.sqlite"), join(one.path, "log.sqlite"));

  const { service, client, lines } = await filled(one.path, "later", 1);
  expect(await exists(client, "urn:li:tag:one1")).toBe(false);
  expect(await exists(client, "urn:li:tag:other8")).toBe(true);
  expect(await exists(client, "urn:li:tag:later0")).toBe(true);
  await service.close();
  expect(new Set(lines)).toEqual(
    new Set(["view was built from another log; it is emptied and built again"]),
  );
  expect((await differencesFromRebuild(one.path)).differences).toEqual([]);
});

test("an older copy of the log with later records stops the start, until views are rebuilt", async () => {
  using directory = temporaryDirectory("annals-older");
  const file = join(directory.path, "log.sqlite");
  const backup = join(directory.path, "backup.sqlite");
  await (await filled(directory.path, "one", 2)).service.close();
  cpSync(file, backup);
  await (await filled(directory.path, "lost", 2)).service.close();
  cpSync(backup, file);
  const log = await openSqliteChangeLog({ file });
  for (let n = 0; n < 100; n++) await log.append([entry("jobs-of-others", "any", String(n))]);
  await log.close();

  await expect(filled(directory.path, "two", 0)).rejects.toThrow(
    /the log does not hold the record at position \d+ of stream "entity-urn:li:tag:lost1", which the view "\w+" covers last/,
  );
  const config = readConfig({ data: directory.path }, {});
  await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
  const { service, client } = await filled(directory.path, "two", 1);
  expect(await exists(client, "urn:li:tag:lost1")).toBe(false);
  expect(await exists(client, "urn:li:tag:one1")).toBe(true);
  expect(await exists(client, "urn:li:tag:two0")).toBe(true);
  await service.close();
  expect((await differencesFromRebuild(directory.path)).differences).toEqual([]);
});

test("an older copy of the log that replaces it while the service runs stops writes", async () => {
  using directory = temporaryDirectory("annals-replaced");
  const file = join(directory.path, "log.sqlite");
  const backup = join(directory.path, "backup.sqlite");
  await (await filled(directory.path, "one", 2)).service.close();
  cpSync(file, backup);
  const { service, client } = await filled(directory.path, "lost", 2);
  renameSync(backup, file);
  const written = await client.upsert("urn:li:tag:late", "tagProperties", { name: "late" });
  expect(written.status).toBe(503);
  expect(written.body.message).toContain("put the newer log back");
  expect((await client.get("/health")).status).toBe(503);
  expect(await exists(client, "urn:li:tag:one1")).toBe(true);
  await service.close();
});

test("a log that ends before the checkpoints of its views stops the start, whether or not it is the log of the views", async () => {
  using directory = temporaryDirectory("annals-lost");
  await (await filled(directory.path, "one", 3)).service.close();
  rmSync(join(directory.path, "log.sqlite"));
  await expect(filled(directory.path, "new", 0)).rejects.toThrow(/but the log ends at 0/);
});
