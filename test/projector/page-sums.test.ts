/** Checksums of pages: what the file says is told from what it was given, whatever cut the writing off. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  believePages,
  changedPages,
  keepPageSums,
  sumPages,
} from "../../src/projector/sqlite/page-sums.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const PAGE_BYTES = 4_096;

function openDatabase(path: string): DatabaseSync {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL`);
  db.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL");
  db.exec("CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT)");
  return db;
}

const write = (db: DatabaseSync, id: number, bytes: number): void =>
  void db.prepare("INSERT OR REPLACE INTO row VALUES (?, ?)").run(id, `${id}`.repeat(bytes));

function flip(path: string, at: number): void {
  const content = readFileSync(path);
  content[at] = (content[at] ?? 0) ^ 1;
  writeFileSync(path, content);
}

const filesAt = (path: string) => ["", "-wal", "-sums"].map((end) => `${path}${end}`);

test("pages are as they were written after any writes, cut off anywhere, and a flipped bit is told", () => {
  const step = fc.record({
    rows: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 9_000 })), {
      maxLength: 12,
    }),
    isBack: fc.boolean(),
    isReadMeanwhile: fc.boolean(),
    end: fc.constantFrom("none", "closed", "cut off"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), fc.nat(), (steps, where) => {
      using directory = temporaryDirectory();
      let path = join(directory.path, "view.sqlite");
      let db = openDatabase(path);
      let sums = keepPageSums(db, path, 4);
      let copies = 0;
      const begin = (): void => {
        expect(changedPages(path, PAGE_BYTES)).toEqual([]);
        db = openDatabase(path);
        sums = keepPageSums(db, path, 4);
        sums.checkpoint("always");
      };
      const close = (): void => {
        sums.close();
        db.close();
      };
      for (const { rows, isBack, isReadMeanwhile, end } of steps) {
        const reader = isReadMeanwhile ? new DatabaseSync(path, { readOnly: true }) : undefined;
        reader?.exec("BEGIN; SELECT count(*) FROM row");
        for (const [id, bytes] of rows) {
          write(db, id, bytes);
          sums.checkpoint();
        }
        if (isBack) {
          db.exec("PRAGMA cache_size = 2; BEGIN");
          for (let id = 1; id < 20; id++) write(db, id, 3_000);
          db.exec("ROLLBACK");
        }
        reader?.close();
        if (end === "closed") {
          close();
          begin();
        } else if (end === "cut off") {
          // What a killed process leaves.
          const left = join(directory.path, `left${++copies}.sqlite`);
          for (const [n, file] of filesAt(path).entries()) {
            cpSync(file, filesAt(left)[n] ?? "", { force: true });
          }
          close();
          path = left;
          begin();
        }
      }
      close();
      expect(changedPages(path, PAGE_BYTES)).toEqual([]);
      const size = readFileSync(path).length;
      const at = where % size;
      flip(path, at);
      const page = Math.floor(at / PAGE_BYTES) + 1;
      expect(changedPages(path, PAGE_BYTES)).toEqual([page]);
      believePages(path, [page]);
      expect(changedPages(path, PAGE_BYTES)).toEqual([]);
      flip(path, at);
      expect(changedPages(path, PAGE_BYTES)).toEqual([page]);
    }),
    { numRuns: 60 },
  );
});

test("a file that nobody has open is summed up as a whole, and one that is cut short is told", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "view.sqlite");
  const db = openDatabase(path);
  for (let id = 1; id < 30; id++) write(db, id, 3_000);
  db.close();
  expect(changedPages(path, PAGE_BYTES)).toEqual([]);
  rmSync(`${path}-sums`);
  sumPages(path, PAGE_BYTES);
  expect(changedPages(path, PAGE_BYTES)).toEqual([]);
  const content = readFileSync(path);
  const pages = content.length / PAGE_BYTES;
  writeFileSync(path, content.subarray(0, content.length - 2 * PAGE_BYTES));
  expect(changedPages(path, PAGE_BYTES)).toEqual([pages - 1, pages]);
});

test("a write-ahead log of which SQLite will take a part alone makes all of its pages doubtful", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "view.sqlite");
  const db = openDatabase(path);
  const sums = keepPageSums(db, path, 4_000);
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.prepare("SELECT 1 FROM row").get();
  for (let id = 1; id < 30; id++) {
    write(db, id, 3_000);
    sums.checkpoint();
  }
  sums.close();
  db.close();
  reader.close();
  const bytes = readFileSync(`${path}-wal`).length;
  expect(bytes).toBeGreaterThan(20 * PAGE_BYTES);
  expect(changedPages(path, PAGE_BYTES)).toEqual([]);
  flip(`${path}-wal`, Math.floor(bytes / 2));
  expect(changedPages(path, PAGE_BYTES).length).toBeGreaterThan(5);
});
