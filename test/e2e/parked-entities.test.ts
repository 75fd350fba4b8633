/**
 * Parked entities can be written, deleted, truncated, dropped and rebuilt: after each step every
 * view equals the log, and after a retry the entities are found again.
 */
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { stagingPath } from "../../src/storage/sqlite/generations.ts";
import { proposal } from "../support/client.ts";
import { killableService } from "../support/killable-service.ts";
import { logHead } from "../support/log-head.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { dataset } from "../support/random-history.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

type View = keyof typeof columns;

/** The table and column of each view that a trigger checks. */
const columns = {
  aspects: { table: "aspect_value", column: "value" },
  timeseries: { table: "event", column: "value" },
  search: { table: "document", column: "json" },
};
const views = Object.keys(columns) as View[];
const noon = 1_772_409_600_000;

let running: RunningService;
/** The service that the helpers use. */
let service: Pick<RunningService, "client" | "directory">;
let act: Operator;

function use(one: typeof service): void {
  service = one;
  act = operatorOf(one);
}

beforeAll(async () => {
  running = await runningService({ logLevel: "silent" });
  use(running);
});
afterAll(() => running[Symbol.asyncDispose]());
beforeEach(() => {
  use(running);
  for (const view of views) acceptRows(view);
});

const open = (name: string, timeout = 5_000) =>
  new DatabaseSync(join(service.directory, name), { timeout });

function execute(name: string, sql: string): void {
  using file = open(name);
  file.exec(sql);
}

const dropTrigger = "DROP TRIGGER IF EXISTS poison;";
const acceptRows = (view: View) => execute(`${view}.sqlite`, dropTrigger);

/** SQL that makes a view reject the rows for which the condition holds. */
const rejectingTrigger = (view: View, condition: string): string =>
  `${dropTrigger} CREATE TRIGGER poison BEFORE INSERT ON ${columns[view].table} WHEN ${condition}
   BEGIN SELECT raise(ABORT, 'poisoned'); END`;
const rejectRows = (view: View, condition: string) =>
  execute(`${view}.sqlite`, rejectingTrigger(view, condition));

/** The condition of rows that contain a text. */
const containing = (view: View, text: string | number) =>
  `new.${columns[view].column} LIKE '%${text}%'`;

/** Holds the write lock of the view's file during `during`. */
async function holding(view: View, during: () => Promise<void>): Promise<void> {
  using file = open(`${view}.sqlite`);
  file.exec("BEGIN IMMEDIATE");
  await during();
  file.exec("ROLLBACK");
}

/** More than an empty view has. */
const bytesMin = 256 * 1024;

/**
 * Opens the staging generation of a view after it is built and before it is verified. Its readers
 * wait until the returned transaction is committed. A lock on an empty file would fail the rebuild.
 */
async function builtStaging(view: View, sql: string): Promise<DatabaseSync> {
  const name = basename(stagingPath(join(service.directory, `${view}.sqlite`)));
  for (const until = Date.now() + 30_000; Date.now() < until; await pause(1)) {
    const file = statSync(join(service.directory, name), { throwIfNoEntry: false });
    if (file === undefined || file.size < bytesMin) continue;
    // The timeout is long enough to get the lock between two reads.
    const database = open(name, 50);
    try {
      database.exec(`BEGIN EXCLUSIVE; ${sql}`);
      return database;
    } catch {
      database.close();
    }
  }
  throw new Error(`${name} was never built`);
}

const properties = (description: string) => ({ description, customProperties: {} });
const described = (urn: string, description: string) =>
  service.client.upsert(urn, "datasetProperties", properties(description));
const operated = (urn: string, at: number) =>
  service.client.upsert(urn, "operation", {
    ...{ timestampMillis: at, lastUpdatedTimestamp: at, operationType: "INSERT" },
  });
const remove = (urn: string) => service.client.call("POST", "/entities?action=delete", { urn });
const truncate = (upTo: number) =>
  act.value("truncateTimeseriesAspect", {
    ...{ entityType: "dataset", aspect: "operation", endTimeMillis: upTo, dryRun: false },
  });

/** Writes many proposals. */
async function ingest(proposals: readonly object[]): Promise<void> {
  for (let from = 0; from < proposals.length; from += 1_000) {
    const some = { proposals: proposals.slice(from, from + 1_000) };
    const { status } = await service.client.call(
      "POST",
      "/aspects?action=ingestProposalBatch",
      some,
    );
    expect(status).toBe(200);
  }
}

