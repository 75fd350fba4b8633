/**
 * Encodes arrays as parameters in PostgreSQL's binary format: each column of rows is one parameter. The
 * text format would require escaping, which is expensive for JSON texts.
 */
import { hash } from "node:crypto";

const BOOL = 16;
const INT8 = 20;
const INT4 = 23;
const TEXT = 25;

const HEADER_BYTES = 20;

type Column<T> = readonly (T | undefined)[];

/** Whole numbers up to 2^53. */
export function int8Array(numbers: Column<number>): Buffer {
  return fixedArray(INT8, 8, numbers, (buffer, number, at) => {
    buffer.writeInt32BE(Math.floor(number / 2 ** 32), at);
    buffer.writeUInt32BE(number >>> 0, at + 4);
  });
}

export function int4Array(numbers: Column<number>): Buffer {
  return fixedArray(INT4, 4, numbers, (buffer, number, at) => buffer.writeInt32BE(number, at));
}

export function boolArray(facts: Column<boolean>): Buffer {
  return fixedArray(BOOL, 1, facts, (buffer, fact, at) => buffer.writeUInt8(fact ? 1 : 0, at));
}

/** The hashes of urns, as int8. */
export function hashArray(urns: readonly string[]): Buffer {
  return fixedArray(INT8, 8, urns, (buffer, urn, at) => {
    hash("sha256", urn, "buffer").copy(buffer, at, 0, 8);
  });
}

export function textArray(texts: Column<string>): Buffer {
  let bytes = 0;
  for (const text of texts) bytes += 4 + (text === undefined ? 0 : Buffer.byteLength(text));
  const buffer = header(TEXT, texts, bytes);
  let at = HEADER_BYTES;
  for (const text of texts) {
    const written = text === undefined ? -1 : buffer.write(text, at + 4);
    buffer.writeInt32BE(written, at);
    at += 4 + Math.max(0, written);
  }
  return buffer;
}

function fixedArray<T>(
  type: number,
  size: number,
  items: Column<T>,
  write: (buffer: Buffer, item: T, at: number) => void,
): Buffer {
  const missing = items.reduce((count, item) => (item === undefined ? count + 1 : count), 0);
  const buffer = header(type, items, items.length * (4 + size) - missing * size);
  let at = HEADER_BYTES;
  for (const item of items) {
    buffer.writeInt32BE(item === undefined ? -1 : size, at);
    at += 4;
    if (item === undefined) continue;
    write(buffer, item, at);
    at += size;
  }
  return buffer;
}

/** Header of an array with one dimension that begins at 1. */
function header(type: number, items: Column<unknown>, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(items.includes(undefined) ? 1 : 0, 4);
  buffer.writeInt32BE(type, 8);
  buffer.writeInt32BE(items.length, 12);
  buffer.writeInt32BE(1, 16);
  return buffer;
}
