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
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * For the only writer of a database, which must not checkpoint by itself. `path`: where its file is,
 * and no link to it; `framesMax`: pages in the write-ahead log that start a checkpoint.
 */
export function keepPageSums(db: DatabaseSync, path: string, framesMax: number): PageSums {
  const log = followWal(`${path}-wal`, pageBytesOf(db));
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
  const log = followWal(`${path}-wal`, pageBytes);
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

interface Frame {
  readonly page: number;
  readonly sum: number;
}

/**
 * What a write-ahead log holds (https://sqlite.org/fileformat2.html#the_write_ahead_log): a header,
 * and frames of a header and a page each. Those of its present round carry the header's salt; the
 * last one of a transaction says how many pages the database has, the others zero.
 */
function followWal(path: string, pageBytes: number) {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const placeOf = (frame: number): number => HEADER_BYTES + frame * frameBytes;
  let file: number | undefined;
  let salt = Buffer.alloc(8);
  /** Frames that were read, and how many of these are in the database. */
  let frames: Frame[] = [];
  let written = 0;

  /** Whether there is a log; one that begins anew holds nothing of what was read. */
  function look(): boolean {
    if (file === undefined && existsSync(path)) file = openSync(path, "r");
    const header = Buffer.alloc(HEADER_BYTES);
    if (file === undefined || readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES)
      return false;
    const now = header.subarray(16, 24);
    if (!now.equals(salt)) {
      salt = now;
      frames = [];
      written = 0;
    }
    return true;
  }

  /** The frames of whole transactions that were not told as written. */
  function read(): readonly Frame[] {
    if (!look() || file === undefined) return [];
    const chunk = Buffer.allocUnsafe(Math.ceil(CHUNK_BYTES / frameBytes) * frameBytes);
    let begun: Frame[] = [];
    for (let at = frames.length; ; ) {
      const read = readSync(file, chunk, 0, chunk.length, placeOf(at));
      for (let start = 0; start + frameBytes <= read; start += frameBytes, at++) {
        const frame = chunk.subarray(start, start + frameBytes);
        if (!frame.subarray(8, 16).equals(salt)) return frames.slice(written);
        begun.push({ page: frame.readUInt32BE(0), sum: sumOf(frame.subarray(FRAME_HEADER_BYTES)) });
        if (frame.readUInt32BE(4) === 0) continue;
        for (const whole of begun) frames.push(whole);
        begun = [];
      }
      if (read < chunk.length) return frames.slice(written);
    }
  }

  return {
    read,
    /**
     * Whether SQLite will take all the frames that were read: each has the sum of all before it. A
     * part of them is no state of the database where a checkpoint has come to what is lost.
     */
    isWhole(): boolean {
      if (file === undefined) return true;
      const sum = createWalSum(file);
      const frame = Buffer.allocUnsafe(frameBytes);
      for (let at = 0; at < frames.length; at++) {
        readSync(file, frame, 0, frameBytes, placeOf(at));
        sum.add(frame.subarray(0, 8));
        sum.add(frame.subarray(FRAME_HEADER_BYTES));
        if (!sum.is(frame.readUInt32BE(16), frame.readUInt32BE(20))) return false;
      }
      return true;
    },
    /** Whether it has so many frames beside those that were read. */
    has(count: number): boolean {
      if (!look() || file === undefined) return false;
      const header = Buffer.alloc(FRAME_HEADER_BYTES);
      const read = readSync(file, header, 0, header.length, placeOf(frames.length + count - 1));
      return read === header.length && header.subarray(8, 16).equals(salt);
    },
    /**
     * Of `total` frames the first `count` are in the database: those of them that were not told
     * before. What was read beyond them is what a crash has left; others may have written meanwhile.
     */
    written(count: number, total: number): readonly Frame[] {
      const before = salt;
      if (total !== frames.length) read();
      // It was busy, or somebody else has begun it anew.
      if (total < 0 || salt !== before) return [];
      frames.length = Math.min(frames.length, total);
      const told = frames.slice(written, count);
      written = Math.max(written, count);
      return told;
    },
    close(): void {
      if (file !== undefined) closeSync(file);
    },
  };
}

/** The checksum of a write-ahead log, as it is after its header; it says in which order bytes are taken. */
function createWalSum(file: number) {
  const header = Buffer.alloc(HEADER_BYTES);
  readSync(file, header, 0, HEADER_BYTES, 0);
  const isBig = (header.readUInt32BE(0) & 1) === 1;
  let first = 0;
  let second = 0;
  const add = (bytes: Buffer): void => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += 8) {
      first = (first + view.getUint32(at, !isBig) + second) >>> 0;
      second = (second + view.getUint32(at + 4, !isBig) + first) >>> 0;
    }
  };
  add(header.subarray(0, 24));
  return { add, is: (one: number, other: number): boolean => one === first && other === second };
}
