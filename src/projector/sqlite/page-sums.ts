/**
 * Checksums of the pages of a view's file, in a file beside it (`-sums` behind its name): SQLite has
 * none, and shows a page whose bytes have changed as long as it still looks like one.
 *
 * Pages come into a file in WAL mode by checkpoints alone, which are made here for that reason: the
 * sums of what is about to be written are taken away, and those of what was written put in after it.
 * A page without a sum is believed; after a crash those are the pages of the last checkpoint.
 *
 * The file of sums: a CRC-32 in four bytes for each page, in the order of bytes of the machine.
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { followWal } from "./write-ahead-log.ts";

export const sumsOf = (path: string): string => `${path}-sums`;

export interface PageSums {
  /** After a commit: checkpoints once the write-ahead log is long; `always`: whatever its length. */
  checkpoint(always?: "always"): void;
  /** Before the database is closed: with a last checkpoint. */
  close(): void;
}

/** Read at a time. */
const CHUNK_BYTES = 4 * 1024 * 1024;
const MODE = 0o600;

/**
 * For the only writer of a database, which must not checkpoint by itself. `path`: where its file is,
 * and no link to it; `framesMax`: pages in the write-ahead log that start a checkpoint.
 */
export function keepPageSums(db: DatabaseSync, path: string, framesMax: number): PageSums {
  const log = followWal(`${path}-wal`, pageBytesOf(db), sumOf);
  const sums = openSums(path);
  const run = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");

  function checkpoint(): void {
    const frames = log.read();
    if (frames.length === 0) return;
    for (const { page } of frames) sums.set(page, UNKNOWN);
    sums.write("durable");
    const done = run.get() as { log: number; checkpointed: number };
    for (const { page, sum } of log.written(done.checkpointed, done.log)) sums.set(page, sum);
    sums.write();
  }

  return {
    checkpoint(always) {
      try {
        if (always === undefined && !log.has(framesMax)) return;
        checkpoint();
      } catch {
        // What was committed is in the write-ahead log, and stays there until the next try.
      }
    },
    close() {
      try {
        checkpoint();
      } catch {
        // Closing the database writes it all the same.
        rmSync(sumsOf(path), { force: true });
      }
      log.close();
      sums.close();
    },
  };
}

/** Writes the sums of a file that nobody has open. */
export function sumPages(path: string, pageBytes: number): void {
  const sums: number[] = [];
  eachPage(path, pageBytes, (page, content) => {
    sums[page - 1] = isToChange(page, content) ? UNKNOWN : sumOf(content);
  });
  writeFileSync(sumsOf(path), Uint32Array.from(sums), { mode: MODE });
}

/**
 * Pages of a file that are not as they were written; pages without a sum get theirs. Nothing else in
 * the process may have the file open: with it locks would be closed that the process has on it.
 * Throws what the file system does.
 */
export function changedPages(path: string, pageBytes: number): readonly number[] {
  if (!existsSync(path)) return [];
  const sums = openSums(path);
  const log = followWal(`${path}-wal`, pageBytes, sumOf);
  try {
    const pages = log.read().map(({ page }) => page);
    // The file may have some of them already, and is not brought back to before with the others.
    if (!log.isWhole()) return [...new Set(pages)];
    // They are about to be written again.
    const pending = new Set(pages);
    const changed: number[] = [];
    const count = eachPage(path, pageBytes, (page, content) => {
      if (pending.has(page)) return;
      const sum = sumOf(content);
      if (sums.get(page) !== UNKNOWN) {
        if (sums.get(page) !== sum) changed.push(page);
      } else if (!isToChange(page, content)) sums.set(page, sum);
    });
    for (let page = count + 1; page <= sums.pages(); page++) {
      if (sums.get(page) !== UNKNOWN && !pending.has(page)) changed.push(page);
    }
    sums.write();
    return changed;
  } finally {
    log.close();
    sums.close();
  }
}

/** What these pages hold is believed from now on. */
export function believePages(path: string, pages: readonly number[]): void {
  const sums = openSums(path);
  try {
    for (const page of pages) sums.set(page, UNKNOWN);
    sums.write();
  } finally {
    sums.close();
  }
}

/** In place of a sum. */
const UNKNOWN = 0;

/** Never UNKNOWN. */
const sumOf = (content: Buffer): number => crc32(content) || 1;

/** The first page of a file that is not in WAL mode yet says so, until it is opened for writing. */
const isToChange = (page: number, content: Buffer): boolean =>
  page === 1 && content[WRITE_VERSION] !== IN_WAL_MODE;

const WRITE_VERSION = 18;
const IN_WAL_MODE = 2;

const pageBytesOf = (db: DatabaseSync): number =>
  Number(db.prepare("PRAGMA page_size").get()?.page_size);

/** Calls `see` with each page and its number, from 1 on; how many there are. */
function eachPage(
  path: string,
  pageBytes: number,
  see: (page: number, content: Buffer) => void,
): number {
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let page = 0;
    for (;;) {
      const read = readSync(file, chunk, 0, CHUNK_BYTES, page * pageBytes);
      for (let at = 0; at + pageBytes <= read; at += pageBytes) {
        see(++page, chunk.subarray(at, at + pageBytes));
      }
      if (read < CHUNK_BYTES) return page;
    }
  } finally {
    closeSync(file);
  }
}

/** The sums of a file by the numbers of its pages. */
function openSums(path: string) {
  const name = sumsOf(path);
  const file = openSync(name, existsSync(name) ? "r+" : "w+", MODE);
  const content = readFileSync(file);
  let sums = new Uint32Array(Math.max(1_024, content.length >> 2));
  Buffer.from(sums.buffer).set(content.subarray(0, 4 * (content.length >> 2)));
  let pages = content.length >> 2;
  /** What is to be written, by the places of pages. */
  let first = Number.POSITIVE_INFINITY;
  let last = -1;

  return {
    pages: () => pages,
    get: (page: number): number => sums[page - 1] ?? UNKNOWN,
    set(page: number, sum: number): void {
      const at = page - 1;
      if (at >= sums.length) {
        const grown = new Uint32Array(2 * page);
        grown.set(sums);
        sums = grown;
      }
      sums[at] = sum;
      pages = Math.max(pages, page);
      first = Math.min(first, at);
      last = Math.max(last, at);
    },
    write(durable?: "durable"): void {
      if (last < 0) return;
      const bytes = new Uint8Array(sums.buffer, 4 * first, 4 * (last + 1 - first));
      writeSync(file, bytes, 0, bytes.length, 4 * first);
      if (durable) fdatasyncSync(file);
      first = Number.POSITIVE_INFINITY;
      last = -1;
    },
    close: () => closeSync(file),
  };
}
