/** A truncation job over a slow store (src/jobs/truncate.ts). */
import { describe, expect, test } from "vitest";
import type { Change } from "../../src/core/change.ts";
import { NOTHING } from "../../src/core/job-counts.ts";
import { type Position, position, revision } from "../../src/core/position.ts";
import type { JobRun } from "../../src/jobs/jobs.ts";
import { createTruncation } from "../../src/jobs/truncate.ts";
import type { Append } from "../../src/log/change-log.ts";
import { defaultModel } from "../model/default-model.ts";

const asked = {
  ...{ entityType: "dataset", aspect: "datasetProfile", endTimeMillis: 5_000, batchSize: 10 },
  actor: "urn:li:corpuser:ann",
};

/** `progress` is the state of the truncation at each look; the last one repeats. */
function truncations(
  progress: readonly { readonly deleted: number; readonly done: boolean }[],
  request: object = {},
) {
  const appended: Append[] = [];
  const reports: unknown[] = [];
  const committed: string[] = [];
  let looks = 0;
  const { work } = createTruncation({
    model: defaultModel,
    log: {
      async append(appends) {
        appended.push(...appends);
        return [
          { position: position(40 + appended.length), revision: revision(0), repeated: false },
        ];
      },
    },
    encode: (change: Change) => new TextEncoder().encode(JSON.stringify(change)),
    reader: {
      countOlder: async () => ({ events: 50, older: 30 }),
      async findTruncation(_: Position) {
        const look = progress[Math.min(looks++, progress.length - 1)];
        return look === undefined ? undefined : { ...look, batches: looks };
      },
    },
    systemActor: "urn:li:corpuser:__datahub_system",
    now: () => 1_000,
    caughtUp: async () => {},
    onAppended: () => {},
  });
  const run = (place?: unknown): JobRun => ({
    ...{ id: "node:7", request: { ...asked, ...request }, checkpoint: place, counts: NOTHING },
    resumed: false,
    signal: new AbortController().signal,
    report: async (counts, at) => void reports.push({ ...counts, at }),
    commit: (why) => void committed.push(why),
  });
  return { work: (place?: unknown) => work(run(place)), appended, reports, committed };
}

describe("a truncation", () => {
  test("a truncation writes a record, and then waits until the store is done", async () => {
    const { work, appended, reports, committed } = truncations([
      { deleted: 10, done: false },
      { deleted: 30, done: true },
    ]);
    await work();
    expect(appended).toHaveLength(1);
    expect(committed).toHaveLength(1);
    expect(reports[0]).toMatchObject({ total: 30, deleted: 0, at: { position: 41 } });
    expect(reports.slice(1)).toMatchObject([
      { total: 30, deleted: 10 },
      { total: 30, deleted: 30 },
    ]);
  });

  test("a truncation that takes too long fails with a hint that it continues, and keeps its deletions", async () => {
    const { work, appended } = truncations([{ deleted: 10, done: false }], {
      // Seconds; requests to a service have whole numbers.
      timeoutSeconds: 0.2,
    });
    await expect(work()).rejects.toMatchObject({
      code: "unavailable",
      message: "the truncation took more than 0.2 seconds",
      hint: "The truncated events are hidden; the store continues to delete them in the background",
    });
    expect(appended).toHaveLength(1);
  });

  test("a truncation that was interrupted after its record continues without another record", async () => {
    const { work, appended, reports } = truncations([{ deleted: 30, done: true }]);
    await work({ position: 41 });
    expect(appended).toEqual([]);
    expect(reports).toMatchObject([{ deleted: 30 }]);
  });

  test("a truncation that was interrupted before its record writes it with the same id, and the log keeps one", async () => {
    const [first, second] = [
      truncations([{ deleted: 0, done: true }]),
      truncations([{ deleted: 0, done: true }]),
    ];
    await first.work();
    await second.work();
    expect(first.appended[0]?.id).toBeDefined();
    expect(second.appended[0]?.id).toEqual(first.appended[0]?.id);
  });
});
