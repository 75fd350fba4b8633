/** A staging generation in a server replaces a live view only if it equals the log. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLog, openLogReader } from "../../src/app/open-log.ts";
import { type ViewName, viewNames } from "../../src/app/store-locations.ts";
import * as stores from "../../src/app/stores.ts";
import { openViewRows } from "../../src/app/verification/row-adapters.ts";
import { verifyModule } from "../../src/app/verification/verified-state.ts";
import { verifyStoredViews } from "../../src/app/verification/verified-views.ts";
import { viewRules } from "../../src/app/view-rules.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import { entityStream, timeseriesStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { createRebuilding } from "../../src/projector/rebuild/rebuilding.ts";
import { startStagingWorker } from "../../src/projector/rebuild/staging-worker.ts";
import type { Staged } from "../../src/projector/sink.ts";
import { verifyStaging } from "../../src/projector/verify/verify-staging.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { elasticsearchViews, neo4jViews, postgresViews } from "../adapter/view-rows-places.ts";
import { change, fill } from "../bench/offline-rebuild.ts";
import { ownershipOf, profileOf, urnOf } from "../bench/sample.ts";
import { reachStore } from "../support/stores.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const module = new URL("lossy-stores.ts", import.meta.url);
const signal = new AbortController().signal;
const offline = { onProgress: () => {}, logger: createLogger("silent") };
const differing = (view: string) =>
  `the view "${view}" was rebuilt and differs from the log: \\d+ differences?, the first: (missing|different) urn:li:`;

const names = ["postgres", "neo4j", "elasticsearch"] as const;
const reached = await Promise.all(names.map((name) => reachStore(name)));
const urls = reached.flatMap((store) => ("skipped" in store ? [] : [store.url]));

// Without the servers there is nothing to rebuild; the end of the run lists missing servers.
describe.skipIf(urls.length < names.length)("views in servers", () => {
  const directory = temporaryDirectory("annals-rebuilding");
  const removals: (() => Promise<void>)[] = [() => Promise.resolve(directory[Symbol.dispose]())];
  let config: Config;
  let settings: stores.StoresConfig;

  beforeAll(async () => {
    const [aspects = "", graph = "", search = ""] = urls;
    const tables = await postgresViews(aspects);
    const storeName = tables.place.name;
    const others = await Promise.all([
      neo4jViews(graph, storeName),
      elasticsearchViews(search, storeName, "search"),
    ]);
    removals.push(...[tables, ...others].map(({ remove }) => remove));
    const where = { data: directory.path, aspects, graph, search, timeseries: search, storeName };
    config = readConfig(where, {});
    await fill(await openLog(config), 600);
    await rebuild(config, { views: [], ...offline });
    const log = await openLogReader(config);
    settings = await stores.storesConfig(config, viewRules(loadModel()), log);
    await log.close();
  }, 120_000);
  afterAll(async () => {
    for (const remove of removals.reverse()) await remove();
  });

  async function head() {
    const log = await openLogReader(config);
    try {
      return await log.head();
    } finally {
      await log.close();
    }
  }

  /** The position of each live view, and the number of its differences from the log. */
  async function live(views: readonly ViewName[]) {
    const found = await verifyStoredViews(settings, { views });
    return found.views.map(({ position: at, count }) => ({ position: at, count }));
  }

  /** The number of remaining rows of the staging generation. */
  async function left(view: ViewName, staged: Readonly<Record<string, Staged>>): Promise<unknown> {
    const rows = await openViewRows(settings, view, { next: true, staged });
    try {
      return (await rows.count()).rows;
    } catch (error) {
      return String(error);
    } finally {
      await rows.close();
    }
  }

  async function rebuildStaged(
    views: readonly ViewName[],
    { loses, meanwhile }: { loses?: string; meanwhile?: () => Promise<void> },
  ) {
    const steps: string[] = [];
    let staged: Readonly<Record<string, Staged>> = {};
    const { rebuild: rebuildNow } = createRebuilding({
      generationSwap: {
        async pause() {
          steps.push("pause");
          return head();
        },
        prepare: async () => void steps.push("prepare"),
        resume: async (_, take) => void steps.push(`resume: ${take}`),
      },
      isShared: () => true,
      workerGroups: async (asked) => [asked],
      startWorker: (group, options) =>
        startStagingWorker({ stores: { ...settings, loses }, module, views: group, ...options }),
      async verify(generations, stop) {
        staged = generations.staged ?? {};
        await meanwhile?.();
        return verifyStaging({ ...verifyModule, config: settings }, generations, stop);
      },
      storeResults: () => {},
      readers: {
        prepare: () => Promise.reject(new Error("readers find what is in servers by themselves")),
        reopen: async () => {},
      },
      removeStaging: () => {},
    });
    try {
      await rebuildNow(views, { signal, onProgress: () => {}, onSwap: () => {} });
    } catch (error) {
      steps.push(String(error));
    }
    return { steps, staged };
  }

  test.each(viewNames)(
    "a live view stays when its staging generation lacks an entity: %s",
    async (view) => {
      const before = await live([view]);
      const { steps, staged } = await rebuildStaged([view], { loses: view });
      expect(steps).toEqual([expect.stringMatching(differing(view))]);
      expect(Object.keys(staged)).toEqual([view]);
      const none = view === "aspects" ? expect.stringMatching(/does not exist/) : 0;
      expect(await left(view, staged)).toEqual(none);
      expect(await live([view])).toEqual(before);
      expect(before).toEqual([{ position: await head(), count: 0 }]);
    },
  );

  test("staging generations that equal the log replace live views while the log receives records", async () => {
    const views = ["aspects", "timeseries", "graph"] as const;
    const { steps, staged } = await rebuildStaged(views, {
      async meanwhile() {
        const log = await openLog(config);
        const records = (...changes: Parameters<typeof encodeChange>[0][]) =>
          changes.map(encodeChange);
        const [known, fresh] = [0, 9_999];
        await log.append([
          {
            ...{ stream: entityStream(urnOf(known)), expected: "any" },
            records: records(change(known, "ownership", ownershipOf(7))),
          },
          {
            ...{ stream: timeseriesStream(urnOf(known), "datasetProfile"), expected: "any" },
            records: records(change(known, "datasetProfile", profileOf(known, 5_000))),
          },
          {
            ...{ stream: entityStream(urnOf(fresh)), expected: "any" },
            records: records(change(fresh, "ownership", ownershipOf(fresh))),
          },
        ]);
        await log.close();
      },
    });
    expect(steps).toEqual(["pause", "prepare", "resume: true"]);
    expect(Object.keys(staged)).toEqual(views);
    const now = await head();
    expect(staged.graph?.position).toBeLessThan(now);
    expect(await live(views)).toEqual(views.map(() => ({ position: now, count: 0 })));
  });
});
