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
import { closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { eachPage, lastWrite, pagesIn } from "./pages.ts";
import { openSums, SUMS_MODE, sumsOf, UNKNOWN } from "./sums-file.ts";
import { type Frame, followWal } from "./write-ahead-log.ts";

export interface PageSums {
  /** Before a transaction: what others may have done to the files is looked at while it can be told. */
  begin(): void;
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

/** A part of all pages is looked at in one go, within bounds: so that all are in some minutes. */
const LOOKS = 3_000;
const LOOK_PAGES = { min: 8, max: 256 };
/** Where others have written: some 40 milliseconds. */
const HURRIED_PAGES = 8_192;
/** A log of so many times the length that starts a checkpoint is too long. */
const LENGTHS_MAX = 8;

export interface Kept {
  /** Where the file is, and no link to it. */
  readonly path: string;
  /** Pages in the write-ahead log that start a checkpoint. */
  readonly framesMax: number;
  /** All pages are looked at soon: nobody has, since it was closed. */
  readonly hurried?: boolean | undefined;
  /** Called with the number of pages that were found to be others than were written. */
  readonly onChanged: (pages: number) => void;
}

/** For the only writer of a database, which must not checkpoint by itself. */
export function keepPageSums(db: DatabaseSync, kept: Kept): PageSums {
  const { path, framesMax, onChanged } = kept;
  const pageBytes = pageBytesOf(db);
  const log = followWal(`${path}-wal`, pageBytes, sumOf);
  const sums = openSums(path);
  const file = openSync(path, "r");
  const run = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
  /** Pages that are not as they were written, or were not. */
  const changed = new Set<number>();
  const isPending = pendingIn(log.read());
  for (let page = 1; page <= sums.pages(); page++) {
    if (sums.get(page) === UNKNOWN && !isPending(page)) believe(page);
  }
  let seen = lastWrite(file);
  let seenLog = log.lastWrite();
  let next = 1;
  /** Pages of which it is to be told soon, because others have written. */
  let hurried = kept.hurried === true ? pagesIn(file, pageBytes) : 0;
  let failure: unknown;

  function believe(page: number): void {
    eachPage(file, { pageBytes, from: page, count: 1 }, (page, content) =>
      sums.set(page, sumOf(content)),
    );
  }

  function checkpoint(): void {
    lookAtOthers();
    const frames = log.toBeWritten();
    if (frames.length === 0) return;
    // Of these alone it could not be told later.
    if (hurried > 0) lookAtEach(new Set(frames.map(({ page }) => page)));
    for (const { page } of frames) if (!changed.has(page)) sums.set(page, UNKNOWN);
    sums.write("durable");
    let done: { log: number; checkpointed: number };
    try {
      done = run.get() as typeof done;
    } finally {
      seen = lastWrite(file);
    }
    for (const { page, sum } of log.written(done.checkpointed, done.log)) {
      sums.set(page, changed.has(page) ? another(sum) : sum);
    }
    sums.write();
  }

  function lookAtOthers(): void {
    if (lastWrite(file) !== seen) {
      seen = lastWrite(file);
      next = 1;
      hurried = Math.max(pagesIn(file, pageBytes), sums.pages());
    }
    // In a transaction it may have been written to by that.
    if (db.isTransaction || log.lastWrite() === seenLog) return;
    seenLog = log.lastWrite();
    const frames = log.read();
    if (!log.isWhole()) tell(frames.map(({ page }) => page));
  }

  /** Pages from one on that have another sum than theirs, or had none; how many were looked at. */
  function compare(from: number, count: number) {
    const found: Frame[] = [];
    const unknown: Frame[] = [];
    const looked = eachPage(file, { pageBytes, from, count }, (page, content) => {
      const before = sums.get(page);
      if (changed.has(page)) return;
      const sum = sumOf(content);
      if (before !== sum) (before === UNKNOWN ? unknown : found).push({ page, sum });
    });
    return { found, unknown, looked };
  }

  function lookAtEach(pages: ReadonlySet<number>): void {
    try {
      const found = [...pages].flatMap((page) => compare(page, 1).found);
      tell(writtenByOthers(found));
    } catch {
      // What cannot be read is told to who needs it.
    }
  }

  /** After the last page of the file the first one is the next. */
  function lookAt(count: number): void {
    const from = next;
    const { found, unknown, looked } = compare(from, count);
    next = looked < count ? 1 : from + looked;
    hurried = looked < count ? 0 : Math.max(0, hurried - looked);
    const lacking: number[] = [];
    if (looked < count) {
      for (let page = from + looked; page <= sums.pages(); page++) {
        if (sums.get(page) !== UNKNOWN && !changed.has(page)) lacking.push(page);
      }
    }
    if (found.length + unknown.length + lacking.length === 0) return;
    const isPending = pendingIn(log.read());
    for (const { page, sum } of unknown) if (!isPending(page)) sums.set(page, sum);
    for (const { page, sum } of found) sums.set(page, sum);
    tell([...writtenByOthers(found), ...lacking]);
  }

  /** Those that are not there because somebody else has made a checkpoint. */
  const writtenByOthers = (found: readonly Frame[]): readonly number[] =>
    found.filter((frame) => !log.holds(frame)).map(({ page }) => page);

  function tell(pages: readonly number[]): void {
    for (const page of pages) {
      changed.add(page);
      sums.set(page, another(sums.get(page)));
    }
    if (pages.length > 0) onChanged(pages.length);
    sums.write("durable");
  }

  function tryCheckpoint(always?: "always"): void {
    try {
      // What was committed is its own.
      seenLog = log.lastWrite();
      if (always === undefined && !log.has(framesMax)) return;
      checkpoint();
      failure = undefined;
    } catch (error) {
      // What was committed is in the write-ahead log, and stays there until the next try.
      failure = error;
    }
  }

  return {
    begin() {
      try {
        lookAtOthers();
      } catch {
        // What cannot be read, or noted, is no reason not to write.
      }
    },
    checkpoint: tryCheckpoint,
    trouble() {
      if (failure === undefined || log.unwritten() < LENGTHS_MAX * framesMax) return undefined;
      tryCheckpoint("always");
      return failure;
    },
    look() {
      try {
        log.read();
        lookAtOthers();
        const part = Math.ceil(sums.pages() / LOOKS);
        const usual = Math.min(LOOK_PAGES.max, Math.max(LOOK_PAGES.min, part));
        lookAt(hurried > 0 ? Math.min(hurried, HURRIED_PAGES) : usual);
      } catch {
        // What cannot be read is told to who needs it.
        next++;
        hurried = Math.max(0, hurried - 1);
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

function pendingIn(frames: readonly Frame[]): (page: number) => boolean {
  const pages = new Set(frames.map(({ page }) => page));
  return (page) => pages.has(page);
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
    const frames = log.read();
    // The file may have some of them already, and is not brought back to before with the others.
    if (!log.isWhole()) return [...new Set(frames.map(({ page }) => page))];
    // They are about to be written again, and may be made of what stands there now.
    const isPending = pendingIn(frames);
    const changed: number[] = [];
    const count = withFile(path, (file) =>
      eachPage(file, { pageBytes }, (page, content) => {
        const sum = sumOf(content);
        if (sums.get(page) === UNKNOWN) {
          if (!isPending(page) && !isToChange(page, content)) sums.set(page, sum);
        } else if (sums.get(page) !== sum && !log.holds({ page, sum })) changed.push(page);
      }),
    );
    for (let page = count + 1; page <= sums.pages(); page++) {
      if (sums.get(page) !== UNKNOWN) changed.push(page);
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
