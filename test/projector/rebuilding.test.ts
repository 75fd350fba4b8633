/** A staging generation replaces a live view only if it equals the log. */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog, openLogReader } from "../../src/app/open-log.ts";
import { fileOf, viewNames } from "../../src/app/store-locations.ts";
import { type StoresConfig, storesConfig } from "../../src/app/stores.ts";
import { clearStagingFiles } from "../../src/app/swappable-readers.ts";
import { verifyModule } from "../../src/app/verification/verified-state.ts";
import { viewRules } from "../../src/app/view-rules.ts";
import { readConfig } from "../../src/config/config.ts";
import { position } from "../../src/core/position.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { createRebuilding } from "../../src/projector/rebuild/rebuilding.ts";
import { startStagingWorker } from "../../src/projector/rebuild/staging-worker.ts";
import { verifyStaging } from "../../src/projector/verify/verify-staging.ts";
import { stagingPath } from "../../src/storage/sqlite/generations.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { fill } from "../bench/offline-rebuild.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const module = new URL("lossy-stores.ts", import.meta.url);

describe("staging generations", () => {
  const directory = temporaryDirectory("annals-rebuilding");
  const config = readConfig({ data: directory.path }, {});
  let stores: StoresConfig;
  beforeAll(async () => {
    await fill(await openLog(config), 600);
    await rebuild(config, { views: [], onProgress: () => {}, logger: createLogger("silent") });
    const log = await openLogReader(config);
    stores = await storesConfig(config, viewRules(loadModel()), log);
    await log.close();
  });
  afterAll(() => directory[Symbol.dispose]());

  async function rebuildLosing(
    views: readonly string[],
    loses: string | undefined,
  ): Promise<string[]> {
    const steps: string[] = [];
    const step = (name: string) => async () => void steps.push(name);
    const { rebuild: rebuildNow } = createRebuilding({
      generationSwap: {
        pause: async () => position(0),
        prepare: step("prepare"),
        resume: step("resume"),
      },
      isShared: () => false,
      workerGroups: async (views) => {
        const others = views.filter((view) => view !== "graph");
        return others.length === 3 ? [others, ["graph"]] : [views];
      },
      startWorker: (group, options) =>
        startStagingWorker({ stores: { ...stores, loses }, module, views: group, ...options }),
      verify: (generations, signal) =>
        verifyStaging({ ...verifyModule, config: stores }, generations, signal),
      storeResults: () => {},
      readers: {
        prepare: async () => ({ swap: step("swap"), close: step("close") }),
        reopen: step("reopen"),
      },
      removeStaging: (views) => clearStagingFiles(config, views),
    });
    const signal = new AbortController().signal;
    try {
      await rebuildNow(views, { signal, onProgress: () => {}, onSwap: () => {} });
    } catch (error) {
      steps.push(String(error));
    }
    return steps;
  }

  test.each(viewNames)(
    "a staging generation that lacks an entity does not replace the live view: %s",
    async (view) => {
      expect(await rebuildLosing([view], view)).toEqual([
        expect.stringMatching(
          `the view "${view}" was rebuilt and differs from the log: \\d+ differences?, the first: (missing|different) urn:li:`,
        ),
      ]);
      expect(existsSync(stagingPath(fileOf(config, view)))).toBe(false);
    },
    60_000,
  );

  test("a staging generation of another thread that lacks an entity replaces no view", async () => {
    expect(await rebuildLosing(viewNames, "graph")).toEqual([
      expect.stringContaining('the view "graph" was rebuilt and differs from the log'),
    ]);
  });

  test("staging generations that equal the log replace the live views", async () => {
    const steps = await rebuildLosing(viewNames, undefined);
    expect(steps).toEqual(["prepare", "swap", "resume", "close"]);
  });
});
