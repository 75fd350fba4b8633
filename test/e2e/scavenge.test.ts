/**
 * Scavenging removes the values of truncated events from the log. All other records and everything
 * that is read, built or copied from the log stay unchanged, also after kills.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyLogTo } from "../../src/app/offline/offline.ts";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { verify } from "../../src/app/offline/offline-verify.ts";
import { readConfig } from "../../src/config/config.ts";
import { position, START } from "../../src/core/position.ts";
import { timeseriesStream } from "../../src/core/stream.ts";
import type { LogRecord } from "../../src/log/change-log.ts";
import { decodeRecord } from "../../src/log/codecs/record-codec.ts";
import { copyLog } from "../../src/log/copy-log.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { readEverything } from "../contract/change-log-driver.ts";
import { proposal } from "../support/client.ts";
import { startEventStoreServer } from "../support/eventstoredb-server/server.ts";
import { killableService } from "../support/killable-service.ts";
import { operatorOf } from "../support/operator.ts";
import { dataset, writeHistory } from "../support/random-history.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

async function recordsIn(directory: string): Promise<readonly LogRecord[]> {
  const log = await openSqliteChangeLog({ file: join(directory, "log.sqlite"), readOnly: true });
  try {
    return await readEverything(log);
  } finally {
    await log.close();
  }
}

/** The positions of truncated events, computed naively. */
function covered(records: readonly LogRecord[]): ReadonlySet<number> {
  const changes = records.flatMap((record) => decodeRecord(record) ?? []);
  const cuts = changes.filter(({ timeseries, urn }) => timeseries && urn === "");
  const events = changes.filter(
    ({ timeseries, urn, value }) => timeseries && urn !== "" && value !== undefined,
  );
  const gone = events.filter(({ position: at, entityType, aspect, value = "" }) =>
    cuts.some(
      (cut) =>
        cut.position > at &&
        cut.entityType === entityType &&
        cut.aspect === aspect &&
        JSON.parse(value).timestampMillis < Number(cut.headers?.["annals-before"]),
    ),
  );
  return new Set(gone.map(({ position: at }) => at));
}

/** The records sorted, because a copy has records of different entities in another order. */
const byStream = (records: readonly LogRecord[]) =>
  records
    .map(
      ({ stream, revision, data }) => `${stream} ${revision} ${Buffer.from(data).toString("hex")}`,
    )
    .sort();

