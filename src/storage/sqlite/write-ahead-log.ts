/**
 * Reads SQLite's write-ahead log (https://sqlite.org/fileformat2.html#the_write_ahead_log): a
 * header, and frames of a header and a page each. Current frames have the salt of the header; the
 * last frame of a transaction has the number of pages of the database, the others have zero.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Offset from which SQLite ignores durable frames; undefined without evidence of ignored frames.
 * SQLite ends the log at the first frame whose checksum does not continue that of the previous
 * frame. The rest of a torn or rolled-back transaction may follow; no later frame continues its
 * checksums. If a later transaction does continue the checksums of another one, both were durable,
 * and the frames before them are damaged.
 */
export const damagedFrom = (path: string): number | undefined => inspectWal(path).damaged;

interface WalFindings {
  /** As damagedFrom returns it. */
  readonly damaged?: number | undefined;
  /**
   * Offset of an incomplete last transaction; undefined if there is none, or if there is damage.
   * SQLite discards these bytes. They are a write in progress when the process ended, or a damaged
   * last transaction: the two cannot be distinguished.
   */
  readonly unfinished?: number | undefined;
}

export function inspectWal(path: string): WalFindings {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // There is no log, or opening the view reports the error.
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
    // Another header: the log was restarted during the inspection.
    return now.equals(header) ? findings : {};
  } finally {
    closeSync(file);
  }
}

function inspectFrames(file: number, pageBytes: number, salt: Buffer): WalFindings {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + pageBytes);
  const sum = createWalSum(file);
  let damaged: number | undefined;
  /** Ends of the last complete transaction, and of the last current frame. */
  let complete = HEADER_BYTES;
  let present = HEADER_BYTES;
  /** The previous frame ends a transaction. */
  let ended = false;
  for (let at = HEADER_BYTES; ; at += frame.length) {
    if (readSync(file, frame, 0, frame.length, at) < frame.length) {
      return present > complete ? { unfinished: complete } : {};
    }
    sum.add(frame.subarray(0, 8));
    sum.add(frame.subarray(FRAME_HEADER_BYTES));
    const stored = frame.subarray(16, 24);
    const isPresent = frame.subarray(8, 16).equals(salt);
    const fits = isPresent && sum.is(stored);
    if (fits && ended && damaged !== undefined) return { damaged };
    if (!fits) damaged ??= at;
    ended = frame.readUInt32BE(4) !== 0;
    if (isPresent) present = at + frame.length;
    if (ended && damaged === undefined) complete = present;
    sum.continueFrom(stored);
  }
}

/**
 * The running checksum of a write-ahead log, starting after its header, which determines the byte
 * order. Stored checksums have eight bytes.
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
    is: (stored: Buffer): boolean =>
      stored.readUInt32BE(0) === first && stored.readUInt32BE(4) === second,
    /** Continues from this checksum. */
    continueFrom(stored: Buffer): void {
      first = stored.readUInt32BE(0);
      second = stored.readUInt32BE(4);
    },
  };
}
