/**
 * Damaged files: a start that cannot succeed ends with an error, and /health names views that
 * cannot be read.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openService } from "../../src/app/service.ts";
import { uncleanViews } from "../../src/app/verification/unclean-views.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLogger, type Logger } from "../../src/telemetry/logger.ts";
import { caughtUp } from "../support/caught-up.ts";
import { createClient, proposal } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { startService } from "../support/service-process.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const open = (directory: string, logger: Logger = createLogger("silent")) =>
  openService(
    readConfig({ port: "0", data: directory, logLevel: "silent", builtInEntities: "off" }, {}),
    { logger },
  );

const table = "urn:li:dataset:(urn:li:dataPlatform:hive,seeds,PROD)";
const profile = (n: number) =>
  proposal(table, "datasetProfile", { timestampMillis: n, rowCount: n });

/** The data directory that each test copies. */
const filled = temporaryDirectory("annals-filled");
const fill = (directory: string): void => cpSync(filled.path, directory, { recursive: true });

beforeAll(async () => {
  const directory = filled.path;
  const service = await open(directory);
  const client = createClient(service.address());
  await client.upsert(table, "globalTags", { tags: [{ tag: "urn:li:tag:t7" }] });
  for (let n = 0; n < 200; n++) {
    await client.upsert(`urn:li:tag:t${n}`, "tagProperties", { name: `mark ${n} `.padEnd(200) });
  }
  const proposals = Array.from({ length: 20 }, (_, n) => profile(n));
  await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
  // The views store the name of the last record that they cover; no test changes that name.
  await client.upsert("urn:li:tag:t99", "status", { removed: false });
  await caughtUp({ client, directory });
  await service.close();
  // All writes are in the database files, and the write-ahead logs are empty.
  const logs = readdirSync(directory).filter((name) => name.endsWith("-wal"));
  expect(logs.filter((name) => statSync(join(directory, name)).size > 0)).toEqual([]);
});
afterAll(() => filled[Symbol.dispose]());

const read = (client: ReturnType<typeof createClient>) =>
  client.call("POST", "/aspects?action=getTimeseriesAspectValues", {
    ...{ urn: table, entity: "dataset", aspect: "datasetProfile" },
  });

/** Overwrites the page at an offset of the file. */
function damage(file: string, place: (content: Buffer) => number): void {
  const content = readFileSync(file);
  const size = content.readUInt16BE(16);
  const start = Math.floor(place(content) / size) * size;
  content.fill(0xff, start, start + size);
  writeFileSync(file, content);
}

const rootOf = (file: string, name: string): number => {
  const database = new DatabaseSync(file, { readOnly: true });
  const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name);
  const size = database.prepare("PRAGMA page_size").get();
  database.close();
  return (Number(page?.rootpage) - 1) * Number(size?.page_size);
};

test("a start that builds the views from a damaged log ends with an error that names the damage", async () => {
  using directory = temporaryDirectory("annals-damaged");
  fill(directory.path);
  for (const view of ["aspects", "timeseries", "graph", "search"]) {
    rmSync(join(directory.path, `${view}.sqlite`), { force: true });
  }
  damage(join(directory.path, "log.sqlite"), (content) => content.indexOf("mark 100 "));
  const started = performance.now();
  await expect(open(directory.path)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/the view "aspects" does not reach .*log is damaged/),
  });
  expect(performance.now() - started).toBeLessThan(60_000);
});

test.each([
  ["with an overwritten first page", (content: Buffer) => content.fill(0x41, 0, 4_096)],
  ["with an empty first page", (content: Buffer) => content.fill(0, 0, 4_096)],
  ["that is cut off", (content: Buffer) => content.subarray(0, 8_192)],
])("a log %s ends the start with an error that names the fix", async (_, damagedContent) => {
  using directory = temporaryDirectory("annals-damaged");
  fill(directory.path);
  const file = join(directory.path, "log.sqlite");
  writeFileSync(file, damagedContent(readFileSync(file)));
  await expect(open(directory.path)).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringMatching(/^the log ".*log\.sqlite" is damaged: /),
    hint: "Restore the log from a backup (docs/backup.md)",
  });
});

