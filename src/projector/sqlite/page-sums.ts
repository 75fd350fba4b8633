/**
 * Checksums of the pages of a view's file, in a file beside it (`-sums` behind its name): SQLite has
 * none, and shows a page whose bytes have changed as long as it still looks like one.
 *
 * Pages come into a file in WAL mode by checkpoints alone, which are made here for that reason: the
 * sums of what is about to be written are taken away, and those of what was written put in after it.
 * A page without a sum is believed; after a crash those are the pages of the last checkpoint.
 *
 * While the file is open it is looked at again and again: all of it as soon as somebody else has
 * written to it, which the file system tells, else a part at a time. A page that is found to be another
 * is never believed again, whatever is written over it: that may be made of what stood there.
 */
import { closeSync, existsSync, fstatSync, openSync, rmSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { eachPage, pagesIn } from "./pages.ts";
import { openSums, SUMS_MODE, sumsOf, UNKNOWN } from "./sums-file.ts";
import { type Frame, followWal } from "./write-ahead-log.ts";

export interface PageSums {
  /** After a commit: checkpoints once the write-ahead log is long; `always`: whatever its length. */
  checkpoint(always?: "always"): void;
  /** What keeps checkpoints from being made, once the log is far too long and another try has failed. */
  trouble(): unknown;
  /** Looks whether the file is as it was written: a part of it, or all where others have written. */
  look(): void;
  /** Before the database is closed: a last checkpoint. */
  end(): void;
  /** After it: the file's locks go with whoever closes it first. */
  close(): void;
}

/** Pages that are looked at in one go: a part of all, so that all are in some minutes. */
const LOOKS = 3_000;
const LOOK_PAGES_MIN = 8;
/** A log of so many times the length that starts a checkpoint is too long. */
const LENGTHS_MAX = 8;

export interface Kept {
  /** Where the file is, and no link to it. */
  readonly path: string;
  /** Pages in the write-ahead log that start a checkpoint. */
  readonly framesMax: number;
  /** Called with the number of pages that were found to be others than were written. */
  readonly onChanged: (pages: number) => void;
}

/** For the only writer of a database, which must not checkpoint by itself. */
export function keepPageSums(db: DatabaseSync, { path, framesMax, onChanged }: Kept): PageSums {
  const pageBytes = pageBytesOf(db);
  const log = followWal(`${path}-wal`, pageBytes, sumOf);
  const sums = openSums(path);
  const file = openSync(path, "r");
  const run = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  /** Pages that are not as they were written, or were not. */
  const changed = new Set<number>();
  let seen = lastWrite(file);
  let next = 1;
  let failure: unknown;

  function checkpoint(): void {
    const frames = log.read();
    if (frames.length === 0) return;
    if (lastWrite(file) !== seen) lookAtAll();
    for (const { page } of frames) sums.set(page, UNKNOWN);
    sums.write("durable");
    const done = run.get() as { log: number; checkpointed: number };
    for (const { page, sum } of log.written(done.checkpointed, done.log)) {
      sums.set(page, changed.has(page) ? another(sum) : sum);
    }
    sums.write();
    seen = lastWrite(file);
  }

  /** Where the last page that was looked at is the last of the file, the next is the first one. */
  function lookAt(count: number): void {
    const found: Frame[] = [];
    const looked = eachPage(file, { pageBytes, from: next, count }, (page, content) => {
      if (sums.get(page) === UNKNOWN || changed.has(page)) return;
      const sum = sumOf(content);
      if (sums.get(page) !== sum) found.push({ page, sum });
    });
    next = looked < count ? 1 : next + looked;
    if (found.length === 0) return;
    // Somebody else may have made a checkpoint.
    const written = log.read();
    const others = found.filter(
      ({ page, sum }) => !written.some((frame) => frame.page === page && frame.sum === sum),
    );
    for (const { page, sum } of found) sums.set(page, sum);
    for (const { page, sum } of others) {
      changed.add(page);
      sums.set(page, another(sum));
    }
    sums.write("durable");
    if (others.length > 0) onChanged(others.length);
  }

  function lookAtAll(): void {
    seen = lastWrite(file);
    next = 1;
    lookAt(Number.POSITIVE_INFINITY);
    const count = pagesIn(file, pageBytes);
    let lacking = 0;
    for (let page = count + 1; page <= sums.pages(); page++) {
      if (sums.get(page) === UNKNOWN || changed.has(page)) continue;
      changed.add(page);
      lacking++;
    }
    if (lacking > 0) onChanged(lacking);
  }

  function tryCheckpoint(always?: "always"): void {
    try {
      if (always === undefined && !log.has(framesMax)) return;
      checkpoint();
      failure = undefined;
    } catch (error) {
      // What was committed is in the write-ahead log, and stays there until the next try.
      failure = error;
    }
  }

  return {
    checkpoint: tryCheckpoint,
    trouble() {
      if (failure === undefined || log.unwritten() < LENGTHS_MAX * framesMax) return undefined;
      tryCheckpoint("always");
      return failure;
    },
    look() {
      try {
        if (lastWrite(file) !== seen) lookAtAll();
        else lookAt(Math.max(LOOK_PAGES_MIN, Math.ceil(sums.pages() / LOOKS)));
      } catch {
        // What cannot be read is told to who needs it.
      }
    },
    end() {
      try {
        checkpoint();
      } catch {
        // Closing the database writes it all the same.
        rmSync(sumsOf(path), { force: true });
      }
    },
    close() {
      log.close();
      sums.close();
      closeSync(file);
    },
  };
}

/** Writes the sums of a file that nobody has open. */
export function sumPages(path: string, pageBytes: number): void {
  const sums: number[] = [];
  withFile(path, (file) =>
    eachPage(file, { pageBytes }, (page, content) => {
      sums[page - 1] = isToChange(page, content) ? UNKNOWN : sumOf(content);
    }),
  );
  writeFileSync(sumsOf(path), Uint32Array.from(sums), { mode: SUMS_MODE });
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
    const count = withFile(path, (file) =>
      eachPage(file, { pageBytes }, (page, content) => {
        if (pending.has(page)) return;
        const sum = sumOf(content);
        if (sums.get(page) !== UNKNOWN) {
          if (sums.get(page) !== sum) changed.push(page);
        } else if (!isToChange(page, content)) sums.set(page, sum);
      }),
    );
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

/** Never UNKNOWN. */
const sumOf = (content: Buffer): number => crc32(content) || 1;

/** What no page with this sum has. */
const another = (sum: number): number => sum ^ 1 || 2;

/** When the file was last written to, or renamed: nobody can set that back. */
const lastWrite = (file: number): bigint => fstatSync(file, { bigint: true }).ctimeNs;

/** The first page of a file that is not in WAL mode yet says so, until it is opened for writing. */
const isToChange = (page: number, content: Buffer): boolean =>
  page === 1 && content[WRITE_VERSION] !== IN_WAL_MODE;

const WRITE_VERSION = 18;
const IN_WAL_MODE = 2;

const pageBytesOf = (db: DatabaseSync): number =>
  Number(db.prepare("PRAGMA page_size").get()?.page_size);

function withFile<T>(path: string, work: (file: number) => T): T {
  const file = openSync(path, "r");
  try {
    return work(file);
  } finally {
    closeSync(file);
  }
}