/** Whether a search for the input finds the entity, once the view covers the log. */
async function found(urn: string, input: string): Promise<boolean> {
  const asked = { entity: "dataset", input, start: 0, count: 50 };
  const headers = { "X-Annals-Min-Position": String(await logHead(service.client)) };
  for (;;) {
    const reply = await service.client.call("POST", "/entities?action=search", asked, headers);
    if (reply.status === 200) return reply.body.value.entities.includes(urn);
    // The view does not cover the log yet.
    expect(reply.status).toBe(503);
    await pause(20);
  }
}

/** Creates an entity with a description and an event, and waits for the search view. */
async function createFound(urn: string, description: string): Promise<void> {
  await described(urn, description);
  await operated(urn, noon);
  expect(await found(urn, description)).toBe(true);
}

/** The views in which the entity is parked. */
async function parkedIn(urn: string): Promise<readonly string[]> {
  const { parked } = await act.value("listParked", { count: 100 });
  return parked.flatMap((one: { urn: string; view: string }) =>
    one.urn === urn ? [one.view] : [],
  );
}

const parked = (urn: string, ...views: readonly View[]) =>
  expect.poll(() => parkedIn(urn)).toEqual(views);
const drop = (view: View, urn: string) => act.value("dropParked", { view, urn });
const retry = (view: View, urn: string) => act.value("retryParked", { view, urn });

async function done(id: string): Promise<void> {
  for (;;) {
    const { state, error } = await act.value("getJob", { id });
    if (state !== "running") return expect({ state, error }).toMatchObject({ state: "done" });
    await pause(20);
  }
}

async function differences(
  how: object = { full: true },
): Promise<readonly { readonly urn: string }[]> {
  await done(await act.value("verify", how));
  return (await act.value("listDifferences")).differences;
}

const check = async () => expect(await differences()).toEqual([]);
const rebuild = async () => done(await act.value("rebuildViews", { views: ["search"] }));

/** Drops parked values one by one until none is left; returns their number. */
async function dropAll(view: View, urn: string): Promise<number> {
  for (let count = 0; ; count++) {
    await check();
    if ((await parkedIn(urn)).length === 0) return count;
    expect(count).toBeLessThan(5);
    await drop(view, urn);
  }
}

async function expectRepaired(view: View, urn: string): Promise<void> {
  acceptRows(view);
  await retry(view, urn);
  await parked(urn);
  await check();
}

test("the events of an entity that is parked in timeseries are truncated", async () => {
  const urn = dataset("truncated");
  const [sound, rejected] = [noon, noon + 999];
  await described(urn, "sound");
  await operated(urn, sound);
  expect(await found(urn, `lastOperationTime:${sound}`)).toBe(true);
  rejectRows("timeseries", containing("timeseries", rejected));
  await operated(urn, rejected);
  await parked(urn, "timeseries");
  await check();
  await act.ended(await truncate(sound + 10));
  await check();
  await described(urn, "again");
  expect(await found(urn, "again")).toBe(true);
  await check();
  await rebuild();
  await check();
  expect(await found(urn, "again")).toBe(true);
  await expectRepaired("timeseries", urn);
});

test("an entity that is parked in aspects is hard-deleted", async () => {
  const urn = dataset("deleted");
  await createFound(urn, "sound");
  rejectRows("aspects", containing("aspects", "POISON"));
  await described(urn, "POISON");
  await parked(urn, "aspects");
  await check();
  await remove(urn);
  await check();
  await rebuild();
  await check();
  await expectRepaired("aspects", urn);
  expect(await found(urn, "sound")).toBe(false);
});

test("an entity that is parked in timeseries is hard-deleted and created again", async () => {
  const urn = dataset("created");
  await createFound(urn, "sound");
  rejectRows("timeseries", containing("timeseries", noon + 999));
  await operated(urn, noon + 999);
  await parked(urn, "timeseries");
  await check();
  await remove(urn);
  await check();
  await described(urn, "again");
  expect(await found(urn, "again")).toBe(true);
  await check();
  await rebuild();
  await check();
  await expectRepaired("timeseries", urn);
  expect(await found(urn, "again")).toBe(true);
});

test("a rejected document after a truncation blocks no other entity", async () => {
  const [urn, other] = [dataset("behind"), dataset("other")];
  await createFound(urn, "sound");
  rejectRows("search", containing("search", "POISON"));
  // The view then reads all of the records in one batch.
  await holding("search", async () => {
    await described(dataset("first"), "first");
    await pause(100);
    const head = await logHead(service.client);
    await truncate(noon + 1);
    // The records of the job, and of its deletions.
    await expect.poll(() => logHead(service.client)).toBeGreaterThan(head + 2);
    await described(urn, "POISON");
    await described(other, "hello");
  });
  await parked(urn, "search");
  expect(await found(other, "hello")).toBe(true);
  await check();
  expect(await found(urn, "sound")).toBe(false);
  await drop("search", urn);
  await parked(urn);
  await check();
  await described(urn, "again");
  expect(await found(urn, "again")).toBe(true);
});

