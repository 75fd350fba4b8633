/**
 * What a write-ahead log of SQLite holds (https://sqlite.org/fileformat2.html#the_write_ahead_log): a
 * header, and frames of a header and a page each. Those of its present round carry the header's salt;
 * the last one of a transaction says how many pages the database has, the others zero.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

/** A page, by its number from 1 on, and the sum of what the frame holds of it. */
export interface Frame {
  readonly page: number;
  readonly sum: number;
}

/** Read at a time. */
const CHUNK_BYTES = 4 * 1024 * 1024;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Beside the database's only writer, or where nobody writes; there may be no log yet. `sumOf`: of a page. */
export function followWal(path: string, pageBytes: number, sumOf: (page: Buffer) => number) {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const placeOf = (frame: number): number => HEADER_BYTES + frame * frameBytes;
  let file: number | undefined;
  let chunk: Buffer | undefined;
  let salt = Buffer.alloc(8);
  /** Frames that were read, and how many of these are in the database. */
  let frames: Frame[] = [];
  let written = 0;
  /** How many had been read when it was last asked for those to be written. */
  let asked = 0;
  /** Those of the round before, all of which are in the database. */
  let former: readonly Frame[] = [];

  /** Whether there is a log; one that begins anew holds nothing of what was read. */
  function look(): boolean {
    if (file === undefined && existsSync(path)) file = openSync(path, "r");
    const header = Buffer.alloc(HEADER_BYTES);
    if (file === undefined || readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES)
      return false;
    const now = header.subarray(16, 24);
    if (!now.equals(salt)) {
      salt = now;
      former = frames;
      frames = [];
      written = 0;
      asked = 0;
    }
    return true;
  }

  /** The frames of whole transactions that were not told as written. */
  function read(): readonly Frame[] {
    if (!look() || file === undefined) return [];
    chunk ??= Buffer.allocUnsafe(Math.ceil(CHUNK_BYTES / frameBytes) * frameBytes);
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
        if (!sum.is(frame.subarray(16, 24))) return false;
      }
      return true;
    },
    /** The same, to be written to the database now. */
    toBeWritten(): readonly Frame[] {
      const all = read();
      asked = frames.length;
      return all;
    },
    /** Whether it has so many frames beside those that were asked for. */
    has(count: number): boolean {
      if (!look() || file === undefined) return false;
      const header = Buffer.alloc(FRAME_HEADER_BYTES);
      const read = readSync(file, header, 0, header.length, placeOf(asked + count - 1));
      return read === header.length && header.subarray(8, 16).equals(salt);
    },
    /** Whether the database may have this of the page because somebody else has made a checkpoint. */
    holds({ page, sum }: Frame): boolean {
      const of = (frame: Frame): boolean => frame.page === page;
      return (
        frames.slice(written).some((frame) => of(frame) && frame.sum === sum) ||
        former.findLast(of)?.sum === sum
      );
    },
    /** When it was last written to; undefined where there is none. */
    lastWrite(): bigint | undefined {
      // Who opens it as root gives it to root once more, which changes the other stamp.
      return look() && file !== undefined ? fstatSync(file, { bigint: true }).mtimeNs : undefined;
    },
    /** Frames that were read and not told as written. */
    unwritten: () => frames.length - written,
    /**
     * Of `total` frames the first `count` are in the database: those of them that were not told
     * before, and have no later ones of the same page. What was read beyond them is what a crash has
     * left; others may have written meanwhile.
     */
    written(count: number, total: number): readonly Frame[] {
      const before = salt;
      if (total !== frames.length) read();
      // It was busy, or somebody else has begun it anew.
      if (total < 0 || salt !== before) return [];
      frames.length = Math.min(frames.length, total);
      // A page of which a later frame may not be written yet is not written at all.
      const later = new Set(frames.slice(count).map(({ page }) => page));
      const told = frames.slice(written, count).filter(({ page }) => !later.has(page));
      written = Math.max(written, count);
      return told;
    },
    close(): void {
      if (file !== undefined) closeSync(file);
    },
  };
}

/**
 * From which byte on SQLite would not take what was durable; undefined where that cannot be told. SQLite
 * ends a log at the first frame that does not fit to those before it.
 * Behind that may lie the rest of transactions that a power cut has torn, or that could not be made
 * durable and went back: of one each, whose rest nothing follows that fits to it. Where another
 * transaction fits to the end of one, both were there, and what lies before them is damaged.
 */
export const damagedFrom = (path: string): number | undefined => inspectWal(path).damaged;

export interface WalFindings {
  /** As damagedFrom returns it. */
  readonly damaged?: number | undefined;
  /**
   * From which byte on the present round is not a complete transaction; undefined where it is, and with certain damage.
   * SQLite discards these bytes. They are a write that was under way when the process ended, or a damaged last
   * transaction: both look the same.
   */
  readonly unfinished?: number | undefined;
}

export function inspectWal(path: string): WalFindings {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // There is none, or whoever opens it is told why not.
    return {};
  }
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return {};
    const pageBytes = header.readUInt32BE(8);
    const isPage = pageBytes >= 512 && pageBytes <= 65_536;
    const whole = isPage && createWalSum(file).is(header.subarray(24));
    if (!whole) return fstatSync(file).size > HEADER_BYTES ? { damaged: 0 } : {};
    const findings = inspectFrames(file, pageBytes, header.subarray(16, 24));
    const now = Buffer.alloc(HEADER_BYTES);
    readSync(file, now, 0, HEADER_BYTES, 0);
    // Else somebody has begun it anew meanwhile.
    return now.equals(header) ? findings : {};
  } finally {
    closeSync(file);
  }
}

function inspectFrames(file: number, pageBytes: number, salt: Buffer): WalFindings {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + pageBytes);
  const sum = createWalSum(file);
  let damaged: number | undefined;
  /** Ends of the last complete transaction, and of the last frame of the present round. */
  let complete = HEADER_BYTES;
  let present = HEADER_BYTES;
  /** Whether the frame before it ends a transaction. */
  let ended = false;
  for (let at = HEADER_BYTES; ; at += frame.length) {
    if (readSync(file, frame, 0, frame.length, at) < frame.length) {
      return present > complete ? { unfinished: complete } : {};
    }
    sum.add(frame.subarray(0, 8));
    sum.add(frame.subarray(FRAME_HEADER_BYTES));
    const told = frame.subarray(16, 24);
    const isPresent = frame.subarray(8, 16).equals(salt);
    const fits = isPresent && sum.is(told);
    if (fits && ended && damaged !== undefined) return { damaged };
    if (!fits) damaged ??= at;
    ended = frame.readUInt32BE(4) !== 0;
    if (isPresent) present = at + frame.length;
    if (ended && damaged === undefined) complete = present;
    sum.goOn(told);
  }
}

/**
 * The checksum of a write-ahead log, as it is after its header, which says in which order bytes are
 * taken. Sums that are told are eight bytes.
 */
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
  return {
    add,
    is: (told: Buffer): boolean =>
      told.readUInt32BE(0) === first && told.readUInt32BE(4) === second,
    /** As if what was added had this sum. */
    goOn(told: Buffer): void {
      first = told.readUInt32BE(0);
      second = told.readUInt32BE(4);
    },
  };
}
