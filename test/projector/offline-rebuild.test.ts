/** That `annals rebuild` puts nothing in place that is not what the log says. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { entityStream } from "../../src/core/stream.ts";
import { worthThread } from "../../src/growth-plan.ts";
import { encodeChange } from "../../src/log/record-codec.ts";
import { rebuild } from "../../src/offline-rebuild.ts";
import { readParking } from "../../src/projector/parking.ts";
import * as stores from "../../src/stores.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { change, fill } from "../bench/regrow.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { openViews } from "./losing-stores.ts";

// Files of a worker share their modules: those here are loaded anew to see the spy, and let go of.
vi.hoisted(() => vi.resetModules());
vi.mock(import("../../src/stores.ts"), { spy: true });
afterAll(() => void vi.resetModules());

test("grown views are compared with the log before they take the places of others", async () => {
  using directory = temporaryDirectory("annals-offline");
  const config = readConfig({ data: directory.path }, {});
  await fill(await stores.openLog(config), 300);
  const all = { views: [], onProgress: () => {}, logger: createLogger("silent") };
  expect(await rebuild(config, all)).toHaveLength(4);

  const files = () => readdirSync(directory.path).filter((name) => name.includes(".sqlite"));
  const graph = () => readFileSync(join(directory.path, "graph.sqlite"));
  const [filesBefore, before] = [files(), graph()];
  vi.mocked(stores.openViews).mockImplementationOnce((settings, options) =>
    openViews({ ...settings, loses: "graph" }, options),
  );
  await expect(rebuild(config, { ...all, views: ["graph"] })).rejects.toThrow(
    'the view "graph" was grown anew and is not what the log says',
  );
  expect(files()).toEqual(filesBefore);
  expect(graph().equals(before)).toBe(true);

  expect(await rebuild(config, { ...all, views: ["graph"] })).toHaveLength(1);
});

test.each([300, worthThread])("what a view cannot take is parked, of %i records", async (size) => {
  using directory = temporaryDirectory("annals-offline");
  const config = readConfig({ data: directory.path }, {});
  const log = await stores.openLog(config);
  const urn = "urn:li:tag:spoiled";
  const spoiled = encodeChange(change(0, "ownership", {})).subarray(0, 40);
  await log.append([{ stream: entityStream(urn), expected: "any", records: [spoiled] }]);
  await fill(log, size);
  const all = { views: [], onProgress: () => {}, logger: createLogger("silent") };
  expect(await rebuild(config, all)).toHaveLength(4);

  const reader = await stores.openLogReader(config);
  const parked: [string, string][] = [];
  for (const view of stores.viewNames) {
    for (const note of await readParking(reader, view)) {
      if (note.kind === "parked") parked.push([view, note.urn]);
    }
  }
  await reader.close();
  expect(parked).toEqual(stores.viewNames.map((view) => [view, urn]));
});
