/**
 * Damage that no row of an entity shows: tables of names and numbers, what stores keep beside rows, and
 * pages of files. A full verification tells of it, and growing the view anew mends it.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { loadModel } from "../../src/model/load-model.ts";
import { rebuild } from "../../src/offline-rebuild.ts";
import { openLogReader, storesConfig, type ViewName, viewRules } from "../../src/stores.ts";
import { createLogger } from "../../src/telemetry/logger.ts";
import { verifyStoredViews } from "../../src/verified-views.ts";
import { proposal } from "../support/client.ts";
import { writeHistory } from "../support/random-history.ts";
import { runningService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const filled = temporaryDirectory("annals-filled");
const rules = viewRules(loadModel());

beforeAll(async () => {
  await using service = await runningService();
  await writeHistory(service, 200, 15);
  // So many that the index has many pages.
  const proposals = Array.from({ length: 1_500 }, (_, n) =>
    proposal(`urn:li:tag:t${n}`, "tagProperties", {
      name: `mark ${n}`,
      description: `word${n} word${n * 7} word${n * 31} `.repeat(4),
    }),
  );
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

/** How many differences a full verification finds in a view. */
async function found(directory: string, view: ViewName): Promise<number> {
  const config = readConfig({ data: directory }, {});
  const log = await openLogReader(config);
  const stores = await storesConfig(config, rules, log);
  await log.close();
  const { views } = await verifyStoredViews(stores, { views: [view], grade: "full", threads: 0 });
  return views.reduce((sum, { count }) => sum + count, 0);
}

async function mended(directory: string, view: ViewName): Promise<void> {
  const config = readConfig({ data: directory }, {});
  await rebuild(config, { views: [view], onProgress: () => {}, logger: createLogger("silent") });
  expect(await found(directory, view)).toBe(0);
}

const damages: readonly (readonly [view: ViewName, what: string, sql: string])[] = [
  ["search", "kinds of texts gone", "DELETE FROM kind"],
  ["search", "boosts changed", "UPDATE kind SET boost = boost * 3"],
  ["search", "what is suggested changed", "UPDATE kind SET suggested = suggested + 2"],
  ["search", "fields exchanged", "UPDATE field SET name = name || 'x' WHERE name <> 'urn'"],
  ["search", "the index's own tables emptied", "DELETE FROM term_idx"],
  ["search", "the index's data gone", "DELETE FROM term_data WHERE id > 10"],
  [
    "search",
    "a document under other words",
    "INSERT OR REPLACE INTO term (rowid, tokens) SELECT max(id), 'garbage' FROM document",
  ],
  [
    "search",
    "an entity that cannot be looked up",
    "UPDATE entity SET hash = hash + 1 WHERE id = 3",
  ],
  ["aspects", "counts changed", "UPDATE entity_kind SET living = living + 1"],
  ["graph", "names gone", "DELETE FROM node"],
  ["timeseries", "series gone", "DELETE FROM series"],
];

describe("damage that no row shows", () => {
  test("is not there before", async () => {
    for (const view of ["aspects", "timeseries", "graph", "search"] as const) {
      expect(await found(filled.path, view)).toBe(0);
    }
  });

  test.each(damages)("%s: %s", async (view, _, sql) => {
    await copied(async (directory) => {
      const database = new DatabaseSync(join(directory, `${view}.sqlite`));
      database.enableDefensive(false);
      database.exec(sql);
      database.close();
      expect(await found(directory, view)).toBeGreaterThan(0);
      await mended(directory, view);
    });
  });

  test.each(["aspects", "timeseries", "graph", "search"] as const)(
    "%s: a page of an index",
    async (view) => {
      await copied(async (directory) => {
        const file = join(directory, `${view}.sqlite`);
        const page = pageOfIndex(file);
        const content = readFileSync(file);
        const size = content.readUInt16BE(16);
        content.fill(0xff, (page - 1) * size, page * size);
        writeFileSync(file, content);
        // Where it cannot be read at all it says so.
        const told = await found(directory, view).catch((error: Error) => error.message);
        expect(told).not.toBe(0);
        await mended(directory, view);
      });
    },
  );
});

/** The first page of an index that is not the table's own. */
function pageOfIndex(file: string): number {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const found = database
    .prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND rootpage > 0")
    .all();
  database.close();
  return Number(found.at(-1)?.rootpage);
}