describe("scavenging a random history", () => {
  let service: RunningService;
  beforeEach(async () => {
    service = await runningService();
  });
  afterEach(() => service[Symbol.asyncDispose]());

  const profilesOf = async (urn: string) => {
    const asked = { urn, entity: "dataset", aspect: "datasetProfile", limit: 1_000 };
    const path = "/aspects?action=getTimeseriesAspectValues";
    return (await service.client.call("POST", path, asked)).body.value.values;
  };

  test("the log loses the values of truncated events, and views, runs and rebuilds stay the same", async () => {
    const { value, act, ended } = operatorOf(service);
    const urns = Array.from({ length: 8 }, (_, n) => dataset(n));
    for (let round = 0; round < 2; round++) {
      await writeHistory(service, 80, urns.length);
      await value("truncateTimeseriesAspect", {
        ...{ entityType: "dataset", aspect: "datasetProfile", dryRun: false },
        endTimeMillis: 1_629_331_200_000 + 12 * 3_600_000,
      });
      await writeHistory(service, 10, urns.length);
      const before = await recordsIn(service.directory);
      const gone = covered(before);
      expect(gone.size).toBeGreaterThan(0);
      const shown = await Promise.all(urns.map(profilesOf));
      const runs = await service.client.call("POST", "/runs?action=list", { includeSoft: true });

      const dry = await value("scavengeLog");
      expect(dry).toMatch(
        new RegExp(
          `^Take ${gone.size} events that were truncated out of the log, [1-9]\\d* bytes\\.`,
        ),
      );
      expect((await recordsIn(service.directory)).slice(0, before.length)).toEqual(before);
      const job = await ended(await value("scavengeLog", { dryRun: false }));
      expect(job).toMatchObject({ status: { deleted: gone.size, noops: 0 } });
      const { updated, deleted, total } = job.status;
      expect(updated + deleted).toBe(total);

      const after = (await recordsIn(service.directory)).slice(0, before.length);
      for (const [n, record] of before.entries()) {
        if (!gone.has(record.position)) expect(after[n]).toEqual(record);
        else {
          const was = decodeRecord(record);
          const { value: _, changeType, headers, ...rest } = was ?? { headers: {} };
          const is = decodeRecord(after[n] as LogRecord);
          expect(is).toMatchObject(rest);
          expect(is?.value).toBeUndefined();
          expect(Buffer.from(after[n]?.data ?? []).toString("latin1")).not.toContain("rowCount");
        }
      }
      expect(await value("scavengeLog")).toMatch(/^Take 0 events/);
      expect(await Promise.all(urns.map(profilesOf))).toEqual(shown);
      const again = await service.client.call("POST", "/runs?action=list", { includeSoft: true });
      expect(again.body).toEqual(runs.body);
      for (const verify of [{ full: true }, {}, { quick: true }]) {
        await ended(await value("verify", verify));
        expect((await value("listDifferences")).differences).toEqual([]);
      }
      expect((await act("restoreIndices", { urnLike: "urn:li:dataset:%" })).status).toBe(200);
      expect((await service.client.get("/changes?count=1000")).status).toBe(200);
    }
    await ended(await value("rebuildViews"));
    expect(await value("listParked")).toMatchObject({ total: 0 });
    await service.restart(async () => {
      const { differences } = await differencesFromRebuild(service.directory);
      expect(differences).toEqual([]);
    });
  });

  test("a retried request is recognized by its idempotency key, and a rollback deletes the remaining events", async () => {
    const { value, ended } = operatorOf(service);
    const sendProfile = (timestampMillis: number, key: string) =>
      service.client.call(
        "POST",
        "/aspects?action=ingestProposal",
        {
          proposal: {
            ...proposal(dataset(1), "datasetProfile", { timestampMillis, rowCount: 1 }),
            systemMetadata: { runId: "nightly" },
          },
        },
        { "Idempotency-Key": key },
      );
    await sendProfile(5_000, "new");
    await sendProfile(1_000, "old");
    const truncation = { entityType: "dataset", aspect: "datasetProfile", endTimeMillis: 2_000 };
    await ended(await value("truncateTimeseriesAspect", { ...truncation, dryRun: false }));
    await ended(await value("scavengeLog", { dryRun: false }));
    await service.restart();
    const head = (await recordsIn(service.directory)).length;
    expect(await sendProfile(1_000, "old")).toMatchObject({ status: 200 });
    expect(await recordsIn(service.directory)).toHaveLength(head);
    expect(await profilesOf(dataset(1))).toHaveLength(1);
    const undone = await service.client.call("POST", "/runs?action=rollback", {
      ...{ runId: "nightly", dryRun: false, safe: true },
    });
    expect(undone.status, JSON.stringify(undone.body)).toBe(200);
    expect(await profilesOf(dataset(1))).toEqual([]);
  });

  test("a copy equals the scavenged log, also a copy that was begun before", async () => {
    const { value, ended } = operatorOf(service);
    await writeHistory(service, 60, 6);
    const copied = async (file: string) => {
      const from = await openSqliteChangeLog({
        file: join(service.directory, "log.sqlite"),
        readOnly: true,
      });
      const to = await openSqliteChangeLog({ file });
      try {
        const progress = await copyLog(from, to);
        return { progress, records: await readEverything(to) };
      } finally {
        await Promise.all([from.close(), to.close()]);
      }
    };
    using elsewhere = temporaryDirectory("annals-copy");
    const early = join(elsewhere.path, "early.sqlite");
    const { records } = await copied(early);
    const truncation = { entityType: "dataset", aspect: "datasetProfile", endTimeMillis: 9e12 };
    await ended(await value("truncateTimeseriesAspect", { ...truncation, dryRun: false }));
    await ended(await value("scavengeLog", { dryRun: false }));
    const all = await recordsIn(service.directory);
    const late = await copied(join(elsewhere.path, "late.sqlite"));
    expect(byStream(late.records)).toEqual(byStream(all));
    const on = await copied(early);
    expect(on.progress).toMatchObject({ there: records.length });
    // Audit records, which are written after responses, may have been added meanwhile.
    expect(on.records.length).toBeGreaterThanOrEqual(all.length);
    expect(on.records.slice(0, records.length)).toEqual(records);
  });
});

