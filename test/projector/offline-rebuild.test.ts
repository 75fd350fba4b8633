/** `annals rebuild` in a data directory without a running service. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog, openLogReader } from "../../src/app/open-log.ts";
import { viewNames } from "../../src/app/store-locations.ts";
import { readConfig } from "../../src/config/config.ts";
import { entityStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { readParking } from "../../src/projector/parking/parking.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { change, fill } from "../bench/offline-rebuild.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Records from which two threads build views. */
const twoThreads = 10_000;

test("a rebuild that is interrupted leaves every file of the views unchanged", async () => {
  using directory = temporaryDirectory("annals-offline");
  const config = readConfig({ data: directory.path }, {});
  await fill(await openLog(config), 300);
  const all = { views: [], onProgress: () => {}, logger: createLogger("silent") };
  expect(await rebuild(config, all)).toEqual(viewNames.map((view) => ({ view, records: 300 })));
  const files = () =>
    readdirSync(directory.path)
      .filter((name) => viewNames.some((view) => name.startsWith(view)))
      .map((name) => [name, hashOf(join(directory.path, name))]);
  const before = files();
  const interrupt = new AbortController();
  const interrupted = rebuild(config, {
    ...all,
    signal: interrupt.signal,
    onProgress: () => interrupt.abort(new Error("interrupted")),
  });
  await expect(interrupted).rejects.toThrow("interrupted");
  expect(files()).toEqual(before);
});

test("a rebuild of the search view brings its source views to the head first", async () => {
  using directory = temporaryDirectory("annals-offline");
  const config = readConfig({ data: directory.path }, {});
  await fill(await openLog(config), 300);
  const search = { views: ["search"], onProgress: () => {}, logger: createLogger("silent") };
  const names = async () => (await rebuild(config, search)).map(({ view }) => view);
  expect(await names()).toEqual(["aspects", "timeseries", "search"]);
  expect(await names()).toEqual(["search"]);
});

test.each([300, twoThreads])(
  "a record that views cannot apply is parked in each of them, for a log of %i records",
  async (size) => {
    using directory = temporaryDirectory("annals-offline");
    const config = readConfig({ data: directory.path }, {});
    const log = await openLog(config);
    const urn = "urn:li:tag:spoiled";
    const spoiled = encodeChange(change(0, "ownership", {})).subarray(0, 40);
    await log.append([{ stream: entityStream(urn), expected: "any", records: [spoiled] }]);
    await fill(log, size);
    const all = { views: [], onProgress: () => {}, logger: createLogger("silent") };
    expect(await rebuild(config, all)).toHaveLength(4);

    const reader = await openLogReader(config);
    const parked: [string, string][] = [];
    for (const view of viewNames) {
      for (const note of await readParking(reader, view)) {
        if (note.kind === "parked") parked.push([view, note.urn]);
      }
    }
    await reader.close();
    expect(parked).toEqual(viewNames.map((view) => [view, urn]));
  },
);

const hashOf = (file: string): string =>
  createHash("sha256").update(readFileSync(file)).digest("hex");
