/** Checksums of pages: what the file says is told from what it was given, whatever cut the writing off. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
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

const keep = (db: DatabaseSync, path: string, framesMax: number) => {
  const changed: number[] = [];
  const onChanged = (pages: number): void => void changed.push(pages);
  return { ...keepPageSums(db, { path, framesMax, onChanged }), changed };
};

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
      let sums = keep(db, path, 4);
      let copies = 0;
      const begin = (): void => {
        expect(changedPages(path, PAGE_BYTES)).toEqual([]);
        db = openDatabase(path);
        sums = keep(db, path, 4);
        sums.checkpoint("always");
      };
      const close = (): void => {
        sums.look();
        expect(sums.changed).toEqual([]);
        sums.end();
        db.close();
        sums.close();
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
  const sums = keep(db, path, 4_000);
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.prepare("SELECT 1 FROM row").get();
  for (let id = 1; id < 30; id++) {
    write(db, id, 3_000);
    sums.checkpoint();
  }
  sums.end();
  db.close();
  sums.close();
  reader.close();
  const bytes = readFileSync(`${path}-wal`).length;
  expect(bytes).toBeGreaterThan(20 * PAGE_BYTES);
  expect(changedPages(path, PAGE_BYTES)).toEqual([]);
  flip(`${path}-wal`, Math.floor(bytes / 2));
  expect(changedPages(path, PAGE_BYTES).length).toBeGreaterThan(5);
});

/** Writes to a file that others have open, and leaves their locks to them. */
function scribble(path: string, at: number): void {
  const script = `const fs = require("fs"); const file = fs.openSync(process.argv[1], "r+");
    const byte = Buffer.alloc(1); fs.readSync(file, byte, 0, 1, +process.argv[2]);
    byte[0] ^= 1; fs.writeSync(file, byte, 0, 1, +process.argv[2])`;
  execFileSync(process.execPath, ["-e", script, path, String(at)]);
}

function filledDatabase(path: string) {
  const db = openDatabase(path);
  const sums = keep(db, path, 4);
  for (let id = 1; id < 60; id++) write(db, id, 3_000);
  sums.checkpoint("always");
  sums.look();
  expect(sums.changed).toEqual([]);
  return { db, sums };
}

test("what others write to a file that is open is told, also when it is written over and read again", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "view.sqlite");
  const { db, sums } = filledDatabase(path);
  scribble(path, 20 * PAGE_BYTES + 100);
  sums.look();
  sums.look();
  expect(sums.changed).toEqual([1]);
  // The next write makes a sound page of it.
  for (let id = 1; id < 60; id++) write(db, id, 3_000);
  sums.end();
  db.close();
  sums.close();
  expect(changedPages(path, PAGE_BYTES)).toEqual([21]);
  believePages(path, [21]);
  expect(changedPages(path, PAGE_BYTES)).toEqual([]);
});

test("what others write is told before a checkpoint writes over it", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "view.sqlite");
  const { db, sums } = filledDatabase(path);
  scribble(path, 20 * PAGE_BYTES + 100);
  for (let id = 1; id < 60; id++) write(db, id, 3_000);
  sums.checkpoint();
  expect(sums.changed).toEqual([1]);
  db.close();
  sums.close();
});

test("a page that has changed without anybody writing is found in some rounds", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "view.sqlite");
  const { db, sums } = filledDatabase(path);
  for (let id = 60; id < 900; id++) write(db, id, 1_000);
  sums.end();
  db.close();
  sums.close();
  // As if the page had been another one when it was written.
  const place = 4 * 300;
  const file = openSync(`${path}-sums`, "r+");
  writeSync(file, Buffer.from([1, 2, 3, 4]), 0, 4, place);
  closeSync(file);
  const reopened = openDatabase(path);
  const again = keep(reopened, path, 4);
  for (let round = 0; round < 3; round++) again.look();
  expect(again.changed).toEqual([]);
  for (let round = 0; round < 50; round++) again.look();
  expect(again.changed).toEqual([1]);
  reopened.close();
  again.close();
});

test.each([
  ["PASSIVE", "looked at"],
  ["PASSIVE", "written to"],
  ["RESTART", "looked at"],
  ["RESTART", "written to"],
  ["TRUNCATE", "looked at"],
  ["TRUNCATE", "written to"],
])(
  "a checkpoint that somebody else makes (%s) changes nothing; the file is %s after it",
  (kind, after) => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "view.sqlite");
    const { db, sums } = filledDatabase(path);
    for (let id = 1; id < 60; id++) write(db, id, 2_000);
    sums.look();
    const other = new DatabaseSync(path);
    expect(other.prepare(`PRAGMA wal_checkpoint(${kind})`).get()).toMatchObject({ busy: 0 });
    other.close();
    if (after === "looked at") sums.look();
    for (let id = 1; id < 60; id++) {
      sums.begin();
      write(db, id, 1_000);
    }
    sums.checkpoint("always");
    sums.look();
    expect(sums.changed).toEqual([]);
    sums.end();
    db.close();
    sums.close();
    expect(changedPages(path, PAGE_BYTES)).toEqual([]);
  },
);

/** What a killed process leaves of a database and its sums. */
function copied(path: string, to: string): string {
  for (const [n, file] of filesAt(path).entries()) cpSync(file, filesAt(to)[n] ?? "");
  return to;
}

test.each(["before", "after"])(
  "a page that was changed and is to be written again is told after a kill, also one that was told %s",
  (told) => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "view.sqlite");
    const { db, sums } = filledDatabase(path);
    scribble(path, 20 * PAGE_BYTES + 100);
    if (told === "before") sums.look();
    // Of one transaction, and not checkpointed.
    for (let id = 1; id < 60; id++) write(db, id, 3_000);
    const left = copied(path, join(directory.path, "left.sqlite"));
    expect(changedPages(left, PAGE_BYTES)).toContain(21);
    db.close();
    sums.close();
  },
);

test("what others write to the write-ahead log is told, and what it came to is told after the end", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "view.sqlite");
  const { db, sums } = filledDatabase(path);
  for (let id = 1; id < 60; id++) {
    write(db, id, 3_000);
    sums.checkpoint();
  }
  const bytes = readFileSync(`${path}-wal`).length;
  write(db, 1, 3_000);
  sums.checkpoint();
  sums.look();
  expect(sums.changed).toEqual([]);
  // A frame of the transaction that is not in the file yet, or any before it.
  scribble(`${path}-wal`, Math.floor(bytes / 2));
  sums.look();
  expect(sums.changed.length).toBeLessThanOrEqual(1);
  write(db, 2, 3_000);
  scribble(`${path}-wal`, 32 + 24 + 100);
  sums.begin();
  expect(sums.changed).toEqual([expect.any(Number)]);
  sums.end();
  db.close();
  sums.close();
  expect(changedPages(path, PAGE_BYTES)).not.toEqual([]);
});

test("a write-ahead log is written to the file when it is long, however often it is looked at", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "view.sqlite");
  const { db, sums } = filledDatabase(path);
  const before = readFileSync(path).length;
  for (let id = 100; id < 300; id++) {
    sums.begin();
    write(db, id, 3_000);
    sums.checkpoint();
    sums.look();
  }
  expect(readFileSync(path).length).toBeGreaterThan(before + 180 * 2 * PAGE_BYTES);
  expect(readFileSync(`${path}-wal`).length).toBeLessThan(300 * PAGE_BYTES);
  sums.end();
  db.close();
  sums.close();
});
