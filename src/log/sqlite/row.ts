/**
 * Encodes the data of a row: the records of one append as an Avro array of bytes in one block
 * (avro/log/AppendedRecords.avsc). Writes go directly into the buffer of a batch, reads return views
 * of the row's bytes, so records are not copied one by one.
 */

/** Size of the row of these records in bytes. */
export function rowBytes(records: readonly Uint8Array[]): number {
  let bytes = longBytes(records.length) + 1;
  for (const record of records) bytes += longBytes(record.length) + record.length;
  return bytes;
}

/** Writes the row at `start`; returns its end. */
export function writeRow(
  target: Uint8Array,
  start: number,
  records: readonly Uint8Array[],
): number {
  let at = writeLong(target, start, records.length);
  for (const record of records) {
    at = writeLong(target, at, record.length);
    target.set(record, at);
    at += record.length;
  }
  target[at] = 0;
  return at + 1;
}

/** The records of a row; undefined if the bytes are not a row of `count` records. */
export function readRow(row: Buffer, count: number): readonly Buffer[] | undefined {
  let at = 0;
  /** Reads a length; -1 for invalid bytes. */
  const readLong = (): number => {
    let value = 0;
    for (let factor = 1; factor <= FACTOR_MAX; factor *= 128) {
      const byte = row[at++];
      if (byte === undefined) return -1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -1;
    }
    return -1;
  };

  if (readLong() !== count) return undefined;
  const records: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const length = readLong();
    if (length < 0 || at + length > row.length) return undefined;
    records.push(row.subarray(at, at + length));
    at += length;
  }
  return readLong() === 0 && at === row.length ? records : undefined;
}

/** Five bytes of seven bits: more than any row that SQLite holds. */
const FACTOR_MAX = 128 ** 4;

/** Encodes a non-negative number as Avro's long: zigzag doubles it, then seven bits per byte. */
function writeLong(target: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value * 2;
  while (rest >= 0x80) {
    target[at++] = (rest % 0x80) + 0x80;
    rest = Math.floor(rest / 0x80);
  }
  target[at++] = rest;
  return at;
}

function longBytes(value: number): number {
  let bytes = 1;
  for (let rest = value * 2; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}
