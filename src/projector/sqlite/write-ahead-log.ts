/**
 * What a write-ahead log of SQLite holds (https://sqlite.org/fileformat2.html#the_write_ahead_log): a
 * header, and frames of a header and a page each. Those of its present round carry the header's salt;
 * the last one of a transaction says how many pages the database has, the others zero.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

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
