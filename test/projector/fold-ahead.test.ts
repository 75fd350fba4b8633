/** That what was folded while views were being grown is what they are compared with. */
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { configuredModel } from "../../src/configured-model.ts";
import { entityStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/record-codec.ts";
import { rebuild } from "../../src/offline-rebuild.ts";
import {
  openLog,
  openLogReader,
  type StoresConfig,
  storesConfig,
  viewFile,
  viewNames,
} from "../../src/stores.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { verifyStoredViews } from "../../src/verified-views.ts";
import { change, fill } from "../bench/regrow.ts";
import { propertiesOf, urnOf } from "../bench/sample.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

async function compareAfter(
  stores: StoresConfig,
  meanwhile: () => Promise<void>,
): Promise<readonly string[]> {
  const [begun, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const found = verifyStoredViews(stores, {
    ...{ views: viewNames, grade: "full", threads: 0, ready: ready.promise },
    rest: async () => begun.resolve(),
  });
  await begun.promise;
  await meanwhile();
  ready.resolve();
  const { views } = await found;
  const told = views.flatMap(({ view, differences }) =>
    differences.map(({ kind, urn, aspect }) => `${view}: ${kind} ${urn} ${aspect}`),
  );
  return [...new Set(told)];
}

test("what was folded ahead is what views are compared with, and what was written since", async () => {
  using directory = temporaryDirectory("annals-ahead");
  const config = readConfig({ data: directory.path }, {});
  await fill(await openLog(config), 300);
  const all = { views: [], onProgress: () => {}, logger: createLogger("silent") };
  await rebuild(config, all);
  const reader = await openLogReader(config);
  const stores = await storesConfig(config, configuredModel(config).rules, reader);
  await reader.close();
  async function write(): Promise<void> {
    const log = await openLog(config);
    const later = change(3, "datasetProperties", propertiesOf(3, 900));
    const records = [encodeChange({ ...later, system: { ...later.system, version: "90" } })];
    await log.append([{ stream: entityStream(urnOf(3)), expected: "any", records }]);
    await log.close();
    await rebuild(config, all);
  }
  function damage(view: "graph" | "aspects", sql: string): void {
    const db = new DatabaseSync(viewFile(config, view));
    db.exec(sql);
    db.close();
  }

  expect(await compareAfter(stores, async () => {})).toEqual([]);
  expect(await compareAfter(stores, write)).toEqual([]);
  const found = await compareAfter(stores, async () => {
    await write();
    damage("aspects", "UPDATE aspect_value SET actor = 'urn:li:corpuser:nobody' WHERE rowid = 7");
    damage("graph", "DELETE FROM edge WHERE position = (SELECT min(position) FROM edge)");
  });
  expect(found).toEqual([
    expect.stringMatching(/^aspects: different urn:li:dataset:/),
    expect.stringMatching(/^graph: missing urn:li:dataset:/),
  ]);
});
