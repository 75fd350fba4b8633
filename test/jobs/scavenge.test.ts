import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTimeseriesProjection } from "../../projections/timeseries.ts";
import type { Change } from "../../src/core/change.ts";
import { NOTHING } from "../../src/core/job-counts.ts";
import { position } from "../../src/core/position.ts";
import { entityStream, timeseriesStream, truncationStream } from "../../src/core/stream.ts";
import type { Jobs } from "../../src/jobs/jobs.ts";
import { createScavenges } from "../../src/jobs/scavenge.ts";
import type { ChangeLog, LogRecord } from "../../src/log/change-log.ts";
import { decodeRecord, encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { bytes, readEverything } from "../contract/change-log-driver.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/temporary-directory.ts";

const dataset = "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";
const chart = "urn:li:chart:(looker,a)";

let directory: TemporaryDirectory;
let log: ChangeLog;
beforeEach(async () => {
  directory = temporaryDirectory("annals-scavenges");
  log = await openSqliteChangeLog({ file: join(directory.path, "log.sqlite") });
});
afterEach(async () => {
  await log.close();
  directory[Symbol.dispose]();
});

const change = (over: Partial<Change>): Uint8Array =>
  encodeChange({
    ...{ urn: dataset, entityType: "dataset", aspect: "datasetProfile", changeType: "UPSERT" },
    created: { time: 5, actor: "urn:li:corpuser:a" },
    system: { lastObserved: 5, runId: "nightly" },
    ...over,
  });
const event = (time: number, over: Partial<Change> = {}): Uint8Array =>
  change({ value: JSON.stringify({ timestampMillis: time, rowCount: 7 }), ...over });

async function append(stream: string, record: Uint8Array): Promise<number> {
  const [appended] = await log.append([{ stream, expected: "any", records: [record] }]);
  return Number(appended?.position);
}
const profile = (record: Uint8Array) => append(timeseriesStream(dataset, "datasetProfile"), record);
const truncate = (before: number, aspect = "datasetProfile") =>
  append(
    truncationStream("dataset", aspect),
    change({
      ...{ urn: "", aspect, changeType: "DELETE" },
      headers: { "annals-before": String(before), "annals-batch": "10" },
    }),
  );

const jobs = {} as Jobs;
let rebuilding = false;
const scavenges = (over: Partial<ChangeLog> = {}) =>
  createScavenges({
    log: { ...log, ...over },
    project: createTimeseriesProjection(() => "datasetKey"),
    caughtUp: async () => {},
    rebuilding: async () => rebuilding,
    logger: { info: () => {} },
  });

/** A job from its start, and the places that it reports. */
async function run(
  parts: { place?: unknown; resumed?: boolean; onReport?: (stop: () => void) => void } = {},
) {
  const controller = new AbortController();
  const places: unknown[] = [];
  let reported = NOTHING;
  const ended = scavenges().work({
    ...{ id: "node:1", request: {}, checkpoint: parts.place, counts: NOTHING },
    resumed: parts.resumed ?? false,
    signal: controller.signal,
    async report(counts, place) {
      reported = { ...counts };
      if (place !== undefined) places.push(place);
      parts.onReport?.(() => controller.abort(new Error("stopped")));
    },
    commit: () => {},
  });
  return { places, counts: () => reported, ended };
}

const valueless = async (): Promise<readonly number[]> =>
  (await readEverything(log)).flatMap((record) => {
    const { timeseries, urn, value, changeType } = readable(record) ?? {};
    const gone = timeseries && urn !== "" && value === undefined && changeType !== "DELETE";
    return gone ? [record.position] : [];
  });

function readable(record: LogRecord) {
  try {
    return decodeRecord(record);
  } catch {
    return undefined;
  }
}

describe("scavenging", () => {
  test("scavenging removes events older than a later truncation, and nothing else", async () => {
    const gone = [await profile(event(99)), await profile(event(-5))];
    await profile(event(100));
    await profile(change({ changeType: "DELETE", headers: { "annals-from": "1" } }));
    await append(timeseriesStream(dataset, "operation"), event(1, { aspect: "operation" }));
    const ofChart = { urn: chart, entityType: "chart" };
    await append(timeseriesStream(chart, "datasetProfile"), event(1, ofChart));
    await append(entityStream(dataset), change({ aspect: "status", value: '{"removed":false}' }));
    await profile(bytes("no record at all"));
    await profile(change({ value: '{"rowCount":1}' }));
    await truncate(100);
    await truncate(50);
    await profile(event(1));
    const before = await readEverything(log);
    const { ended, counts } = await run();
    await ended;
    expect(await valueless()).toEqual(gone);
    const after = await readEverything(log);
    expect(after.filter(({ position: at }) => !gone.includes(at))).toEqual(
      before.filter(({ position: at }) => !gone.includes(at)),
    );
    expect(counts()).toMatchObject({ deleted: 2, total: 11, updated: 9, noops: 0, batches: 1 });
  });

  test("a resumed job counts the events that it removed before an unreported interruption", async () => {
    for (let n = 0; n < 1_200; n++) await profile(event(n));
    await truncate(10_000);
    const first = await run({ onReport: (stop) => stop() });
    await expect(first.ended).rejects.toThrow("stopped");
    const taken = first.counts().deleted;
    expect(taken).toBeGreaterThan(0);
    const again = await run({ resumed: true });
    await again.ended;
    expect(again.counts()).toMatchObject({ deleted: 1_200, total: 1_201, updated: 1 });
    // Another job removes nothing.
    const next = await run();
    await next.ended;
    expect(next.counts()).toMatchObject({ deleted: 0, total: 1_201, updated: 1_201 });
  });

  test("the later of two truncations counts for an event between them", async () => {
    await truncate(100);
    const gone = await profile(event(10));
    await profile(event(60));
    await truncate(50);
    await (await run()).ended;
    expect(await valueless()).toEqual([gone]);
  });

  test("a log without truncations is not read", async () => {
    await profile(event(1));
    const caller = { actor: undefined };
    const readAll = () => Promise.reject(new Error("it is read"));
    const estimate = await scavenges({ readAll }).scavenge({}, caller, jobs);
    expect(estimate.text).toMatch(/^Take 0 events .*, 0 bytes\./);
    expect(estimate.position).toBeUndefined();
  });
});

describe("a scavenging job", () => {
  const many = 900;
  beforeEach(async () => {
    const records = Array.from({ length: many }, (_, n) => event(n));
    const stream = timeseriesStream(dataset, "datasetProfile");
    await log.append([{ stream, expected: "any", records }]);
    await truncate(many);
  });

  test("a job ends where it is cancelled, and resumes at its last place", async () => {
    let reports = 0;
    const first = await run({
      onReport: (stop) => {
        if (++reports === 2) stop();
      },
    });
    await expect(first.ended).rejects.toThrow("stopped");
    const done = (await valueless()).length;
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(many);
    const place = first.places.at(-1);
    expect(place).toEqual({ position: position(done) });
    const second = await run({ place });
    await second.ended;
    expect(second.counts()).toMatchObject({ deleted: many - done });
    expect(await valueless()).toHaveLength(many);
  });

  test("a job waits for views that are being rebuilt, which may have read the events", async () => {
    rebuilding = true;
    let ended = false;
    const job = await run();
    void job.ended.then(() => {
      ended = true;
    });
    await pause(300);
    expect([ended, (await valueless()).length]).toEqual([false, 0]);
    rebuilding = false;
    await job.ended;
    expect(await valueless()).toHaveLength(many);
  });

  test("a log without scavenging rejects the job", async () => {
    const asked = { dryRun: false };
    const keeping = scavenges({ scavenge: undefined });
    await expect(keeping.scavenge(asked, { actor: undefined }, jobs)).rejects.toMatchObject({
      code: "unavailable",
    });
  });
});
