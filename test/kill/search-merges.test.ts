/**
 * Merges of search segments that SIGKILL interrupts: of a process that only writes the view, and of
 * the service. Afterwards the view is what its checkpoint says.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { SearchQuery, SearchReader } from "../../src/views/search/search.ts";
import { openSqliteSearchReader } from "../../src/views/search/sqlite/sqlite-search-reader.ts";
import { openSqliteSearchRows } from "../../src/views/search/sqlite/sqlite-search-rows.ts";
import { caughtUp } from "../support/caught-up.ts";
import { type Client, proposal } from "../support/client.ts";
import { killableService } from "../support/killable-service.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { BATCH, countsAfter } from "./merged-documents.ts";

const rounds = 4;
const script = fileURLToPath(new URL("merging-process.ts", import.meta.url));

/** Resolves when the process has started a merge; rejects if it ends before. */
function merging(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (child.stdout === null) throw new Error("the process has no output");
  createInterface(child.stdout).on("line", (line) => {
    if (line === "merging") resolve();
  });
  child.on("exit", (code) => reject(new Error(`the process ended with ${code}`)));
  return promise;
}

async function counts(reader: SearchReader, batches: number): Promise<readonly number[]> {
  const page = { sort: [], start: 0, count: 1, facets: [] };
  const all: SearchQuery = { entityTypes: ["dataset"], expression: { kind: "all" }, ...page };
  const found: number[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const any = [{ word: `batch${batch}`, prefix: false, weight: 1 }];
    found.push((await reader.search({ ...all, expression: { kind: "word", any } })).total);
  }
  return [...found, (await reader.search(all)).total];
}

test("a view whose merges are killed is what its checkpoint says", async () => {
  using directory = temporaryDirectory("annals-merges");
  const path = join(directory.path, "search.sqlite");
  for (let round = 0; round < rounds; round++) {
    const child = spawn(process.execPath, [script, path], { stdio: ["ignore", "pipe", "inherit"] });
    await merging(child);
    await sleep(Math.random() * 400);
    child.kill("SIGKILL");
    await once(child, "exit");

    const rows = openSqliteSearchRows(path);
    expect(await rows.faults()).toEqual([]);
    const batches = (await rows.position()) / BATCH;
    await rows.close();
    const reader = openSqliteSearchReader(path, { threads: 1 });
    expect(await counts(reader, batches)).toEqual(countsAfter(batches));
    await reader.close();
  }
});

const service = killableService("annals-merges");

/** How many segments have been written so far; each merge writes one. */
function segmentsOf(directory: string): number {
  const db = new DatabaseSync(join(directory, "search.sqlite"), { readOnly: true });
  try {
    return Number(
      db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'segment'").get()?.seq ?? 0,
    );
  } finally {
    db.close();
  }
}

/** Writes until the service is gone. */
async function write(client: Client, round: number): Promise<void> {
  for (let batch = 0; ; batch++) {
    const proposals = Array.from({ length: 1_000 }, (_, n) => {
      const number = (batch % 5) * 1_000 + n;
      const urn = `urn:li:dataset:(urn:li:dataPlatform:hive,merged.t${number},PROD)`;
      const words = Array.from({ length: 20 }, (_, at) => `word${number * 20 + at}`);
      const description = `round${round} batch${batch} ${words.join(" ")}`;
      return proposal(urn, "datasetProperties", { description, customProperties: {} });
    });
    try {
      await client.call("POST", "/aspects?action=ingestProposalBatch", { proposals });
    } catch (error) {
      // The connection breaks with the process.
      if (!(error instanceof TypeError)) throw error;
      return;
    }
  }
}

test("verification finds no difference after kills during merges", {
  timeout: 400_000,
}, async () => {
  for (let round = 0; round < 2; round++) {
    const { client } = await service.start();
    const written = write(client, round);
    const before = segmentsOf(service.directory);
    await expect.poll(() => segmentsOf(service.directory) - before).toBeGreaterThan(6);
    await sleep(Math.random() * 2_000);
    await service.stop("SIGKILL");
    await written;
    const again = await service.start();
    await caughtUp({ client: again.client, directory: service.directory });
    await again.ended(await again.value("verify", { full: true }));
    expect((await again.value("listDifferences")).differences).toEqual([]);
    await service.stop("SIGKILL");
  }
});