const garbage = (file: string) => writeFileSync(file, "no database at all\n".repeat(1_000));
const firstTable = (table: string) => (file: string) => {
  const root = rootOf(file, table);
  damage(file, () => root);
};

const emptied = (table: string) => (file: string) => {
  const database = new DatabaseSync(file);
  database.exec(`DELETE FROM "${table}"; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
};

const without = (index: string) => (file: string) => {
  const database = new DatabaseSync(file);
  database.exec(`DROP INDEX "${index}"; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
};

test.each([
  ["graph", "without an index", without("edge_out")],
  ["search", "without an index", without("document_hash")],
  ["graph", "without its description row", emptied("view")],
  ["search", "without its description row", emptied("view")],
  ["aspects", "garbage", garbage],
  ["aspects", "a broken table", firstTable("entity")],
  ["timeseries", "a broken table", firstTable("event")],
  ["graph", "garbage", garbage],
  ["search", "garbage", garbage],
] as const)(
  "a file of the view %s that is %s is set aside, and the view is rebuilt",
  {
    timeout: 60_000,
  },
  async (view, _, spoil) => {
    using directory = temporaryDirectory("annals-damaged");
    fill(directory.path);
    const file = join(directory.path, `${view}.sqlite`);
    spoil(file);
    const damagedContent = readFileSync(file);
    const logger = createLogger("silent");
    const warn = vi.spyOn(logger, "warn");
    const service = await open(directory.path, logger);
    try {
      expect(warn).toHaveBeenCalledWith(
        { view },
        "view could not be read; its file is renamed to .damaged, and it is built again",
      );
      expect(readFileSync(`${file}.damaged`).equals(damagedContent)).toBe(true);
      const client = createClient(service.address());
      const search = { entity: "tag", input: "mark", start: 0, count: 1 };
      await expect
        .poll(async () => (await client.call("POST", "/entities?action=search", search)).body)
        .toMatchObject({ value: { numEntities: 200 } });
      expect((await client.get("/entitiesV2/urn%3Ali%3Atag%3At7")).status).toBe(200);
      expect(await read(client)).toMatchObject({ status: 200 });
      const { body } = await client.get("/metrics");
      expect(String(body)).toContain(`annals_view_emptied_total{view="${view}"} 1`);
      expect((await client.get("/health")).status).toBe(200);
    } finally {
      await service.close();
    }
    const again = await open(directory.path);
    expect(existsSync(file)).toBe(true);
    await again.close();
  },
);

/** Replaces a text in a file that other processes have open. The pages stay valid pages. */
const otherText = (needle: string, by: string) => (file: string) => {
  const script = `const fs = require("node:fs");
    const [path, needle, by] = process.argv.slice(1);
    const content = fs.readFileSync(path);
    const file = fs.openSync(path, "r+");
    let count = 0;
    for (let at = content.indexOf(needle); at >= 0; at = content.indexOf(needle, at + 1)) {
      fs.writeSync(file, by, at);
      count++;
    }
    console.log(count);`;
  const count = execFileSync(process.execPath, ["-e", script, file, needle, by]);
  expect(Number(count)).toBeGreaterThan(0);
};

const changes = [
  ["aspects", "a value", otherText('"mark 7 ', '"mork 7 ')],
  ["aspects", "who wrote", otherText("corpuser:__datahub_system", "corpuser:__datahub_sustem")],
  ["aspects", "the key of an entity", otherText("t7", "t~")],
  ["timeseries", "an event", otherText('"rowCount":7', '"rowCount":8')],
  ["graph", "an entity", otherText("hive,seeds", "hive,seads")],
  ["search", "a document", otherText("mark 7 ", "mork 7 ")],
] as const;

type Answer = Awaited<ReturnType<ReturnType<typeof createClient>["get"]>>;

/**
 * Queries each view. With `unavailable: "perhaps"` a 503 is accepted; any other response must be
 * right.
 */
async function askAll(
  client: ReturnType<typeof createClient>,
  unavailable: "never" | "perhaps",
): Promise<boolean> {
  let rejected = false;
  const check = (answer: Answer, right: (body: Answer["body"]) => void): void => {
    if (unavailable === "perhaps" && answer.status === 503) {
      rejected = true;
      return;
    }
    expect(answer.status).toBe(200);
    right(answer.body);
  };
  for (let n = 0; n < 20; n++) {
    check(await client.get(`/entitiesV2/urn%3Ali%3Atag%3At${n}`), (body) =>
      expect(body.aspects.tagProperties).toMatchObject({
        value: { name: `mark ${n} `.padEnd(200) },
        created: { actor: "urn:li:corpuser:__datahub_system" },
      }),
    );
  }
  check(await read(client), (body) => {
    const values = body.value.values.map(
      (event: { aspect: { value: string } }) => event.aspect.value,
    );
    expect(values).toEqual(
      Array.from({ length: 20 }, (_, n) => expect.stringContaining(`"rowCount":${19 - n}`)),
    );
  });
  const query = "direction=INCOMING&urn=urn%3Ali%3Atag%3At7&types=TaggedWith";
  check(await client.get(`/relationships?${query}`), (body) =>
    expect(body).toMatchObject({ entities: [table], total: 1 }),
  );
  const search = { entity: "tag", input: '"mark 7"', start: 0, count: 1 };
  check(await client.call("POST", "/entities?action=search", search), (body) =>
    expect(body).toMatchObject({ value: { numEntities: 1 } }),
  );
  return rejected;
}

test.each(changes)(
  "a verification finds and repairs a file of the view %s in which %s is changed",
  {
    timeout: 300_000,
  },
  async (view, _, change) => {
    using directory = temporaryDirectory("annals-damaged");
    fill(directory.path);
    change(join(directory.path, `${view}.sqlite`));
    const service = await open(directory.path);
    try {
      const client = createClient(service.address());
      const operator = operatorOf({ client, directory: directory.path });
      const verified = async (how: object) => {
        const id = await operator.value("verify", how);
        await expect
          .poll(async () => (await operator.value("getJob", { id })).state, { timeout: 120_000 })
          .toBe("done");
        return (await operator.value("listDifferences", { count: 100 })).differences;
      };
      expect(await verified({})).toContainEqual(expect.objectContaining({ view }));
      expect(await verified({ repair: true })).toEqual([]);
      await askAll(client, "never");
    } finally {
      await service.close();
    }
  },
);

test("a view that fails the integrity check after a kill is rebuilt while the service runs", async () => {
  using directory = temporaryDirectory("annals-damaged");
  fill(directory.path);
  await using service = await startService(directory.path);
  const client = createClient(service.address);
  await client.upsert("urn:li:tag:new", "tagProperties", { name: "numbat" });
  const file = join(directory.path, `aspects.sqlite`);
  await expect.poll(() => statSync(`${file}-wal`).size).toBeGreaterThan(0);
  await service.stop("SIGKILL");
  // A start does not read this page.
  damage(file, (content) => content.lastIndexOf('"mark 150 '));
  const logger = createLogger("silent");
  const warn = vi.spyOn(logger, "warn");
  const again = await open(directory.path, logger);
  try {
    const client = createClient(again.address());
    await expect
      .poll(() => warn.mock.calls)
      .toContainEqual([
        { view: "aspects", finding: expect.any(String) },
        "the view failed SQLite's integrity check; it is rebuilt",
      ]);
    await expect.poll(async () => (await client.get("/health")).status).toBe(200);
    await askAll(client, "never");
  } finally {
    await again.close();
  }
});

test("a start after a clean stop runs no integrity check", async () => {
  using directory = temporaryDirectory("annals-clean");
  fill(directory.path);
  expect(uncleanViews(readConfig({ data: directory.path }, {}))).toEqual([]);
});

test("/health names a view that cannot be read", async () => {
  using directory = temporaryDirectory("annals-damaged");
  fill(directory.path);
  const file = join(directory.path, "timeseries.sqlite");
  const index = rootOf(file, "sqlite_autoindex_series_1");
  damage(file, () => index);
  const service = await open(directory.path);
  try {
    const client = createClient(service.address());
    expect(await read(client)).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining("rebuild timeseries") },
    });
    expect(await client.get("/health")).toMatchObject({
      status: 503,
      body: {
        message: expect.stringMatching(/view "timeseries": .*malformed.*rebuild timeseries/),
      },
    });
    // The other views answer as before.
    expect((await client.get("/entitiesV2/urn%3Ali%3Atag%3At7")).status).toBe(200);
    expect((await client.get("/health")).status).toBe(503);
  } finally {
    await service.close();
  }
});

