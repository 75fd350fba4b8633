/** The progress of a restore job, also within a large batch, and how it resumes. */
import { describe, expect, test } from "vitest";
import type { Change } from "../../src/core/change.ts";
import { type JobCounts, NOTHING } from "../../src/core/job-counts.ts";
import { position, revision } from "../../src/core/position.ts";
import { entityStream } from "../../src/core/stream.ts";
import type { JobRun } from "../../src/jobs/jobs.ts";
import { createRestoring } from "../../src/jobs/restore/restore.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { loadModel } from "../../src/model/load-model.ts";

const entities = 130;
/** Two rows of each entity. */
const rows = 2 * entities;

const urns = Array.from(
  { length: entities },
  (_, n) => `urn:li:tag:t${String(n).padStart(3, "0")}`,
);

const change = (urn: string, aspect: string): Change => ({
  ...{ urn, entityType: "tag", aspect, changeType: "UPSERT", value: "{}" },
  created: { time: 1, actor: "urn:li:corpuser:ada" },
  system: { lastObserved: 1, runId: "r", version: "1" },
});

const restored: string[] = [];

const restoring = createRestoring({
  model: loadModel(),
  log: {
    async listStreams(prefix, { after = "", limit = 0 }) {
      const names = urns.map(entityStream);
      return names.filter((name) => name.startsWith(prefix) && name > after).slice(0, limit);
    },
    async readStream(stream, from) {
      const urn = stream.slice(entityStream("").length);
      return ["status", "tagKey"]
        .map((aspect, n) => ({
          ...{ stream, position: position(n + 1), revision: revision(n) },
          data: encodeChange(change(urn, aspect)),
        }))
        .slice(Number(from));
    },
  },
  restoration: {
    async restore(some) {
      restored.push(...some);
      return [];
    },
  },
  writeDefaults: async () => 0,
  restoreEdges: async () => 0,
  namespace: "li",
  urnLimits: { bytesMax: 512, schemaFieldBytesMax: 2048 },
  now: () => 0,
  logger: { error() {} },
});

interface Report {
  readonly counts: JobCounts;
  readonly checkpoint: unknown;
}

/** The reports of a job that resumes from `from`. */
async function run(request: object, from?: Report): Promise<readonly Report[]> {
  const reports: Report[] = [];
  let checkpoint = from?.checkpoint;
  const job: JobRun = {
    ...{ id: "node:1", request, checkpoint, counts: from?.counts ?? NOTHING },
    resumed: false,
    signal: new AbortController().signal,
    async report(counts, at) {
      checkpoint = at ?? checkpoint;
      reports.push({ counts, checkpoint });
    },
    commit() {},
  };
  restored.length = 0;
  await restoring.work(job);
  return reports;
}

describe("a restore of many entities in one batch", () => {
  const request = { batchSize: 10_000, limit: 10_000 };

  test("a restore reports the total before the first entity, and then its progress", async () => {
    const reports = await run(request);
    const progress = reports.map(({ counts }) => counts);
    expect(progress[0]).toMatchObject({ total: rows, updated: 0 });
    const updated = [...new Set(progress.map((counts) => counts.updated))];
    expect(updated).toEqual([0, 200, rows]);
    expect(progress.at(-1)).toMatchObject({ total: rows, updated: rows, batches: 1 });
  });

  test.each([
    { ...request, start: 0 },
    { ...request, start: 7 },
    { ...request, limit: 150 },
    { ...request, batchSize: 111 },
  ])("a restore resumes from any reported checkpoint: %j", async (asked) => {
    const whole = await run(asked);
    const end = whole.at(-1)?.counts;
    // An entity may be split between two batches.
    const all = [...new Set(restored)];
    for (const from of whole) {
      const rest = await run(asked, from);
      expect(rest.at(-1)?.counts).toMatchObject({ updated: end?.updated, total: end?.total });
      // One more batch if a batch was interrupted.
      expect(rest.at(-1)?.counts.batches).toBeLessThanOrEqual((end?.batches ?? 0) + 1);
      const again = [...new Set(restored)];
      expect(all.slice(all.length - again.length)).toEqual(again);
    }
  });
});
