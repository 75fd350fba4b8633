import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { TABLES } from "../../../src/log/sqlite/schema.ts";
import { createStreamHeads } from "../../../src/log/sqlite/writer/stream-heads.ts";

test("heads are read through indexes: a first write costs the same in a log of any length", () => {
  using database = new DatabaseSync(":memory:");
  database.exec(TABLES);
  const prepare = vi.spyOn(database, "prepare");
  createStreamHeads(database);
  const reads = prepare.mock.calls.map(([sql]) => sql).filter((sql) => sql.startsWith("SELECT"));
  prepare.mockRestore();
  expect(reads.length).toBeGreaterThan(0);
  for (const sql of reads) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    const sorted = plan.filter(({ detail }) => String(detail).includes("TEMP B-TREE"));
    expect(sorted, sql).toEqual([]);
  }
});
