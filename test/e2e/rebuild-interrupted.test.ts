/**
 * An interrupted `annals rebuild` leaves every file of the views unchanged and no other file. A
 * terminal sends Ctrl-C more than once, because the parent process passes the signal on.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog } from "../../src/app/open-log.ts";
import { type ViewName, viewNames } from "../../src/app/store-locations.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { fill } from "../bench/offline-rebuild.ts";
import { start } from "../cli/run-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const command = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const directory = temporaryDirectory("annals-interrupted");

/** So many records that two threads build the views. */
const records = 10_000;

beforeAll(async () => {
  const config = readConfig({ data: directory.path }, {});
  // Other threads have to end, too.
  await fill(await openLog(config), records);
  await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
});
afterAll(() => directory[Symbol.dispose]());

const rebuildAll = () => start(process.execPath, [command, "rebuild", "--data", directory.path]);

/** The hash of every file of a view. */
const files = () =>
  readdirSync(directory.path)
    .filter((name) => viewNames.some((view) => name.startsWith(view)))
    .map((name) => [name, createHash("sha256").update(read(name)).digest("hex")]);

const read = (name: string) => readFileSync(join(directory.path, name));

test.each<[NodeJS.Signals, ViewName]>([
  ["SIGINT", "aspects"],
  ["SIGTERM", "search"],
])("a rebuild interrupted by %s while %s is built changes no file", async (signal, view) => {
  const before = files();
  const { child, ended } = rebuildAll();
  while (!existsSync(join(directory.path, `${view}.sqlite.1`))) await pause(1);
  child.kill(signal);
  await pause(20);
  child.kill(signal);
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout, stderr }).toEqual({
    code: 130,
    stdout: "",
    stderr: "annals: interrupted\n",
  });
  expect(files()).toEqual(before);
});

test("a rebuild interrupted at a random time changes no file", async () => {
  const begun = performance.now();
  expect((await rebuildAll().ended).code).toBe(0);
  // The machine may have been suspended meanwhile.
  const wholeMs = Math.min(performance.now() - begun, 5_000);
  for (let round = 0; round < 4; round++) {
    const before = files();
    const { child, ended } = rebuildAll();
    await pause(wholeMs * (round / 4 + Math.random() / 4));
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    // A signal before the command handles signals, or after it has printed its result, ends it.
    expect([0, 130, null]).toContain(code);
    const names = files().map(([name]) => name);
    expect(names).toEqual(before.map(([name]) => name));
    if (stdout === "") expect(files()).toEqual(before);
  }
});