test("scavenging on EventStoreDB removes values, and a copy of the log keeps their positions", async () => {
  const server = await startEventStoreServer();
  using back = temporaryDirectory("annals-back");
  try {
    const quiet = { onProgress: () => {}, logger: createLogger("silent") };
    const log = server.address;
    let config = readConfig({ log }, {});
    {
      await using service = await runningService({ log });
      config = readConfig({ log, data: service.directory }, {});
      const { value, ended } = operatorOf(service);
      await writeHistory(service, 100, 6);
      // The newest event is not truncated, and its record comes after the truncated one.
      for (const timestampMillis of [1_000, 8e12]) {
        await service.client.upsert(dataset(99), "datasetProfile", {
          timestampMillis,
          rowCount: 1,
        });
      }
      await value("truncateTimeseriesAspect", {
        ...{ entityType: "dataset", aspect: "datasetProfile", dryRun: false },
        endTimeMillis: 7e12,
      });
      const { status } = await ended(await value("scavengeLog", { dryRun: false }));
      expect(status.deleted).toBeGreaterThan(0);
      server.store.scavenge();
      await ended(await value("rebuildViews"));
      await ended(await value("verify", { full: true }));
      expect((await value("listDifferences")).differences).toEqual([]);
      expect((await service.client.get("/changes?count=1000")).status).toBe(200);
      await service.restart(async () => {
        await copyLogTo(config, { to: back.path, ...quiet });
      });
    }
    const copied = (await recordsIn(back.path)).filter(
      ({ stream }) => stream === timeseriesStream(dataset(99), "datasetProfile"),
    );
    expect(copied.map((record) => decodeRecord(record)?.value)).toEqual([
      undefined,
      expect.stringContaining("8000000000000"),
    ]);
    await rebuild(readConfig({ data: back.path }, {}), { views: [], ...quiet });
    const verified = await verify(readConfig({ data: back.path }, {}), {
      ...{ views: [], repair: false, ...quiet },
    });
    expect(verified.before.map(({ count }) => count)).toEqual([0, 0, 0, 0]);
  } finally {
    await server.stop();
  }
});

describe("a process that is killed while it scavenges", () => {
  const events = 8_000;
  const kills = 3;
  const service = killableService("annals-scavenge");
  const { start } = service;

  test("the log stays readable after each kill, and the job finishes", async () => {
    const first = await start();
    for (let from = 0; from < events; from += 1_000) {
      const proposals = Array.from({ length: 1_000 }, (_, n) =>
        proposal(dataset(n % 20), "datasetProfile", {
          ...{ timestampMillis: from + n, rowCount: 1 },
          messageId: "forgotten ".repeat(40),
        }),
      );
      const path = "/aspects?action=ingestProposalBatch";
      expect((await first.client.call("POST", path, { proposals })).status).toBe(200);
    }
    await first.ended(
      await first.value("truncateTimeseriesAspect", {
        ...{ entityType: "dataset", aspect: "datasetProfile" },
        ...{ endTimeMillis: events - 100, dryRun: false },
      }),
    );
    let job = await first.value("scavengeLog", { dryRun: false });
    let last = first;
    const left: number[] = [];
    for (let kill = 0; kill < kills; kill++) {
      await pause(20 + kill * 60);
      await service.stop("SIGKILL");
      const records = await recordsIn(service.directory);
      expect(records.map(({ position: at }) => at)).toEqual(
        records.map((_, n) => position(START + n + 1)),
      );
      left.push(covered(records).size);
      last = await start();
      // A job that was interrupted four times fails with that error.
      const { state } = await last.value("getJob", { id: job });
      if (state === "failed") job = await last.value("scavengeLog", { dryRun: false });
    }
    expect(left).toEqual(left.toSorted((a, b) => b - a));
    await last.ended(job);
    expect(await last.value("getJob", { id: job })).toMatchObject({ state: "done" });
    const records = await recordsIn(service.directory);
    expect(covered(records).size).toBe(0);
    const kept = records.filter((record) => decodeRecord(record)?.aspect === "datasetProfile");
    expect(kept.filter((record) => decodeRecord(record)?.value !== undefined)).toHaveLength(100);
    await last.ended(await last.value("verify", { full: true }));
    expect((await last.value("listDifferences")).differences).toEqual([]);
    await service.stop();
    const text = readFileSync(join(service.directory, "log.sqlite"), "latin1");
    expect(text.split("forgotten forgotten").length - 1).toBeLessThan(100 * 60);
    expect((await differencesFromRebuild(service.directory)).differences).toEqual([]);
  });
});
