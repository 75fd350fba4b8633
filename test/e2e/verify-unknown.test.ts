/** A verification reports unverified views as unknown; no command succeeds while a view is stuck. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { type Ended, start } from "../cli/run-program.ts";
import { caughtUp } from "../support/caught-up.ts";
import { proposal } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const main = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));

let service: RunningService;
beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  await service.client.upsert("urn:li:tag:a", "tagProperties", { name: "a" });
});
afterAll(() => service[Symbol.asyncDispose]());

const offline = (...more: string[]): Promise<Ended> =>
  start(process.execPath, [main, "verify", "--data", service.directory, ...more]).ended;
const online = (...args: string[]): Promise<Ended> => {
  const where = ["--server", service.address, "--data", service.directory];
  return start(process.execPath, [main, ...args, ...where]).ended;
};

/** Another process writes to the log while no projector runs. */
async function appendOffline(): Promise<void> {
  const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
  const created = { time: 1_772_409_600_000, actor: "urn:li:corpuser:ada" };
  const urn = "urn:li:tag:b";
  const records = (["tagKey", "status"] as const).map((aspect) =>
    encodeChange({
      ...{ urn, entityType: "tag", aspect, changeType: "UPSERT", created },
      value: aspect === "tagKey" ? '{"name":"b"}' : '{"removed":false}',
      system: { lastObserved: created.time, runId: "r", version: "1" },
    }),
  );
  await log.append([{ stream: entityStream(urn), expected: "any", records }]);
  await log.close();
}

test("an offline verification reports records that the views lack as unknown and fails", async () => {
  await caughtUp(service);
  await service.restart(async () => {
    expect((await offline()).code).toBe(0);
    await appendOffline();
    const { code, stdout } = await offline();
    expect(code).toBe(1);
    for (const view of ["aspects", "timeseries", "graph", "search"]) {
      expect(stdout).toMatch(
        new RegExp(`^${view}: \\d+ rows, as the log says, up to position \\d+$`, "m"),
      );
      expect(stdout).toMatch(
        new RegExp(`^${view}: unknown: the view is at position \\d+ and the log ends at \\d+`, "m"),
      );
    }
  });
  // A start applies the missing records to the views.
  await caughtUp(service);
  await service.restart(async () => {
    expect((await offline()).code).toBe(0);
  });
});

test("an offline verification reports a view that it cannot read as unknown, and checks the others", async () => {
  await service.restart(async () => {
    for (const suffix of ["", "-wal", "-shm"]) {
      rmSync(join(service.directory, `graph.sqlite${suffix}`), { force: true });
    }
    writeFileSync(join(service.directory, "graph.sqlite"), "no database".repeat(1_000));
    const { code, stdout } = await offline();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^graph: unknown: /m);
    expect(stdout).toMatch(/^aspects: \d+ rows, as the log says/m);
    expect(stdout).toMatch(/^search: \d+ rows, as the log says/m);
  });
});

test("no command exits with 0 while a view of a running service is stuck", async () => {
  const file = new DatabaseSync(join(service.directory, "graph.sqlite"));
  file.exec("BEGIN IMMEDIATE");
  try {
    const owners = [{ owner: "urn:li:corpuser:ada", type: "DATAOWNER" }];
    await service.client.upsert("urn:li:tag:a", "ownership", { owners });
    const statusOf = async () => (await operatorOf(service).value("getStatus")).views.graph;
    const isStuck = async () => {
      const { stalled, error } = await statusOf();
      return stalled || error !== undefined;
    };
    await expect.poll(isStuck).toBe(true);
    for (const command of [["status"], ["jobs"], ["parked"], ["verify", "aspects"]]) {
      const { code, stdout, stderr } = await online(...command);
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stdout + stderr).toContain("graph");
    }
    for (const command of [
      ["search", "a"],
      ["get", "urn:li:tag:a"],
      ["list", "tag"],
    ]) {
      const at = ["--server", service.address];
      const { code, stderr } = await start(process.execPath, [main, ...command, ...at]).ended;
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stderr).toContain("graph");
    }
    const records = join(service.directory, "records.json");
    writeFileSync(
      records,
      JSON.stringify([proposal("urn:li:tag:b", "status", { removed: false })]),
    );
    const address = ["--server", service.address];
    const ingested = await start(process.execPath, [main, "ingest", records, ...address]).ended;
    expect(ingested.code).toBe(1);
    expect(ingested.stderr).toContain("graph");
    const { code, stdout } = await online("verify", "graph");
    expect(code).toBe(1);
    expect(stdout).toContain('view "graph" is stuck at position');
  } finally {
    file.exec("ROLLBACK");
    file.close();
  }
  await expect.poll(async () => (await online("status")).code).toBe(0);
});

test("the status of a view that was never verified is unknown", async () => {
  await using fresh = await runningService({ logLevel: "silent" });
  const where = ["--server", fresh.address, "--data", fresh.directory];
  const { code, stdout } = await start(process.execPath, [main, "status", ...where]).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^search .* unknown .*up to date$/m);
});