test("views of an older release are rebuilt, or with --on-model-change refuse named in an error", async () => {
  using directory = temporaryDirectory("annals-older");
  fill(directory.path);
  for (const view of ["aspects", "timeseries", "graph", "search"]) {
    const database = new DatabaseSync(join(directory.path, `${view}.sqlite`));
    database.exec("PRAGMA user_version = 0; DROP TABLE IF EXISTS event; DROP TABLE IF EXISTS edge");
    database.close();
  }
  const flags = { port: "0", data: directory.path, onModelChange: "refuse" } as const;
  const logger = createLogger("silent");
  await expect(openService(readConfig(flags, {}), { logger })).rejects.toMatchObject({
    message: expect.stringMatching(/the view "\w+" was built by an older release/),
    hint: expect.stringMatching(/annals -- rebuild \w+/),
  });
  const service = await open(directory.path);
  try {
    const client = createClient(service.address());
    expect((await client.get("/entitiesV2/urn%3Ali%3Atag%3At7")).status).toBe(200);
    await expect
      .poll(async () => (await read(client)).body)
      .toMatchObject({ value: { values: { length: 20 } } });
    const search = { entity: "tag", input: "mark", start: 0, count: 1 };
    await expect
      .poll(async () => (await client.call("POST", "/entities?action=search", search)).body)
      .toMatchObject({ value: { numEntities: 200 } });
  } finally {
    await service.close();
  }
});

