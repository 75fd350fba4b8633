/** Thresholds of the projector and of rebuilds count records, also with byte offsets as positions. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { position } from "../../src/core/position.ts";
import { isBehindAtMost } from "../../src/projector/batch-groups.ts";
import { startProjector } from "../../src/projector/projector.ts";
import type { Projector } from "../../src/projector/projector-parts.ts";
import { type BuildProgress, buildStaging } from "../../src/projector/rebuild/staging.ts";
import type { View } from "../../src/projector/sink.ts";
import { createArrayLog, createRecordingView, decode, type RecordingView } from "./array-log.ts";

const STEP = 1_000;
const logOf = (count: number) => createArrayLog(count, 8, STEP);
const at = (record: number) => position(record * STEP);
const all = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => at(first + n));
const asViews = (...views: readonly unknown[]): readonly View[] => views as readonly View[];
const soon = <T>(check: () => T) => vi.waitFor(check, { timeout: 60_000, interval: 2 });

describe("the projector", () => {
  let projector: Projector | undefined;
  afterEach(() => projector?.stop());

  async function start(log: ReturnType<typeof logOf>, views: readonly RecordingView[]) {
    projector = await startProjector({
      ...{ log, decode, views: asViews(...views), onProgress: () => {} },
      ...{ retryMs: { first: 1, max: 4 }, idleMs: 2, batchMax: 10 },
    });
    return projector;
  }

  test("a view waits for another one that is less than a batch behind", async () => {
    const log = logOf(100);
    const early = createRecordingView("early", { at: at(5) });
    const late = createRecordingView("late");
    await start(log, [late, early]);
    await soon(() => expect([late.at, early.at]).toEqual([at(100), at(100)]));
    expect([late.got, early.got]).toEqual([all(1, 100), all(6, 100)]);
    // Both views share each page from there on.
    expect(log.pages).toHaveLength(11);
  });

  test("the checkpoint of a view is not written for some thousand ignored records", async () => {
    const log = logOf(300);
    const view = createRecordingView("a", { ignores: () => true });
    const { progress } = await start(log, [view]);
    await soon(() => expect(progress()).toEqual({ a: { position: at(300) } }));
    expect(view.batches).toEqual([]);
  });
});

test("a group of views is within a number of records of another", () => {
  const log = logOf(0);
  const ahead = [{ position: at(30) }];
  expect(isBehindAtMost(log, 10, ahead, [{ position: at(20) }])).toBe(true);
  expect(isBehindAtMost(log, 10, ahead, [{ position: at(19) }])).toBe(false);
  expect(isBehindAtMost({}, 10, ahead, [{ position: at(20) }])).toBe(false);
  expect(isBehindAtMost(log, 10, ahead, undefined)).toBe(false);
});

describe("a rebuild while views are live", () => {
  const parts = {
    ...{ decode, parkingStore: { load: async () => [] } },
    signal: new AbortController().signal,
  };

  test("a rebuild is near the head when it is some thousand records behind, and reports records", async () => {
    const log = logOf(9_000);
    const [graph, search] = [createRecordingView("graph"), createRecordingView("search")];
    const again = createRecordingView("graph", { at: at(9_000) });
    const reports: BuildProgress[] = [];
    const head = async () => {
      log.extend(2_000);
      return log.head();
    };
    await buildStaging({
      ...{ ...parts, log: { ...log, head }, views: asViews(graph), onNear: log.head },
      async openFolded() {
        again.at = graph.at;
        return { reopened: asViews(again), folded: asViews(search) };
      },
      onProgress: (progress) => void reports.push(progress),
    });
    const ofGraph = reports.filter(({ views }) => views.includes("graph"));
    expect(ofGraph[0]).toMatchObject({
      records: 5_000,
      total: 11_000,
      recordsBefore: 0,
      passesLeft: 1,
    });
    expect(ofGraph.at(-1)).toMatchObject({ records: 11_000, total: 11_000, position: at(11_000) });
    const last = reports.at(-1);
    expect(last).toMatchObject({ views: ["search"], recordsBefore: 11_000, passesLeft: 0 });
    expect(last?.records).toBe(search.got.length);
  });
});