test("an entity whose document the store rejects has no document until a change that it accepts", async () => {
  const urn = dataset("rejected");
  await createFound(urn, "sound");
  rejectRows("search", containing("search", "POISON"));
  await described(urn, "POISON 1");
  await parked(urn, "search");
  expect(await found(urn, "sound")).toBe(false);
  await check();
  await described(urn, "POISON 2");
  await check();
  expect(await retry("search", urn)).toMatchObject({ parked: true });
  await described(urn, "mended");
  expect(await found(urn, "mended")).toBe(true);
  await parked(urn);
  await check();
});

test("a rejected document that is dropped is omitted, also by a rebuild, until the next change", async () => {
  const urn = dataset("omitted");
  await createFound(urn, "sound");
  rejectRows("search", containing("search", "POISON"));
  await described(urn, "POISON");
  await parked(urn, "search");
  expect(await drop("search", urn)).toEqual({ parked: false });
  await check();
  await rebuild();
  await check();
  expect(await parkedIn(urn)).toEqual([]);
  expect(await found(urn, "POISON")).toBe(false);
  await operated(urn, noon + 1);
  expect(await found(urn, "POISON")).toBe(true);
  await check();
});

test("two parked events of timeseries are dropped one at a time", async () => {
  const urn = dataset("events");
  await described(urn, "sound");
  await operated(urn, noon);
  const bad = [noon + 5, noon + 6].map((at) => containing("timeseries", at));
  rejectRows("timeseries", bad.join(" OR "));
  for (const at of [5, 6, 7]) await operated(urn, noon + at);
  await parked(urn, "timeseries");
  expect(await dropAll("timeseries", urn)).toBe(2);
  expect(await found(urn, `lastOperationTime:${noon + 7}`)).toBe(true);
});

test("two parked values of aspects are dropped one at a time", async () => {
  const urn = dataset("values");
  await described(urn, "sound");
  rejectRows("aspects", containing("aspects", "POISON"));
  for (const text of ["POISON 1", "POISON 2", "good"]) await described(urn, text);
  await parked(urn, "aspects");
  expect(await dropAll("aspects", urn)).toBe(2);
  expect(await found(urn, "good")).toBe(true);
});

test("an entity that is released and parked again during a rebuild stays parked", async () => {
  const urn = dataset("again");
  const many = Array.from({ length: 4_000 }, (_, n) =>
    proposal(dataset(n), "datasetProperties", properties(`one of many, ${n}`)),
  );
  await ingest(many);
  await described(urn, "zero");
  expect(await found(urn, "zero")).toBe(true);
  rejectRows("search", containing("search", "POISON"));
  await described(urn, "POISON 1");
  await parked(urn, "search");
  const job = await act.value("rebuildViews", { views: ["search"] });
  using next = await builtStaging(
    "search",
    rejectingTrigger("search", containing("search", "POISON")),
  );
  await described(urn, "two");
  expect(await found(urn, "two")).toBe(true);
  await described(urn, "POISON 2");
  await parked(urn, "search");
  expect((await act.value("getJob", { id: job })).state).toBe("running");
  next.exec("COMMIT");
  await done(job);
  expect(await parkedIn(urn)).toEqual(["search"]);
  expect(await found(urn, "two")).toBe(false);
  await check();
});

describe("a service that is killed while a document is parked", () => {
  const killable = killableService("annals-parked");
  const begin = async () =>
    use({ directory: killable.directory, client: (await killable.start()).client });

  test("the search view has no rejected document before and after it is dropped", async () => {
    const urn = dataset("killed");
    await begin();
    await createFound(urn, "sound");
    rejectRows("search", containing("search", "POISON"));
    await described(urn, "POISON");
    await parked(urn, "search");
    for (const view of ["search", undefined] as const) {
      await killable.stop("SIGKILL");
      await begin();
      expect(await parkedIn(urn)).toEqual(view === undefined ? [] : [view]);
      expect(await found(urn, "hive")).toBe(false);
      await check();
      if (view !== undefined) await drop(view, urn);
    }
    await described(urn, "mended");
    expect(await found(urn, "mended")).toBe(true);
    await check();
  });
});
