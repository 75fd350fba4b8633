import { readFileSync } from "node:fs";
import avro from "avsc";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readRow, rowBytes, writeRow } from "../../../src/log/sqlite/row.ts";

const type = avro.Type.forSchema(
  JSON.parse(
    readFileSync(new URL("../../../avro/log/AppendedRecords.avsc", import.meta.url), "utf8"),
  ),
);

const recordsArbitrary = fc.array(fc.uint8Array({ maxLength: 300 }), {
  minLength: 1,
  maxLength: 80,
});

function write(records: readonly Uint8Array[]): Buffer {
  const row = Buffer.alloc(rowBytes(records));
  expect(writeRow(row, 0, records)).toBe(row.length);
  return row;
}

test("a row is the array of bytes that its schema defines", () => {
  fc.assert(
    fc.property(recordsArbitrary, (records) => {
      const row = write(records);
      expect(row.equals(type.toBuffer(records.map((each) => Buffer.from(each))))).toBe(true);
      const read = readRow(row, records.length);
      expect(read?.map((each) => [...each])).toEqual(records.map((each) => [...each]));
    }),
  );
});

test.each([0, 1, 63, 64, 8_191, 8_192, 1_048_576])("a record may have %i bytes", (length) => {
  const record = new Uint8Array(length).fill(9);
  const read = readRow(write([record, record]), 2);
  expect(read?.map((each) => Buffer.compare(each, record))).toEqual([0, 0]);
});

test("a row is written at the given offset and nowhere else", () => {
  const target = new Uint8Array(12).fill(255);
  const end = writeRow(target, 3, [Uint8Array.of(1, 2), Uint8Array.of(3)]);
  expect(end).toBe(3 + rowBytes([Uint8Array.of(1, 2), Uint8Array.of(3)]));
  expect([...target]).toEqual([255, 255, 255, 4, 4, 1, 2, 2, 3, 0, 255, 255]);
});

test("a truncated, extended or miscounted row is rejected", () => {
  const row = write([Uint8Array.of(1, 2, 3), new Uint8Array(100)]);
  for (let end = 0; end < row.length; end++) {
    expect(readRow(row.subarray(0, end), 2)).toBeUndefined();
  }
  expect(readRow(Buffer.concat([row, Buffer.from([0])]), 2)).toBeUndefined();
  expect(readRow(row, 1)).toBeUndefined();
  expect(readRow(row, 3)).toBeUndefined();
  expect(readRow(Buffer.alloc(20, 255), 2)).toBeUndefined();
});
