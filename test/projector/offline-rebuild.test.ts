/** That `annals rebuild` puts nothing in place that is not what the log says. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { position } from "../../src/core/position.ts";
import { rebuild } from "../../src/offline.ts";
import { openLog } from "../../src/stores.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import * as verified from "../../src/verified-views.ts";
import { fill } from "../bench/regrow.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

// Files of a worker share their modules: those here are loaded anew to see the spy, and let go of.
vi.hoisted(() => vi.resetModules());
vi.mock(import("../../src/verified-views.ts"), { spy: true });
afterAll(() => void vi.resetModules());

test("grown views are compared with the log before they take the places of others", async () => {
  using directory = temporaryDirectory("annals-offline");
  const config = readConfig({ data: directory.path }, {});
  await fill(await openLog(config), 300);
  const all = { views: [], onProgress: () => {}, logger: createLogger("silent") };
  expect(await rebuild(config, all)).toHaveLength(4);
  const look = vi.mocked(verified.verifyStoredViews);
  expect(look.mock.calls.map(([, { views, grade, next }]) => ({ views, grade, next }))).toEqual([
    { views: ["aspects", "timeseries", "graph", "search"], grade: "full", next: true },
  ]);
  const [found] = look.mock.settledResults;
  expect(found).toMatchObject({
    ...{ type: "fulfilled", value: { views: Array.from({ length: 4 }, () => ({ count: 0 })) } },
  });

  const files = () => readdirSync(directory.path).filter((name) => name.includes(".sqlite"));
  const graph = () => readFileSync(join(directory.path, "graph.sqlite"));
  const [filesBefore, before] = [files(), graph()];
  const difference = { view: "graph", urn: "urn:li:tag:a", aspect: "", kind: "missing" } as const;
  look.mockResolvedValueOnce({
    records: 1,
    views: [
      {
        ...{ view: "graph", position: position(1), rows: 1, time: 0, full: undefined },
        ...{ whole: undefined, sums: undefined, count: 1, differences: [difference] },
      },
    ],
  });
  await expect(rebuild(config, { ...all, views: ["graph"] })).rejects.toThrow(
    'the view "graph" was grown anew and is not what the log says',
  );
  expect(files()).toEqual(filesBefore);
  expect(graph().equals(before)).toBe(true);
});
