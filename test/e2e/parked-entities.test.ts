/**
 * Entities that a view has parked go on being written, deleted, truncated, dropped and rebuilt: whatever
 * comes, each view has of them what the log says, and in the end they are found again.
 */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nextEdition } from "../../src/projector/sqlite/editions.ts";
import { proposal } from "../support/client.ts";
import { killableService } from "../support/killable-service.ts";
import { logHead } from "../support/log-head.ts";
import { type Operator, operatorOf } from "../support/operator.ts";
import { dataset } from "../support/random-history.ts";
import { type RunningService, runningService } from "../support/running-service.ts";

type View = keyof typeof columns;

/** What a view is made to refuse. */
const columns = {
  aspects: { table: "aspect_value", column: "value" },
  timeseries: { table: "event", column: "value" },
  search: { table: "document", column: "json" },
};
const views = Object.keys(columns) as View[];
const noon = 1_772_409_600_000;

let running: RunningService;
/** That the helpers ask. */
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
  for (const view of views) heal(view);
});

const open = (name: string, timeout = 5_000) =>
  new DatabaseSync(join(service.directory, name), { timeout });

function execute(name: string, sql: string): void {
  using file = open(name);
  file.exec(sql);
}

const healed = "DROP TRIGGER IF EXISTS poison;";
const heal = (view: View) => execute(`${view}.sqlite`, healed);

/** Of a view that takes no row of which this is so. */
const poisoned = (view: View, condition: string): string =>
  `${healed} CREATE TRIGGER poison BEFORE INSERT ON ${columns[view].table} WHEN ${condition}
   BEGIN SELECT raise(ABORT, 'poisoned'); END`;
const poison = (view: View, condition: string) =>
  execute(`${view}.sqlite`, poisoned(view, condition));

/** A row that tells of this. */
const tells = (view: View, text: string | number) => `new.${columns[view].column} LIKE '%${text}%'`;

/** What is to be written to the file waits for as long as `during` takes. */
async function holding(view: View, during: () => Promise<void>): Promise<void> {
  using file = open(`${view}.sqlite`);
  file.exec("BEGIN IMMEDIATE");
  await during();
  file.exec("ROLLBACK");
}

/**
 * The next edition of a view, once it is grown and before it is compared: nobody reads it before this
 * is committed.
 */
