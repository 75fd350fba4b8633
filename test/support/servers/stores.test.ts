/** The servers of the tests, checked on PostgreSQL, which starts in a second. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterEach, expect, test, vi } from "vitest";
import { excludedFiles } from "../../groups.ts";
import { ownStore, reachStore, requiredStores, selectedStores, storeTitle } from "../stores.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

test("an address from the environment has priority over one from a file, and both over a start", async () => {
  const folder = await mkdtemp(join(tmpdir(), "annals-"));
  const file = join(folder, "stores.env");
  await writeFile(file, "TEST_KAFKA=file:1\nTEST_NEO4J=bolt://file:2\n");
  vi.stubEnv("TEST_STORES_FILE", file);
  vi.stubEnv("TEST_KAFKA", "variable:1");
  vi.stubEnv("TEST_NEO4J", undefined);
  expect(await reachStore("kafka")).toEqual({ url: "variable:1", from: "environment" });
  expect(await reachStore("neo4j")).toEqual({ url: "bolt://file:2", from: "environment" });
  await rm(folder, { recursive: true });
});

test("TEST_STORES and REQUIRE_STORES accept only names of stores", () => {
  vi.stubEnv("TEST_STORES", "postgres");
  vi.stubEnv("REQUIRE_STORES", "kafka, neo4j");
  expect(requiredStores()).toEqual(["kafka", "neo4j"]);
  expect(selectedStores()).toEqual(["postgres", "kafka", "neo4j"]);
  vi.stubEnv("REQUIRE_STORES", "kafka,neo5j");
  expect(() => requiredStores()).toThrow("REQUIRE_STORES: no store neo5j");
  vi.stubEnv("REQUIRE_STORES", "");
  vi.stubEnv("TEST_STORES", "some");
  expect(() => selectedStores()).toThrow("TEST_STORES: no store some");
});

test("a store that the run does not select is skipped and not started", async () => {
  for (const name of ["TEST_STORES", "REQUIRE_STORES", "TEST_STORES_FILE", "TEST_NEO4J"]) {
    vi.stubEnv(name, undefined);
  }
  const skipped = "neither TEST_STORES nor REQUIRE_STORES names neo4j";
  expect(await reachStore("neo4j")).toEqual({ skipped });
  expect(await ownStore("neo4j")).toEqual({ skipped });
});

test("a run selects the test files of its group and the named ones", () => {
  const quick = excludedFiles({}, []);
  expect(quick).toContain("test/{kill,damage,fuzz,cluster}/**");
  const stores = excludedFiles({ REQUIRE_STORES: "kafka" }, []);
  expect(stores.length).toBeLessThan(quick.length);
  expect(stores).toContain("test/{kill,damage,fuzz,cluster}/**");
  expect(excludedFiles({ TEST_STORES: "all" }, [])).toEqual([]);
  expect(excludedFiles({}, ["run", "test/e2e/crash.test.ts"])).toEqual([]);
});

test("a required store that is unavailable is a failure with the reason", async () => {
  vi.stubEnv("TEST_EVENTSTOREDB", undefined);
  vi.stubEnv("TEST_STORES_FILE", undefined);
  // No store has this name.
  vi.stubEnv("TEST_STORES_ENDPOINT", `${process.env.TEST_STORES_ENDPOINT}nothing-`);
  vi.stubEnv("REQUIRE_STORES", "");
  expect(await reachStore("eventstoredb")).toHaveProperty("skipped");
  vi.stubEnv("REQUIRE_STORES", "all");
  await expect(reachStore("eventstoredb")).rejects.toThrow(
    "REQUIRE_STORES names eventstoredb, but there is no store nothing-eventstoredb",
  );
});

const postgres = await ownStore("postgres");

// The test needs the programs of PostgreSQL.
test.skipIf("skipped" in postgres)(
  `a killed server restarts with its data, on ${storeTitle("postgres", postgres)}`,
  async () => {
    if ("skipped" in postgres) throw new Error(postgres.skipped);
    await query(postgres.url, "create table kept as select 7 as seven");
    await postgres.kill();
    await expect(query(postgres.url, "select 1")).rejects.toThrow();
    await postgres.start();
    expect(await query(postgres.url, "select seven from kept")).toEqual([{ seven: 7 }]);
    await postgres.stop();
    await expect(query(postgres.url, "select 1")).rejects.toThrow();
  },
);

// The test needs the programs of PostgreSQL.
test.skipIf("skipped" in postgres)("servers end with the process that started them", async () => {
  const program = fileURLToPath(new URL("store-keeper-process.ts", import.meta.url));
  const keeper = fork(program, [], { execArgv: [] });
  keeper.send({ id: 1, act: "own", name: "postgres" });
  const [{ url }] = await once(keeper, "message");
  expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
  const [{ folder }] = (await query(
    url,
    "select setting as folder from pg_settings where name = 'data_directory'",
  )) as [{ folder: string }];
  expect(existsSync(folder)).toBe(true);
  keeper.disconnect();
  const [status] = await once(keeper, "exit");
  expect(status).toBe(0);
  await expect(answers(Number(new URL(url).port))).resolves.toBe(false);
  expect(existsSync(folder)).toBe(false);
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("close", () => socket.destroy());
  });
