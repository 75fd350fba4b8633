/**
 * A verification finds every difference between a view and the log, and repairs it. It reports no
 * difference for views that equal the log, also under writes.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { entityStream } from "../../src/core/stream.ts";
import { openSqliteChangeLog } from "../../src/log/sqlite/sqlite-change-log.ts";
import { start } from "../cli/run-program.ts";
import { proposal } from "../support/client.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { dataset, user, writeHistory } from "../support/random-history.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** Each job has its own thread, which yields to all other work. */
const slowly = { timeout: 120_000 };

let service: RunningService;
let operator: Operator;
beforeAll(async () => {
  service = await runningService();
  operator = operatorOf(service);
  await writeHistory(service, 300, 20);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

/** Changes a view without the service. */
function damage(view: string, statements: string): void {
  damageIn(service.directory, view, statements);
}

function damageIn(directory: string, view: string, statements: string): void {
  const database = new DatabaseSync(join(directory, `${view}.sqlite`), { timeout: 5_000 });
  database.exec(statements);
  database.close();
}

interface Ended {
  readonly state: string;
  readonly error?: string;
  readonly counts: { readonly noops: number; readonly updated: number };
}

async function ended(id: string, of: Operator = operator): Promise<Ended> {
  for (;;) {
    const job = await of.value("getJob", { id });
    if (job.state !== "running") return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until every view has applied all writes. */
async function settled(of = service): Promise<void> {
  const { position } = await of.client.upsert(user(0), "corpUserInfo", { active: true });
  const headers = { "X-Annals-Min-Position": String(position) };
  const query = { input: "*", entity: "dataset", start: 0, count: 1 };
  await of.client.call("POST", "/entities?action=search", query, headers);
  await of.client.call(
    "GET",
    `/relationships?direction=INCOMING&urn=${encodeURIComponent(user(0))}&types=List(OwnedBy)`,
    undefined,
    headers,
  );
}

/** Waits until no truncation is running: until then the number of events is undefined. */
async function truncated(): Promise<void> {
  const path = join(service.directory, "timeseries.sqlite");
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const some = database.prepare("SELECT 1 FROM truncation WHERE done = 0");
  while (some.get() !== undefined) await pause(20);
  database.close();
}

const verify = async (asked: object = {}) => ended(await operator.value("verify", asked));
const found = async (view?: string) =>
  operator.value("listDifferences", { count: 1_000, ...(view !== undefined && { view }) });

describe("views of a random history of all kinds of changes", slowly, () => {
  test("a verification finds no difference, also with the options of earlier releases or with a position", async () => {
    await settled();
    expect(await verify()).toMatchObject({ state: "done" });
    const whole = await found();
    expect(whole.differences).toEqual([]);
    expect(whole.views.map(({ view }: { view: string }) => view)).toEqual([
      ...["aspects", "timeseries", "graph", "search"],
    ]);
    let before = whole.views;
    for (const asked of [{ full: true, quick: true }, { since: before[0].position }]) {
      await writeHistory(service, 40, 20);
      await settled();
      expect(await verify(asked)).toMatchObject({ state: "done" });
      const again = await found();
      expect(again.differences).toEqual([]);
      for (const [n, { view, position }] of again.views.entries()) {
        expect(position, view).toBeGreaterThan(before[n].position);
      }
      before = again.views;
    }
  });

  test("metrics state the verified position and the number of differences", async () => {
    const { body } = await service.client.get("/metrics");
    for (const view of ["aspects", "timeseries", "graph", "search"]) {
      expect(body).toMatch(new RegExp(`annals_view_verified_position{view="${view}"} [1-9]`));
      expect(body).toContain(`annals_view_differences{view="${view}"} 0`);
    }
  });
});

/** Deletes half of the rows, at least one: positions depend on the records of jobs, and may all be odd. */
const deleteHalf = (table: string, key: string): string =>
  `DELETE FROM ${table} WHERE ${key} IN
     (SELECT ${key} FROM ${table} ORDER BY ${key} LIMIT (SELECT (count(*) + 1) / 2 FROM ${table}))`;

/** A change of a view, and the kinds of differences that a verification reports for it. */
const damages: readonly [view: string, what: string, sql: string, kinds: string[]][] = [
  ["aspects", "rows deleted", deleteHalf("aspect_value", "rowid"), ["missing"]],
  ["aspects", "values changed", "UPDATE aspect_value SET value = '{}'", ["different"]],
  ["aspects", "stamps changed", "UPDATE aspect_value SET time = time + 1", ["different"]],
  ["aspects", "removals undone", "UPDATE aspect_value SET removed = NULL", ["different"]],
  ["aspects", "entities that live no more", "UPDATE entity SET living = 0", ["different"]],
  [
    "aspects",
    "rows added",
    `INSERT INTO aspect_value SELECT entity, aspect, version + 90, position, revision, confirmed,
       removed, time, actor, system, value FROM aspect_value`,
    ["unexpected"],
  ],
  [
    "aspects",
    "an entity added that has no records",
    `INSERT INTO entity SELECT kind, 'nobody', 99999, 1, 0 FROM entity LIMIT 1;
     INSERT INTO aspect_value SELECT 99999, aspect, version, position, revision, confirmed, removed,
       time, actor, system, value FROM aspect_value LIMIT 1;
     UPDATE last_entity SET id = 99999`,
    ["unexpected"],
  ],
  ["aspects", "a table emptied", "DELETE FROM aspect_value", ["missing"]],
  ["aspects", "everything gone", "DELETE FROM aspect_value; DELETE FROM entity", ["missing"]],
  ["timeseries", "rows deleted", deleteHalf("event", "rowid"), ["missing"]],
  ["timeseries", "rows changed", "UPDATE event SET value = '{}'", ["different"]],
  [
    "timeseries",
    "rows with later positions",
    `UPDATE event SET position = -1 - position; UPDATE event SET position = -position;
     UPDATE place SET position = position + 1`,
    ["different"],
  ],
  ["timeseries", "rows moved", "UPDATE event SET time = time + 0.5", ["missing"]],
  [
    "timeseries",
    "rows added",
    `INSERT INTO event SELECT position + 99999, series, time + 1, key, system, value FROM event;
     INSERT INTO place SELECT series, time + 1, key, position + 99999 FROM place`,
    ["unexpected"],
  ],
  [
    "timeseries",
    "a series added that has no records",
    `INSERT INTO series (urn, aspect) VALUES ('urn:li:dataset:nobody', 'datasetProfile');
     INSERT INTO event SELECT 99999, (SELECT max(id) FROM series), time, key, system, value
     FROM event LIMIT 1;
     INSERT INTO place SELECT series, time, key, position FROM event WHERE position = 99999`,
    ["unexpected"],
  ],
  ["timeseries", "places deleted", deleteHalf("place", "position"), ["missing"]],
  ["timeseries", "places moved", "UPDATE place SET time = time + 0.5", ["missing"]],
  ["timeseries", "a table of places emptied", "DELETE FROM place", ["missing"]],
  ["timeseries", "a table emptied", "DELETE FROM event", ["missing"]],
  ["graph", "rows deleted", deleteHalf("edge", "position"), ["missing"]],
  ["graph", "rows changed", "UPDATE edge SET created_on = 7", ["different"]],
  ["graph", "no edge leads", "UPDATE edge SET leads = 0", ["different"]],
  [
    "graph",
    "rows added",
    `INSERT INTO edge SELECT source, type, destination, entity, (SELECT max(id) FROM name),
       position + 1, ordinal, 0, source_kind, destination_kind, path, via, created_on, created_actor,
       updated_on, updated_actor, properties FROM edge`,
    ["unexpected"],
  ],
  [
    "graph",
    "edges of an entity that has no records",
    `INSERT INTO node (kind, rest) SELECT kind, 'nobody' FROM node LIMIT 1;
     INSERT INTO edge SELECT source, type, destination, (SELECT max(id) FROM node), aspect,
       position + 1, ordinal, 0, source_kind, destination_kind, path, via, created_on, created_actor,
       updated_on, updated_actor, properties FROM edge LIMIT 1`,
    ["unexpected"],
  ],
  ["graph", "a table emptied", "DELETE FROM edge", ["missing"]],
  ["search", "documents deleted", deleteHalf("document", "id"), ["missing"]],
  [
    "search",
    "documents changed",
    "UPDATE document SET json = '[\"dataset\",{},[]]'",
    ["different"],
  ],
  [
    "search",
    "documents deleted from the index",
    "INSERT INTO tombstone (id, urn, turn) SELECT id, urn, 1 FROM document ORDER BY id LIMIT 5",
    ["different"],
  ],
  ["search", "out of all answers", "UPDATE document SET hash = hash + 1", ["missing"]],
  [
    "search",
    "a document of an unknown entity",
    `INSERT INTO document (hash, urn, json)
     SELECT ${crc32("urn:li:dataset:nobody")}, 'urn:li:dataset:nobody', json
     FROM document LIMIT 1`,
    ["unexpected"],
  ],
  ["search", "a table emptied", "DELETE FROM document", ["missing"]],
  ["search", "the index emptied", "DELETE FROM segment", ["different"]],
];

const viewNames = ["aspects", "timeseries", "graph", "search"];

/** One damage of each view per round; damages of rows come first. */
const rounds = Array.from({ length: damages.length }, (_, round) =>
  viewNames.flatMap((name) => {
    const own = damages.filter(([view]) => view === name);
    const ofRows = (one: (typeof damages)[number]) => one[1].startsWith("rows");
    return [...own.filter(ofRows), ...own.filter((one) => !ofRows(one))].slice(round, round + 1);
  }),
).filter(({ length }) => length > 0);

describe("damaged views", slowly, () => {
  beforeEach(async () => {
    await settled();
    await truncated();
  });

  test.each(
    rounds.map((round) => ({
      round,
      what: round.map(([view, what]) => `${view}: ${what}`).join("; "),
    })),
  )("a verification finds and repairs: $what", async ({ round }) => {
    for (const [view, , sql] of round) damage(view, sql);
    const damaged = round.map(([view]) => view);
    expect(await verify()).toMatchObject({ state: "done" });
    const damagedViews = new Set(
      (await found()).differences.map((one: { view: string }) => one.view),
    );
    expect([...damagedViews].sort()).toEqual(damaged.toSorted());
    for (const [view, , , kinds] of round) {
      const { differences } = await found(view);
      const foundKinds = new Set(differences.map((one: { kind: string }) => one.kind));
      for (const kind of kinds) expect(foundKinds, JSON.stringify(differences[0])).toContain(kind);
    }
    expect(await verify({ repair: true })).toMatchObject({ state: "done" });
    expect(await found()).toMatchObject({ total: 0, differences: [] });
  });

  test("a verification since a position compares only entities with later records", async () => {
    const [{ position }] = (await found()).views;
    damage("graph", deleteHalf("edge", "position"));
    await verify({ since: position });
    expect((await found("graph")).total).toBe(0);
    await verify({ since: 0 });
    expect((await found("graph")).total).toBeGreaterThan(0);
    await verify({ repair: true });
    expect((await found("graph")).total).toBe(0);
  });

  test("all repaired views equal rebuilt views", async () => {
    expect(await verify()).toMatchObject({ state: "done" });
    expect(await found()).toMatchObject({ total: 0, differences: [] });
    await service.restart(async () => {
      expect((await differencesFromRebuild(service.directory)).differences).toEqual([]);
    });
    operator = operatorOf(service);
  });
});

test("a verification under writes reports no differences", async () => {
  let writing = true;
  const writers = [0, 1, 2].map(async () => {
    while (writing) {
      await writeHistory(service, 10, 12);
      await pause(50);
    }
  });
  try {
    for (let n = 0; n < 6; n++) {
      const job = await verify();
      expect(job).toMatchObject({ state: "done" });
      expect((await found()).differences).toEqual([]);
    }
  } finally {
    writing = false;
    await Promise.all(writers);
  }
});

test("parked records are no differences, before and after they are dropped", async () => {
  await using parked = await runningService({ logLevel: "silent" });
  const check = async () => {
    const id = await operatorOf(parked).value("verify", {});
    expect(await ended(id, operatorOf(parked))).toMatchObject({ state: "done" });
    expect(await operatorOf(parked).value("listDifferences")).toMatchObject({ differences: [] });
  };
  const [rejected, accepted] = [dataset("sick"), dataset("well")];
  for (const urn of [rejected, accepted])
    await parked.client.upsert(urn, "status", { removed: false });
  // A record in a format that no release has written.
  await parked.restart(async () => {
    const log = await openSqliteChangeLog({ file: join(parked.directory, "log.sqlite") });
    const records = [new Uint8Array([0xc3, 1, 9, 9, 9, 9, 9, 9, 9, 9, 0])];
    await log.append([{ stream: entityStream(rejected), expected: "any", records }]);
    await log.close();
  });
  await parked.client.upsert(accepted, "status", { removed: true });
  const act = operatorOf(parked);
  const count = async () => (await act.value("listParked")).total;
  await expect.poll(count).toBe(4);
  await check();
  for (const view of ["aspects", "timeseries", "graph", "search"]) {
    await act.value("dropParked", { view, urn: rejected });
    await check();
  }
  expect((await parked.client.upsert(rejected, "status", { removed: true })).status).toBe(200);
  await check();
});

test("the command finds, lists and repairs differences, and its exit code states whether any are left", async () => {
  await using other = await runningService();
  await writeHistory(other, 60, 8);
  await settled(other);
  await other.restart(async () => {
    const run = (...more: string[]) =>
      start(process.execPath, [main, "verify", "--data", other.directory, ...more]).ended;
    const clean = await run();
    expect(clean).toMatchObject({ code: 0, stdout: expect.stringContaining("as the log says") });
    damageIn(other.directory, "graph", "DELETE FROM edge");
    damageIn(other.directory, "aspects", "UPDATE aspect_value SET value = '{}'");
    const found = await run();
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/graph: \d+ differences/);
    expect(found.stdout).toMatch(/ {2}missing urn:li:dataset:.* \(should be: /);
    expect((await run("search")).code).toBe(0);
    expect((await run("--repair")).code).toBe(0);
    expect((await run()).code).toBe(0);
    // The names of edges and a count are not in the rows of an entity.
    damageIn(other.directory, "graph", "DELETE FROM node");
    damageIn(other.directory, "aspects", "UPDATE entity_kind SET living = living + 5");
    const repaired = await run("--repair");
    expect(repaired).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("rebuilt from the log"),
    });
    expect((await differencesFromRebuild(other.directory)).differences).toEqual([]);
    expect((await run("cellar")).code).toBe(2);
  });
});

test("the command also verifies a running service", async () => {
  const run = (...more: string[]) =>
    start(process.execPath, [
      ...[main, "verify", "--server", service.address, "--data", service.directory, ...more],
    ]).ended;
  await settled();
  damage("graph", "DELETE FROM edge");
  const found = await run("graph");
  expect(found.code, found.stderr).toBe(1);
  expect(found.stdout).toMatch(/graph: \d+ differences/);
  expect((await run("--repair")).code).toBe(0);
  expect((await run()).stdout).toContain("as the log says");
});

test("after a rebuild, health no longer reports the differences found before it", async () => {
  await using other = await runningService({ logLevel: "silent" });
  const act = operatorOf(other);
  const owners = [{ owner: user(0), type: "DATAOWNER" }];
  await other.client.upsert(dataset("owned"), "ownership", { owners });
  const health = async () => (await other.client.get("/health")).body;
  const differs = { views: { graph: { differences: expect.any(Number) } } };
  const damaged = async (): Promise<void> => {
    await settled(other);
    damageIn(other.directory, "graph", "DELETE FROM edge");
    await ended(await act.value("verify"), act);
    expect(await health()).toMatchObject(differs);
  };
  await damaged();
  await ended(await act.value("rebuildViews", { views: ["graph"] }), act);
  expect(await health()).toEqual({});
  await damaged();
  await other.restart(async () => {
    const command = [main, "rebuild", "graph", "--data", other.directory];
    expect((await start(process.execPath, command).ended).code).toBe(0);
  });
  expect(await health()).toEqual({});
});

test("a verification rejects unknown views, and only one runs at a time", async () => {
  expect(await operator.act("verify", { views: ["cellar"] })).toMatchObject({ status: 422 });
  expect(await operator.act("listDifferences", { view: "cellar" })).toMatchObject({ status: 422 });
  const first = await operator.value("verify", {});
  const second = await operator.value("verify", {});
  expect(await ended(second)).toMatchObject({ state: "done" });
  const job = (id: string) => operator.value("getJob", { id });
  expect((await job(first)).ended).toBeLessThanOrEqual((await job(second)).ended);
  expect(existsSync(join(service.directory, "verify.sqlite"))).toBe(true);
});

test("a batch of proposals for many entities is verified without differences", async () => {
  const proposals = Array.from({ length: 500 }, (_, n) =>
    proposal(dataset(`many${n}`), "status", { removed: false }),
  );
  await service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
  await settled();
  expect((await verify()).counts.noops).toBeGreaterThan(500);
  expect(await found()).toMatchObject({ total: 0 });
});

test("a document that the store rejects is no difference, and a rebuild stores it", async () => {
  await using service = await runningService({ logLevel: "silent" });
  const act = operatorOf(service);
  const check = async () => {
    const job = await ended(await act.value("verify"), act);
    expect(job).toMatchObject({ state: "done" });
    expect((await act.value("listDifferences")).differences).toEqual([]);
  };
  for (const name of ["a", "b"])
    await service.client.upsert(dataset(name), "status", { removed: false });
  await check();
  const file = new DatabaseSync(join(service.directory, "search.sqlite"), { timeout: 5_000 });
  file.exec(`CREATE TRIGGER poison BEFORE INSERT ON document WHEN new.json LIKE '%POISON%'
    BEGIN SELECT raise(ABORT, 'poisoned'); END`);
  file.close();
  const properties = { name: "POISON", customProperties: {} };
  await service.client.upsert(dataset("sick"), "datasetProperties", properties);
  const count = async () => (await act.value("listParked")).total;
  await expect.poll(count).toBe(1);
  await check();
  const rebuilt = await ended(await act.value("rebuildViews", { views: ["search"] }), act);
  expect(rebuilt).toMatchObject({ state: "done" });
  // The rebuilt view has no trigger.
  expect(await count()).toBe(0);
  await check();
});
