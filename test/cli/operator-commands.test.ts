/** The commands that operate a service, as processes, against a running service. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { instantOf } from "../../src/cli/commands/operations/repair.ts";
import { showStatus } from "../../src/cli/commands/operations/status.ts";
import { table } from "../../src/cli/terminal/table.ts";
import { entityStream } from "../../src/core/stream.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { proposal } from "../support/client.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { recordedOutput } from "./recorded-output.ts";
import { type Ended, start } from "./run-program.ts";

const annals = fileURLToPath(new URL("../../src/annals.mjs", import.meta.url));
const broken = "urn:li:tag:sick";
const seeds = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
let service: RunningService;

const run = (...args: string[]): Promise<Ended> => {
  const where = ["--server", service.address, "--data", service.directory];
  return start(process.execPath, [annals, ...args, ...where]).ended;
};
const json = async (...args: string[]) => JSON.parse((await run(...args, "--json")).stdout);

beforeAll(async () => {
  service = await runningService({ logLevel: "silent" });
  await service.client.upsert(broken, "tagProperties", { name: "a" });
  const profiles = [1_000, 2_000_000_000_000].map((timestampMillis) =>
    proposal(seeds, "datasetProfile", { timestampMillis, rowCount: 1 }),
  );
  await service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals: profiles });
});
afterAll(() => service[Symbol.asyncDispose]());

describe("annals status", () => {
  test("prints a table, and JSON with --json", async () => {
    const { code, stdout, stderr } = await run("status");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^annals \S+ is healthy, up for \d+ s, 0 jobs running\nlog at position /,
    );
    expect(stdout).toMatch(/^graph +\d+ +0 +0\.0 .*up to date$/m);
    const status = await json("status");
    expect(status).toMatchObject({ ok: true, views: { graph: { lagRecords: 0, generation: 1 } } });
    expect(status.log.position).toBe(status.views.search.position);
  });

  test("shows the progress and the rate of a rebuild", async () => {
    const current = await json("status");
    const rebuild = { position: 90_000, head: 120_000, recordsPerSecond: 15_432.1 };
    const status = { ...current, views: { search: { ...current.views.search, rebuild } } };
    const { printed, ...output } = recordedOutput();
    const client = { act: async <T>() => status as T };
    const code = await showStatus({ ...output, client });
    expect(code).toBe(0);
    expect(printed.join()).toMatch(/up to date; rebuilt up to 90,000 of 120,000, 15,432\/s$/);
  });

  test("requires a valid token and a service that answers", async () => {
    const file = join(service.directory, "wrong.token");
    writeFileSync(file, "none");
    const rejected = await run("status", "--token-file", file);
    expect(rejected.code).toBe(2);
    expect(rejected.stderr).toContain("--token-file");
    const nobody = ["status", "--server", "http://127.0.0.1:9", "--data", service.directory];
    const silent = await start(process.execPath, [annals, ...nobody]).ended;
    expect(silent.code).toBe(1);
    expect(silent.stderr).toContain("http://127.0.0.1:9 did not answer (");
    expect(silent.stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("annals truncate, restore and jobs", () => {
  test("a truncation is a dry run without --run, and a job with it", async () => {
    const asked = ["truncate", "dataset", "datasetprofile", "--before", "2026-01-01"];
    const dry = await run(...asked);
    expect(dry.stdout).toBe("Delete 1 out of 2 rows (50.00%).\n");
    expect(dry.stderr).toBe("nothing was deleted; --run does it\n");
    const done = await run(...asked, "--run");
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(/^state +done$/m);
    expect(done.stdout).toMatch(/^counts +total 1, .*deleted 1,/m);
    expect((await run(...asked)).stdout).toBe("Delete 0 out of 1 rows (0.00%).\n");
  });

  test("scavenging is a dry run without --run, and a job with it", async () => {
    const dry = await run("scavenge");
    expect(dry.stdout).toMatch(/^Take 1 events that were truncated out of the log, \d+ bytes\.\n$/);
    expect(dry.stderr).toBe("nothing was taken out; --run does it, for good\n");
    expect(await json("scavenge", "--run")).toMatchObject({
      ...{ kind: "scavenge", state: "done", counts: { deleted: 1 } },
    });
    expect((await run("scavenge")).stdout).toContain("Take 0 events");
  });

  test("a restore is a job that is listed, shown, and watched", async () => {
    const restored = await json("restore", "--urn", seeds);
    expect(restored).toMatchObject({ kind: "restore", state: "done" });
    expect(restored.counts.updated).toBeGreaterThan(0);
    expect(await json("jobs", "watch", restored.id)).toEqual(restored);
    expect(await json("jobs", "show", restored.id)).toEqual(restored);
    const { id } = await json("restore", "--urn-like", "%", "--no-wait");
    expect((await run("jobs", "watch", id)).code).toBe(0);
    const { stdout } = await run("jobs");
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[1]).toMatch(new RegExp(`^${id} +restore +done +\\d+ of \\d+ +20`));
    const cancelled = await run("jobs", "cancel", id);
    expect(cancelled.code).toBe(1);
    expect(cancelled.stderr).toContain("is done: it cannot be cancelled");
  });

  test.each([
    [["--urn-like", "%nowhere%"], 'no row of an entity like "%nowhere%"'],
    [["--urn", "urn:li:tag:nowhere"], 'no row of "urn:li:tag:nowhere"'],
    [["--urn", broken, "--aspect", "ownership"], `no row of "${broken}"`],
  ])("a restore with %j reports that nothing matched", async (args, message) => {
    const { code, stdout, stderr } = await run("restore", ...args);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `${message} matches: nothing was restored\n`,
    });
    expect(stdout).toMatch(/^state +done$/m);
  });

  test.each([
    [["restore"], "--urn"],
    [["truncate", "dataset", "datasetProfile"], "--before"],
    [["truncate", "dataset", "datasetProfile", "--before", "soon"], "It is a date like"],
    [["truncate", "dataset", "nothing", "--before", "2026-01-01"], "nothing"],
    [["jobs", "show", "node:99"], 'job "node:99" does not exist'],
    [["parked", "retry", "graph", "urn:li:tag:well"], "not parked"],
    [["parked", "--view", "attic"], "attic"],
  ])("%j ends with 2 and an error message", async (args, why) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(why);
  });
});

test("annals log reports where the log ends when it should start after that", async () => {
  const log = (...args: string[]) =>
    start(process.execPath, [annals, "log", "--data", service.directory, ...args]).ended;
  const { position } = (await json("status")).log;
  expect(await log("--from", String(position))).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(await log("--from", "9999999")).toMatchObject({
    ...{ code: 2, stdout: "" },
    stderr: expect.stringMatching(
      /^annals: position 9999999 is after the end of the log, which is position \d+\. .*--from\n$/,
    ),
  });
  expect((await log("--from", "9999999", "--backward", "--limit", "1")).stdout).not.toBe("");
});

describe("annals parked", () => {
  test("lists, retries and drops", async () => {
    expect(await run("parked")).toMatchObject({ code: 0, stderr: "nothing is parked\n" });
    await service.restart(async () => {
      const log = await openSqliteChangeLog({ file: join(service.directory, "log.sqlite") });
      const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
      await log.append([{ stream: entityStream(broken), expected: "any", records }]);
      await log.close();
    });
    await expect.poll(async () => (await json("parked", "--view", "graph")).total).toBe(1);
    const { stdout } = await run("parked", "--view", "graph");
    expect(stdout).toMatch(new RegExp(`^graph +${broken} +\\d+ +20\\S+ +0 +.*position \\d+`, "m"));
    const page = await (await fetch(`${service.address}/status`)).text();
    expect(page).toContain(broken);
    const still = await run("parked", "retry", "graph", broken);
    expect(still.code).toBe(1);
    expect(still.stdout).toContain("still passes over");
    const dropped = await run("parked", "drop", "graph", broken);
    expect(dropped).toMatchObject({ code: 0, stdout: `graph has ${broken} again\n` });
    expect((await json("parked", "--view", "graph")).total).toBe(0);
  });
});

test("columns are as wide as their widest cell, and numbers are aligned to the right", () => {
  expect(
    table(
      ["NAME", "COUNT", ""],
      [
        ["a", 1_234, "x"],
        ["longer", 5, ""],
      ],
    ),
  ).toBe("NAME    COUNT\na       1,234  x\nlonger      5");
});

test("a time is a date, an instant, or epoch milliseconds", () => {
  expect(instantOf("2026-01-01")).toBe(1_767_225_600_000);
  expect(instantOf("2026-01-01T00:00:00Z")).toBe(1_767_225_600_000);
  expect(instantOf("1767225600000")).toBe(1_767_225_600_000);
  expect(["soon", "2026", "2026-13-01", "1 Jan 2026"].map(instantOf)).toEqual(
    Array(4).fill(undefined),
  );
});

describe("annals rebuild", () => {
  test("runs as a job of the running service, which the command watches to its end", async () => {
    const before = (await json("status")).views.graph.generation;
    const { code, stdout, stderr } = await run("rebuild", "graph");
    expect(stderr).toMatch(/^job \S+ of the service rebuilds the views; it continues without this/);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^state +done$/m),
    });
    expect(stdout).toContain('{"views":["graph"]}');
    expect((await json("status")).views.graph.generation).toBe(before + 1);
    const unknown = await run("rebuild", "pictures");
    expect({ code: unknown.code, stdout: unknown.stdout }).toEqual({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain(
      'there is no view "pictures". The views are aspects, timeseries',
    );
  });
});