/** Overwrites the second half of the pages; a start reads only the first ones. */
function damageSecondHalf(file: string): void {
  const content = readFileSync(file);
  const size = content.readUInt16BE(16);
  content.fill(0xff, Math.floor(content.length / size / 2) * size);
  writeFileSync(file, content);
}

test("rebuildViews rebuilds an unreadable aspect view while the service runs", async () => {
  using directory = temporaryDirectory("annals-damaged");
  fill(directory.path);
  const file = join(directory.path, "aspects.sqlite");
  damageSecondHalf(file);
  const service = await open(directory.path);
  try {
    const token = readFileSync(join(directory.path, "operator.token"), "utf8").trim();
    const client = createClient(service.address());
    const act = async (action: string, asked: object) => {
      const headers = { Authorization: `Bearer ${token}` };
      const path = `/operations?action=${action}`;
      const reply = await client.call("POST", path, asked, headers);
      expect(reply).toMatchObject({ status: 200 });
      return reply.body.value;
    };
    const reads = await Promise.all(
      Array.from({ length: 200 }, (_, n) => client.get(`/entitiesV2/urn%3Ali%3Atag%3At${n}`)),
    );
    expect(reads.map(({ status }) => status)).toContain(503);
    const id = await act("rebuildViews", { views: ["aspects"] });
    await expect.poll(() => act("getJob", { id })).toMatchObject({ state: "done" });
    for (let n = 0; n < 200; n += 20) {
      expect((await client.get(`/entitiesV2/urn%3Ali%3Atag%3At${n}`)).body).toMatchObject({
        aspects: { tagProperties: { value: { name: `mark ${n} `.padEnd(200) } } },
      });
    }
  } finally {
    await service.close();
  }
});
