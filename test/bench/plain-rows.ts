/**
 * A baseline for rates that depend on the machine: one thread reads and decodes the log, parses its
 * values, and inserts each record as a row of one plain table.
 */
import { DatabaseSync } from "node:sqlite";
import { openLogReader } from "../../src/app/open-log.ts";
import type { Config } from "../../src/config/config.ts";
import { START } from "../../src/core/position.ts";
import type { ChangeLog } from "../../src/log/change-log.ts";
import { decodeRecord } from "../../src/log/codecs/record-codec.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { rate, report } from "./report.ts";

const rowsOfTransaction = 1_000;

/**
 * Records per second for the log of a data directory, in the second of two runs; the first fills
 * the compile cache.
 */
export async function plainRowsIn(config: Config): Promise<number> {
  const log = await openLogReader(config);
  await insertAll(log);
  const perSecond = await insertAll(log);
  await log.close();
  report("the log decoded into rows of one plain table", rate(perSecond));
  return perSecond;
}

async function insertAll(log: Pick<ChangeLog, "readAll">): Promise<number> {
  using directory = temporaryDirectory("annals-bench");
  using database = new DatabaseSync(`${directory.path}/plain.sqlite`);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -65536;
    CREATE TABLE plain (urn TEXT, aspect TEXT, position INTEGER, value TEXT, PRIMARY KEY (urn, aspect, position));
  `);
  const insert = database.prepare("INSERT INTO plain VALUES (?, ?, ?, ?)");
  const begun = performance.now();
  let position = START;
  let rows = 0;
  for (;;) {
    const page = await log.readAll(position, { limit: rowsOfTransaction });
    const last = page.at(-1);
    if (last === undefined) return rows / ((performance.now() - begun) / 1_000);
    database.exec("BEGIN");
    for (const record of page) {
      const change = decodeRecord(record);
      if (change === undefined) continue;
      if (change.value !== undefined) JSON.parse(change.value);
      insert.run(change.urn, change.aspect, change.position, change.value ?? null);
      rows++;
    }
    database.exec("COMMIT");
    position = last.position;
  }
}
