/**
 * Disk usage of a rebuild: until the staging generation is live, it takes as much space as the
 * views that are rebuilt, in addition to the live generation. Afterwards it takes none. The test
 * counts the blocks of all files except the log, including deleted files that the process has open.
 * A staging generation that is open for writing also has an almost empty write-ahead log with its
 * index: OPEN_BYTES_MAX.
 */
import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog } from "../../src/app/open-log.ts";
import { type ViewName, viewNames } from "../../src/app/store-locations.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { fill } from "../bench/offline-rebuild.ts";
import { start } from "../cli/run-program.ts";
import { createClient } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Gives views of some 9 MB. */
const records = 10_000;
const OPEN_BYTES_MAX = 128 * 1024;
/** The least number of measurements during a rebuild; usually there are hundreds. */
const looksMin = 50;

const command = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const directory = temporaryDirectory("annals-rebuild-disk");

beforeAll(async () => {
  const config = readConfig({ data: directory.path }, {});
  await fill(await openLog(config), records);
  await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
}, 120_000);
afterAll(() => directory[Symbol.dispose]());

/** Bytes on disk: of the files of these views, and of deleted files that the process has open. */
function bytesOf(pid: number, views: readonly ViewName[] = viewNames): number {
  const bytes = new Map<number, number>();
  const add = (path: string, look: (path: string) => Stats) => {
    try {
      const { ino, blocks } = look(path);
      bytes.set(ino, blocks * 512);
    } catch {
      // The file was deleted meanwhile.
    }
  };
  for (const name of readdirSync(directory.path)) {
    if (views.some((view) => name.startsWith(view))) add(join(directory.path, name), lstatSync);
  }
  for (const path of openWithoutName(pid)) add(path, statSync);
  return bytes.values().reduce((sum, one) => sum + one, 0);
}

/** Deleted files that a process has open. */
function openWithoutName(pid: number): readonly string[] {
  const descriptors = `/proc/${pid}/fd`;
  const withoutName = (path: string) => {
    try {
      return readlinkSync(path).endsWith(" (deleted)");
    } catch {
      return false;
    }
  };
  try {
    const all = readdirSync(descriptors).map((name) => join(descriptors, name));
    return all.filter(withoutName);
  } catch {
    // Not every system has /proc, and processes end.
    return [];
  }
}

/** The highest disk usage until `work` is done, measured about every millisecond. */
async function peakOf(pid: number, work: Promise<unknown>): Promise<number> {
  let [peak, looks, going] = [0, 0, true];
  const end = () => {
    going = false;
  };
  work.then(end, end);
  for (; going; looks++) {
    peak = Math.max(peak, bytesOf(pid));
    await pause(1);
  }
  await work;
  expect(looks).toBeGreaterThan(looksMin);
  return peak;
}

const asked: readonly (readonly ViewName[])[] = [["aspects"], ["search"], viewNames];

/** The share of the expected peak that the measurements must reach. */
const seenMin = 0.95;

describe("the disk usage of a rebuild is that of the rebuilt views", () => {
  test.each(asked.map((views) => [views.join(), views] as const))(
    "annals rebuild: %s",
    async (_, views) => {
      const rest = bytesOf(0);
      const again = bytesOf(0, views);
      expect(again).toBeGreaterThan(2_000_000);
      const { child, ended } = start(process.execPath, [
        ...[command, "rebuild", ...views, "--data", directory.path],
      ]);
      const peak = await peakOf(child.pid ?? 0, ended);
      expect((await ended).code, (await ended).stderr).toBe(0);
      expect(peak).toBeLessThanOrEqual(rest + again + views.length * OPEN_BYTES_MAX);
      expect(peak).toBeGreaterThan(rest + again * seenMin);
      expect(bytesOf(0)).toBe(rest);
    },
  );

  test("repeated rebuilds in a service", async () => {
    await using service = await startService(directory.path);
    const client = createClient(service.address);
    const { value } = operatorOf({ client, directory: directory.path });
    for (const views of asked) {
      const rest = bytesOf(service.pid);
      const again = bytesOf(service.pid, views);
      const allowed = rest + again + views.length * OPEN_BYTES_MAX;
      const id = await value("rebuildViews", { views });
      const peak = await peakOf(service.pid, done(value, id));
      expect(peak, views.join()).toBeLessThanOrEqual(allowed);
      expect(peak, views.join()).toBeGreaterThan(rest + again * seenMin);
      // Requests that read the old generation finish soon, and it is closed.
      await expect.poll(() => openWithoutName(service.pid)).toEqual([]);
    }
    await service.stop();
  });
});

async function done(value: ReturnType<typeof operatorOf>["value"], id: string): Promise<void> {
  for (;;) {
    const { state, error } = await value("getJob", { id });
    if (state !== "running") return expect([state, error]).toEqual(["done", undefined]);
    await pause(20);
  }
}
