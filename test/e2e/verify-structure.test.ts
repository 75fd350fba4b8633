/**
 * Damage outside the rows of entities: in tables of names and numbers, in structures that stores
 * keep beside the rows, and in pages of files. A verification finds each, and a rebuild repairs all
 * of them: by hand, and by the repair of a running service or of the command.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rebuild } from "../../src/app/offline/offline-rebuild.ts";
import { openLogReader } from "../../src/app/open-log.ts";
import { type ViewName, viewNames } from "../../src/app/store-locations.ts";
import { storesConfig } from "../../src/app/stores.ts";
import { verifyStoredViews } from "../../src/app/verification/verified-views.ts";
import { viewRules } from "../../src/app/view-rules.ts";
import { readConfig } from "../../src/config/config.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { start } from "../cli/run-program.ts";
import { proposal } from "../support/client.ts";
import { operatorOf } from "../support/operator.ts";
import { writeHistory } from "../support/random-history.ts";
import { differencesFromRebuild } from "../support/rebuilt-views.ts";
import { type RunningService, runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const filled = temporaryDirectory("annals-filled");
const rules = viewRules(loadModel());

beforeAll(async () => {
  await using service = await runningService();
  await writeHistory(service, 200, 15);
  // So many entities that the index has many pages.
  const proposals = Array.from({ length: 1_500 }, (_, n) =>
    proposal(`urn:li:tag:t${n}`, "tagProperties", {
      name: `mark ${n}`,
      description: `word${n} word${n * 7} word${n * 31} `.repeat(4),
    }),
  );
  for (const end of ["\u{ff21}", "\u{1f420}"]) {
    proposals.push(proposal(`urn:li:tag:${end}`, "tagProperties", { name: "wide" }));
  }
  await service.client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
  const { position } = await service.client.upsert("urn:li:tag:last", "status", { removed: false });
  const asked = { input: "*", entity: "tag", start: 0, count: 1 };
  const headers = { "X-Annals-Min-Position": String(position) };
  await service.client.call("POST", "/entities?action=search", asked, headers);
  await service.restart(async () => {
    cpSync(service.directory, filled.path, { recursive: true });
  });
});
afterAll(() => filled[Symbol.dispose]());

async function copied(use: (directory: string) => Promise<void>): Promise<void> {
  using copy = temporaryDirectory("annals-damaged");
  cpSync(filled.path, copy.path, { recursive: true });
  await use(copy.path);
}

/** The number of differences that a full verification finds in a view. */
async function found(directory: string, view: ViewName): Promise<number> {
  const config = readConfig({ data: directory }, {});
  const log = await openLogReader(config);
  const stores = await storesConfig(config, rules, log);
  await log.close();
  const { views } = await verifyStoredViews(stores, { views: [view] });
  return views.reduce((sum, { count }) => sum + count, 0);
}

async function rebuilt(directory: string, views: readonly ViewName[]): Promise<void> {
  const config = readConfig({ data: directory }, {});
  await rebuild(config, { views, onProgress: () => {}, logger: createLogger("silent") });
  for (const view of views) expect(await found(directory, view)).toBe(0);
}

const damages: readonly (readonly [view: ViewName, what: string, sql: string])[] = [
  ["search", "the checksum of a segment changed", "UPDATE segment SET sum = sum + 1"],
  [
    "search",
    "the directory of a segment changed",
    "UPDATE segment SET directory = replace(directory, 'name', 'nome')",
  ],
  ["search", "a segment gone", "DELETE FROM segment WHERE id = (SELECT max(id) FROM segment)"],
  ["search", "chunks gone", "DELETE FROM chunk"],
  ["search", "the bytes of a chunk changed", "UPDATE chunk SET bytes = zeroblob(length(bytes))"],
  ["search", "the checksum of a chunk changed", "UPDATE chunk SET sum = sum + 1"],
  [
    "search",
    "a live document marked as deleted in the index",
    "INSERT INTO tombstone (id, urn, turn) SELECT id, urn, 1 FROM document LIMIT 1",
  ],
  ["search", "the last ids changed", "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'document'"],
  [
    "search",
    "a document with a wrong hash",
    "UPDATE document SET hash = hash + 1 WHERE id = (SELECT min(id) FROM document)",
  ],
  [
    "aspects",
    "a wrong entity type",
    "UPDATE entity_kind SET type = 'corpuser' WHERE prefix = 'urn:li:tag:'",
  ],
  ["aspects", "a type gone", "UPDATE entity_kind SET type = NULL WHERE prefix = 'urn:li:tag:'"],
  ["aspects", "counts changed", "UPDATE entity_kind SET living = living + 1"],
  ["graph", "names gone", "DELETE FROM node"],
  ["graph", "kinds of sources changed", "UPDATE edge SET source_kind = source_kind + 1"],
  [
    "graph",
    "edges with a wrong destination kind",
    "UPDATE edge SET destination_kind = destination_kind + 1",
  ],
  ["graph", "kinds made the same", "UPDATE edge SET source_kind = 1, destination_kind = 1"],
  ["aspects", "a position beyond the log", "UPDATE view SET position = position + 100000"],
  ["timeseries", "a position beyond the log", "UPDATE view SET position = position + 100000"],
  ["graph", "a position beyond the log", "UPDATE view SET position = position + 100000"],
  ["search", "a position beyond the log", "UPDATE view SET position = position + 100000"],
  ["search", "an index gone", "DROP INDEX tombstone_turn"],
  ["graph", "an index gone", "DROP INDEX edge_out"],
  [
    "graph",
    "an index with a wrong condition",
    "DROP INDEX edge_in; CREATE INDEX edge_in ON edge (destination, type, position) WHERE leads = 1",
  ],
  ["timeseries", "series gone", "DELETE FROM series"],
];

