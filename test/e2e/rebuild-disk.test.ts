/**
 * What rebuilding takes of the disk while it goes on: no more than what is rebuilt takes, beside what
 * is in use, from the first record to the end of putting in place; and afterwards nothing. Counted are
 * blocks of all files that are not the log's, also of those without a name that the process still has
 * open.
 *
 * A staging generation that is open for writing has an almost empty write-ahead log and the index of
 * that log as well: OPEN_BYTES_MAX.
 */
import { lstatSync, readdirSync, readlinkSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog } from "../../src/app/open-log.ts";
import { type ViewName, viewNames } from "../../src/app/stores.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { fill } from "../bench/offline-rebuild.ts";
import { start } from "../cli/run-program.ts";
import { createClient } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Views of some 9 MB. */
const records = 10_000;
const OPEN_BYTES_MAX = 128 * 1024;
/** Looks at the disk while views are rebuilt, at least; there are hundreds. */
const looksMin = 50;

const command = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const directory = temporaryDirectory("annals-rebuild-disk");

beforeAll(async () => {
  const config = readConfig({ data: directory.path }, {});
  await fill(await openLog(config), records);
  await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
}, 120_000);
afterAll(() => directory[Symbol.dispose]());

/** Bytes on disk: of files of these views, and of whatever else the process has open without a name. */
function bytesOf(pid: number, views: readonly ViewName[] = viewNames): number {
  const bytes = new Map<number, number>();
  const add = (path: string, look: (path: string) => Stats) => {
    try {
      const { ino, blocks } = look(path);
      bytes.set(ino, blocks * 512);
    } catch {
      // It is gone by now.
    }
  };
  for (const name of readdirSync(directory.path)) {
    if (views.some((view) => name.startsWith(view))) add(join(directory.path, name), lstatSync);
  }
  for (const path of openWithoutName(pid)) add(path, statSync);
  return bytes.values().reduce((sum, one) => sum + one, 0);
}

/** Files that a process has open and nobody else can open any more. */
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
    // Not every system tells, and processes end.
    return [];
  }
}

/** The most that there was on disk until `work` was done, looked at about every millisecond. */
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

/** That all of what there was at the peak was seen. */
const seenMin = 0.95;

describe("rebuilding takes as much disk again as what is rebuilt", () => {
  test.each(asked.map((views) => [views.join(), views] as const))(
    "offline: %s",
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

  test("in a service, time and again", async () => {
    const service = await startService(directory.path);
    try {
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
        // What was read of the old generation when the other took its place is answered soon.
        await expect.poll(() => openWithoutName(service.pid)).toEqual([]);
      }
    } finally {
      await service.stop();
    }
  });
});

async function done(value: ReturnType<typeof operatorOf>["value"], id: string): Promise<void> {
  for (;;) {
    const { state, error } = await value("getJob", { id });
    if (state !== "running") return expect([state, error]).toEqual(["done", undefined]);
    await pause(20);
  }
}
