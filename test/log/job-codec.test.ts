/** Records of jobs (src/log/codecs/job-codec.ts). */
import { readFileSync } from "node:fs";
import avro, { type Schema } from "avsc";
import { describe, expect, test } from "vitest";
import { position, revision } from "../../src/core/position.ts";
import { JOBS, jobStream, parseStream } from "../../src/core/stream.ts";
import type { LogRecord } from "../../src/log/change-log.ts";
import { fingerprint } from "../../src/log/codecs/fingerprint.ts";
import { decodeJob, encodeJob, type JobRecord } from "../../src/log/codecs/job-codec.ts";
import { decodeRecord } from "../../src/log/codecs/record-codec.ts";

const schema = JSON.parse(
  readFileSync(new URL("../../avro/log/JobRecord.avsc", import.meta.url), "utf8"),
) as Schema;

const record: JobRecord = {
  id: "aB1_-:7",
  kind: "truncate",
  state: "running",
  time: 1_700_000_000_000,
  actor: "urn:li:corpuser:jdoe",
  request: '{"entityType":"dataset"}',
  unfinishedFrom: 5,
  place: '{"position":9}',
  resumed: 1,
  runNanos: 123_456_789,
  counts: { total: 9, updated: 1, created: 2, deleted: 3, noops: 4, batches: 5 },
  error: null,
};

/** The record above, as the first release wrote it. */
const written =
  "c30170bc96248addc5150e6142315f2d3a37107472756e6361746502" +
  "80a0abfef9622875726e3a6c693a636f7270757365723a6a646f6502307b22656e7469747954797065223a22646174" +
  "61736574227d020a021c7b22706f736974696f6e223a397d02aab4de7512020406080a00";

const placed = (data: Uint8Array): LogRecord => ({
  position: position(17),
  revision: revision(2),
  stream: jobStream(record.id),
  data,
});

describe("a job record", () => {
  test("a job record is decoded to the same record", () => {
    expect(decodeJob(placed(encodeJob(record)))).toEqual(record);
    const last = { ...record, state: "failed", request: null, place: null, error: "é" } as const;
    expect(decodeJob(placed(encodeJob(last)))).toEqual(last);
  });

  test("a changed schema must be added to the history", () => {
    // Another number here means that earlier records need their schema kept: avro/log/README.md.
    expect(fingerprint(avro.Type.forSchema(schema)).toString(16)).toBe("15c5dd8a2496bc70");
  });

  test("a job record has the encoding of the first release, and can be read from it", () => {
    expect(Buffer.from(encodeJob(record)).toString("hex")).toBe(written);
    expect(decodeJob(placed(Buffer.from(written, "hex")))).toEqual(record);
  });

  test("a job record holds no change, and views skip it", () => {
    expect(parseStream(JOBS)).toBeUndefined();
    expect(parseStream(jobStream(record.id))).toBeUndefined();
    expect(decodeRecord(placed(encodeJob(record)))).toBeUndefined();
  });

  test.each([
    ["empty", new Uint8Array()],
    ["of another schema", Buffer.from("c3010102030405060708ff", "hex")],
    ["cut short", encodeJob(record).subarray(0, 40)],
    ["too long", Buffer.concat([encodeJob(record), Buffer.from([0])])],
  ])("a job record that is %s is rejected with its position", (_, data) => {
    expect(() => decodeJob(placed(data))).toThrow(
      expect.objectContaining({
        code: "unreadable",
        message: expect.stringContaining('position 17 of stream "job-aB1_-:7"'),
      }),
    );
  });
});