describe("damage outside the rows of entities", () => {
  test("an undamaged view has no differences", async () => {
    for (const view of viewNames) {
      expect(await found(filled.path, view)).toBe(0);
    }
  });

  test.each(damages)("a full verification finds damage in %s: %s", async (view, _, sql) => {
    await copied(async (directory) => {
      const database = new DatabaseSync(join(directory, `${view}.sqlite`));
      database.enableDefensive(false);
      database.exec(sql);
      database.close();
      expect(await found(directory, view)).toBeGreaterThan(0);
    });
  });

  // The tests above find each damage alone. A rebuild reads nothing of the damaged view.
  test("a rebuild of the views repairs all damage", async () => {
    await copied(async (directory) => {
      for (const round of rounds) damage(directory, round);
      await rebuilt(directory, viewNames);
    });
  });

  test.each(viewNames)(
    "a full verification finds a damaged page of an index in %s",
    async (view) => {
      await copied(async (directory) => {
        damagePage(directory, view);
        // For a view that cannot be read, the verification fails.
        const outcome = await found(directory, view).catch((error: Error) => error.message);
        expect(outcome).not.toBe(0);
      });
    },
  );
});

/** One damage of each view at a time, until none is left. */
const rounds = Array.from({ length: damages.length }, (_, n) =>
  viewNames.flatMap((name) => damages.filter(([view]) => view === name).slice(n, n + 1)),
).filter(({ length }) => length > 0);

function damage(directory: string, round: typeof damages): void {
  for (const [view, , sql] of round) {
    const database = new DatabaseSync(join(directory, `${view}.sqlite`), { timeout: 5_000 });
    database.enableDefensive(false);
    database.exec(sql);
    database.close();
  }
}

describe("a verification with repair", () => {
  const repairing = async (service: RunningService) => {
    const operator = operatorOf(service);
    const id = await operator.value("verify", { repair: true });
    const job = () => operator.value("getJob", { id });
    await expect.poll(async () => (await job()).state).not.toBe("running");
    expect(await job()).toMatchObject({ state: "done" });
    expect(await operator.value("listDifferences")).toMatchObject({ total: 0 });
    await service.restart(async () => {
      for (const view of viewNames) expect(await found(service.directory, view)).toBe(0);
      expect((await differencesFromRebuild(service.directory)).differences).toEqual([]);
    });
  };
  const filledService = async () => {
    const service = await runningService({ logLevel: "silent" });
    await service.restart(async () => cpSync(filled.path, service.directory, { recursive: true }));
    return service;
  };

  test("a running service rebuilds the views with damaged tables", async () => {
    await using service = await filledService();
    const [round = []] = rounds;
    damage(service.directory, round);
    await repairing(service);
  });

  test("a running service rebuilds the views with a damaged page", async () => {
    await using service = await filledService();
    for (const view of viewNames) damagePage(service.directory, view);
    await repairing(service);
  });

  test("the command rebuilds damaged views, also a view that cannot be read", async () => {
    await copied(async (directory) => {
      const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
      const run = (...more: string[]) =>
        start(process.execPath, [main, "verify", "--data", directory, ...more]).ended;
      for (const round of rounds) damage(directory, round.slice(-1));
      const file = join(directory, "graph.sqlite");
      const content = readFileSync(file);
      writeFileSync(file, content.fill(0xff, 4_096, 40_960));
      const repaired = await run("--repair");
      expect(repaired, repaired.stderr).toMatchObject({ code: 0 });
      expect(repaired.stdout).toMatch(/search: rebuilt from the log/);
      expect(repaired.stdout).toMatch(/graph: rebuilt from the log/);
      expect((await run()).code).toBe(0);
      expect((await differencesFromRebuild(directory)).differences).toEqual([]);
    });
  });
});

function damagePage(directory: string, view: ViewName): void {
  const file = join(directory, `${view}.sqlite`);
  const page = pageOfIndex(file);
  const content = readFileSync(file);
  const size = content.readUInt16BE(16);
  content.fill(0xff, (page - 1) * size, page * size);
  writeFileSync(file, content);
}

/** The first page of an index that is not a primary key. */
function pageOfIndex(file: string): number {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const found = database
    .prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND rootpage > 0")
    .all();
  database.close();
  return Number(found.at(-1)?.rootpage);
}