async function grown(view: View, sql: string): Promise<DatabaseSync> {
  const name = basename(nextEdition(join(service.directory, `${view}.sqlite`)));
  for (const until = Date.now() + 30_000; Date.now() < until; await pause(1)) {
    if (!existsSync(join(service.directory, name))) continue;
    // Long enough to be let in between two who read.
    const file = open(name, 50);
    try {
      file.exec(`BEGIN EXCLUSIVE; ${sql}`);
      return file;
    } catch {
      file.close();
    }
  }
  throw new Error(`${name} was never grown`);
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

/** Many at once. */
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

/** Whether the entity is found by it, once the view has all that the log has. */
async function found(urn: string, input: string): Promise<boolean> {
  const asked = { entity: "dataset", input, start: 0, count: 50 };
  const headers = { "X-Annals-Min-Position": String(await logHead(service.client)) };
  for (;;) {
    const reply = await service.client.call("POST", "/entities?action=search", asked, headers);
    if (reply.status === 200) return reply.body.value.entities.includes(urn);
    // It is not as far yet.
    expect(reply.status).toBe(503);
    await pause(20);
  }
}

/** An entity with a description and an event, which the search view has. */
async function begun(urn: string, description: string): Promise<void> {
  await described(urn, description);
  await operated(urn, noon);
  expect(await found(urn, description)).toBe(true);
}

/** The views that it is parked in. */
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

/** One by one, as many as are in the way; how many there were. */
async function dropAll(view: View, urn: string): Promise<number> {
  for (let count = 0; ; count++) {
    await check();
    if ((await parkedIn(urn)).length === 0) return count;
    expect(count).toBeLessThan(5);
    await drop(view, urn);
  }
}

async function mended(view: View, urn: string): Promise<void> {
  heal(view);
  await retry(view, urn);
  await parked(urn);
  await check();
}

test("parked in timeseries, with an event that its document does without, its events are truncated", async () => {
  const urn = dataset("truncated");
  const [sound, unseen, refused] = [noon, noon + 12_345, noon + 999];
  await described(urn, "sound");
  await operated(urn, sound);
  expect(await found(urn, `lastOperationTime:${sound}`)).toBe(true);
  poison("search", tells("search", unseen));
  await operated(urn, unseen);
  await parked(urn, "search");
  await drop("search", urn);
  await parked(urn);
  await check();
  poison("timeseries", tells("timeseries", refused));
  await operated(urn, refused);
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
  await mended("timeseries", urn);
});

test("parked in aspects it is deleted for good", async () => {
  const urn = dataset("deleted");
  await begun(urn, "sound");
  poison("aspects", tells("aspects", "POISON"));
  await described(urn, "POISON");
  await parked(urn, "aspects");
  await check();
  await remove(urn);
  await check();
  await rebuild();
  await check();
  await mended("aspects", urn);
  expect(await found(urn, "sound")).toBe(false);
});

test("parked in timeseries it is deleted for good and created once more", async () => {
  const urn = dataset("created");
  await begun(urn, "sound");
  poison("timeseries", tells("timeseries", noon + 999));
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
  await mended("timeseries", urn);
  expect(await found(urn, "again")).toBe(true);
});

test("the record that an entity begins with once more is never dropped", async () => {
  const urn = dataset("begun");
  await described(urn, "one");
  expect(await found(urn, "one")).toBe(true);
  await remove(urn);
  expect(await found(urn, "one")).toBe(false);
  poison("search", tells("search", "begun"));
  await described(urn, "two");
  await parked(urn, "search");
  expect(await drop("search", urn)).toMatchObject({ parked: true });
  await check();
  await mended("search", urn);
  await described(urn, "three");
  expect(await found(urn, "three")).toBe(true);
  await check();
});

test("a truncation with a record behind it that the view cannot take keeps nobody else", async () => {
  const [urn, other] = [dataset("behind"), dataset("other")];
  await begun(urn, "sound");
  poison("search", tells("search", "POISON"));
  // Then it is told of all of them at once.
  await holding("search", async () => {
    await described(dataset("first"), "first");
    await pause(100);
    const head = await logHead(service.client);
    await truncate(noon + 1);
    // What tells of the job, and what it does.
    await expect.poll(() => logHead(service.client)).toBeGreaterThan(head + 2);
    await described(urn, "POISON");
    await described(other, "hello");
  });
  await parked(urn, "search");
  expect(await found(other, "hello")).toBe(true);
  await check();
  await drop("search", urn);
  await parked(urn);
  await check();
  expect(await found(urn, "sound")).toBe(true);
});

test("an entity whose events before cannot be taken any more either is found once all are dropped", async () => {
  const urn = dataset("before");
  await begun(urn, "sound");
  poison("search", tells("search", "lastOperationTime"));
  await operated(urn, noon + 1);
  await parked(urn, "search");
  await described(urn, "later");
  expect(await found(urn, "sound")).toBe(true);
  // Both events.
  expect(await dropAll("search", urn)).toBe(2);
  expect(await found(urn, "later")).toBe(true);
});

test("an entity that was parked with what the view never had is found once that is dropped", async () => {
  const urn = dataset("never");
  await begun(urn, "zero");
  poison("search", tells("search", "POISON"));
  await described(urn, "POISON 1");
  await parked(urn, "search");
  await holding("timeseries", async () => {
    await operated(urn, noon + 50);
    await described(urn, "two");
    await pause(100);
    await retry("search", urn);
    await described(urn, "POISON 2");
  });
  await parked(urn, "search");
  expect(await found(urn, "hive")).toBe(false);
  expect(await dropAll("search", urn)).toBe(1);
  expect(await found(urn, "two")).toBe(true);
});

test("of an event and a record that a document cannot tell together the one that came last is dropped", async () => {
  const urn = dataset("together");
  await described(urn, "sound");
  await operated(urn, noon);
  await operated(urn, noon + 5);
  expect(await found(urn, "sound")).toBe(true);
  poison("search", `${tells("search", "BIG")} AND ${tells("search", noon + 5)}`);
  await described(urn, "BIG");
  await parked(urn, "search");
  await drop("search", urn);
  await parked(urn);
  expect(await found(urn, "sound")).toBe(true);
  expect(await found(urn, `lastOperationTime:${noon + 5}`)).toBe(true);
  await check();
});

test("of two events that timeseries cannot take one is dropped after the other", async () => {
  const urn = dataset("events");
  await described(urn, "sound");
  await operated(urn, noon);
  const bad = [noon + 5, noon + 6].map((at) => tells("timeseries", at));
  poison("timeseries", bad.join(" OR "));
  for (const at of [5, 6, 7]) await operated(urn, noon + at);
  await parked(urn, "timeseries");
  expect(await dropAll("timeseries", urn)).toBe(2);
  expect(await found(urn, `lastOperationTime:${noon + 7}`)).toBe(true);
});

test("of two values that aspects cannot take one is dropped after the other", async () => {
  const urn = dataset("values");
  await described(urn, "sound");
  poison("aspects", tells("aspects", "POISON"));
  for (const text of ["POISON 1", "POISON 2", "good"]) await described(urn, text);
  await parked(urn, "aspects");
  expect(await dropAll("aspects", urn)).toBe(2);
  expect(await found(urn, "good")).toBe(true);
});

test("damage to a document that does without a record, and to one that is parked, is found", async () => {
  const [without, aside] = [dataset("without"), dataset("aside")];
  for (const urn of [without, aside]) {
    await begun(urn, "sound");
  }
  poison("search", tells("search", noon + 12_345));
  for (const urn of [without, aside]) await operated(urn, noon + 12_345);
  for (const urn of [without, aside]) await parked(urn, "search");
  await drop("search", without);
  await check();
  for (const statement of [
    "UPDATE document SET json = replace(json, 'sound', 'soond')",
    `UPDATE document SET json = replace(json, ',"lastOperationTime":[${noon}]', '')`,
    "DELETE FROM document",
  ]) {
    // A rebuilt view is a new file: without the trigger, the repair would release the entity.
    poison("search", tells("search", noon + 12_345));
    await parked(aside, "search");
    for (const urn of [without, aside]) {
      execute("search.sqlite", `${statement} WHERE json LIKE '%${urn}%'`);
    }
    const told = await differences({ quick: true });
    expect(told.map(({ urn }) => urn)).toEqual(expect.arrayContaining([without, aside]));
    await differences({ full: true, repair: true });
    await check();
  }
  expect(await found(without, `lastOperationTime:${noon}`)).toBe(true);
});

test("released and parked again during a rebuild it is as the log says before the new parking", async () => {
  const urn = dataset("again");
  const many = Array.from({ length: 4_000 }, (_, n) =>
    proposal(dataset(n), "datasetProperties", properties(`one of many, ${n}`)),
  );
  await ingest(many);
  await described(urn, "zero");
  expect(await found(urn, "zero")).toBe(true);
  poison("search", tells("search", "POISON"));
  await described(urn, "POISON 1");
  await parked(urn, "search");
  const job = await act.value("rebuildViews", { views: ["search"] });
  using next = await grown("search", poisoned("search", tells("search", "POISON")));
  await drop("search", urn);
  await described(urn, "two");
  expect(await found(urn, "two")).toBe(true);
  await described(urn, "POISON 2");
  await parked(urn, "search");
  expect((await act.value("getJob", { id: job })).state).toBe("running");
  next.exec("COMMIT");
  await done(job);
  expect(await parkedIn(urn)).toEqual(["search"]);
  expect(await found(urn, "two")).toBe(true);
  await check();
});

describe("a service that is killed while a record is dropped", () => {
  const killable = killableService("annals-parked");
  const begin = async () =>
    use({ directory: killable.directory, client: (await killable.start()).client });

  test("has what it had", async () => {
    const urn = dataset("killed");
    await begin();
    await begun(urn, "sound");
    poison("search", tells("search", "POISON"));
    await described(urn, "POISON 0");
    await parked(urn, "search");
    await described(urn, "POISON 1");
    // Each try takes a while.
    const slow = `(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 10000000)
      SELECT count(*) FROM n) > 0`;
    poison("search", `CASE WHEN ${slow} THEN ${tells("search", "POISON")} END`);
    const dropping = drop("search", urn).then(
      () => "dropped",
      () => "cut off",
    );
    await pause(300);
    await killable.stop("SIGKILL");
    expect(await dropping).toBe("cut off");
    await begin();
    expect(await parkedIn(urn)).toEqual(["search"]);
    poison("search", tells("search", "POISON"));
    expect(await found(urn, "sound")).toBe(true);
    expect(await dropAll("search", urn)).toBe(2);
    expect(await found(urn, "sound")).toBe(true);
  });
});
