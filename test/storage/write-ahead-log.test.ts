/** Write-ahead logs left by a process: damage is distinguished from an interrupted write. */
import { appendFileSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { damagedFrom, inspectWal } from "../../src/storage/sqlite/write-ahead-log.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const PAGE_BYTES = 4_096;
const HEADER_BYTES = 32;
const FRAME_BYTES = PAGE_BYTES + 24;

/** The log of an open database after transactions; some are rolled back after they spilled to the file. */
function writeWal(
  path: string,
  transactions: readonly { readonly rows: number; readonly isBack: boolean }[],
): void {
  const db = new DatabaseSync(`${path}.open`);
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL`);
  db.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 2");
  db.exec("CREATE TABLE row (id INTEGER PRIMARY KEY, text TEXT)");
  const insert = db.prepare("INSERT INTO row (text) VALUES (?)");
  for (const { rows, isBack } of transactions) {
    db.exec("BEGIN");
    for (let n = 0; n < rows; n++) insert.run(`${n}`.padEnd(2_000));
    db.exec(isBack ? "ROLLBACK" : "COMMIT");
  }
  copyFileSync(`${path}.open-wal`, path);
  db.close();
}

const transactions = fc.array(
  fc.record({ rows: fc.integer({ min: 1, max: 12 }), isBack: fc.boolean() }),
  { minLength: 1, maxLength: 8 },
);

const commits = (content: Buffer): readonly number[] => {
  const found: number[] = [];
  for (let at = HEADER_BYTES; at + FRAME_BYTES <= content.length; at += FRAME_BYTES) {
    if (content.readUInt32BE(at + 4) !== 0) found.push(at);
  }
  return found;
};

test("a log that is cut off at any byte is not damaged", () => {
  fc.assert(
    fc.property(transactions, fc.double({ min: 0, max: 1, noNaN: true }), (some, part) => {
      using directory = temporaryDirectory();
      const path = join(directory.path, "left-wal");
      writeWal(path, some);
      expect(damagedFrom(path)).toBe(undefined);
      const { length } = readFileSync(path);
      truncateSync(path, Math.floor(length * part));
      expect(damagedFrom(path)).toBe(undefined);
      appendFileSync(path, Buffer.alloc(3 * FRAME_BYTES));
      if (length * part > HEADER_BYTES) expect(damagedFrom(path)).toBe(undefined);
    }),
    { numRuns: 40 },
  );
});

test("a flipped bit is damage if a complete transaction follows", () => {
  fc.assert(
    fc.property(transactions, fc.nat(), (some, where) => {
      using directory = temporaryDirectory();
      const path = join(directory.path, "left-wal");
      writeWal(path, [...some, { rows: 3, isBack: false }, { rows: 3, isBack: false }]);
      const content = readFileSync(path);
      const durable = commits(content).at(-2) ?? 0;
      const at = where % (durable + FRAME_BYTES);
      content[at] = (content[at] ?? 0) ^ 4;
      writeFileSync(path, content);
      const frame = Math.floor((at - HEADER_BYTES) / FRAME_BYTES);
      expect(damagedFrom(path)).toBe(at < HEADER_BYTES ? 0 : HEADER_BYTES + frame * FRAME_BYTES);
    }),
    { numRuns: 100 },
  );
});

test("a damaged or incomplete last transaction is reported from its first byte", () => {
  fc.assert(
    fc.property(transactions, fc.nat(), fc.boolean(), (some, where, isCut) => {
      using directory = temporaryDirectory();
      const path = join(directory.path, "left-wal");
      writeWal(path, [...some, { rows: 3, isBack: false }, { rows: 9, isBack: false }]);
      expect(inspectWal(path).unfinished).toBe(undefined);
      const content = readFileSync(path);
      const [before = 0, last = 0] = commits(content).slice(-2);
      const start = before + FRAME_BYTES;
      const frames = (last - before) / FRAME_BYTES;
      if (isCut) {
        truncateSync(path, start + (1 + (where % (frames - 1))) * FRAME_BYTES);
      } else {
        // A byte of a page.
        const at = start + 24 + (where % frames) * FRAME_BYTES + (where % PAGE_BYTES);
        content[at] = (content[at] ?? 0) ^ 4;
        writeFileSync(path, content);
      }
      expect(damagedFrom(path)).toBe(undefined);
      expect(inspectWal(path).unfinished).toBe(start);
    }),
    { numRuns: 60 },
  );
});

test("the rest of transactions that were not made durable is not damage", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "left-wal");
  const of = (rows: number): Buffer => {
    const alone = join(directory.path, `${rows}-wal`);
    writeWal(alone, [{ rows, isBack: false }]);
    return readFileSync(alone);
  };
  // Each is written over the previous one.
  const [longest, middle, last] = [of(30), of(12), of(3)];
  const header = last.subarray(0, HEADER_BYTES);
  const together = Buffer.concat([
    last,
    middle.subarray(last.length),
    longest.subarray(middle.length),
  ]);
  for (let place = HEADER_BYTES; place < together.length; place += FRAME_BYTES) {
    header.copy(together, place + 8, 16, 24);
  }
  writeFileSync(path, together);
  expect(commits(together).length).toBeGreaterThan(2);
  expect(damagedFrom(path)).toBe(undefined);
});
