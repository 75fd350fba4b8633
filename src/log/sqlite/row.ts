/**
 * The data of a row: the records of one append as an Avro array of bytes in one block
 * (avro/log/AppendedRecords.avsc). Written straight into the buffer of a batch, read as views of
 * the row's own bytes: no record is copied on its own.
 */

/** Bytes of the row of these records. */
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

/** The records of a row of `count`; undefined when the bytes are not such a row. */
export function readRow(row: Buffer, count: number): readonly Buffer[] | undefined {
  let at = 0;
  /** A length, or -1 for bytes that are none. */
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

/** Avro's long of a number that is not negative: zigzag doubles it, then seven bits a byte. */
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
