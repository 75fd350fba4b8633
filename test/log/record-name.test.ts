/** Names of records: they show if a log has the last record that a view covers. */
import { describe, expect, test } from "vitest";
import { position, revision } from "../../src/core/position.ts";
import type { LogRecord } from "../../src/log/change-log.ts";
import { encodeChange } from "../../src/log/codecs/record-codec.ts";
import { holdsRecord, nameOf, parseRecordName } from "../../src/log/record-name.ts";
import { scavengedChange } from "../../src/log/scavenged.ts";

const urn = "urn:li:dataset:(urn:li:dataPlatform:hive,a,PROD)";

const record = (at: number, data = `data ${at}`, stream = "entity-urn:li:tag:a"): LogRecord => ({
  position: position(at),
  stream,
  revision: revision(at - 1),
  data: new Uint8Array(Buffer.from(data)),
});

const logOf = (records: readonly LogRecord[], firstKept?: number) => ({
  readStream: async (stream: string, from: number | "end", { limit }: { limit: number }) =>
    records.filter((one) => one.stream === stream && one.revision >= Number(from)).slice(0, limit),
  ...(firstKept !== undefined && { firstKept: async () => revision(firstKept) }),
});

const named = (one: LogRecord) => parseRecordName(nameOf(one));

describe("a log holds a record", () => {
  test("a log holds a record at the same position with the same data", async () => {
    expect(await holdsRecord(logOf([record(1), record(2)]), named(record(2)))).toBe(true);
  });

  test("a log holds a scavenged record without its value", async () => {
    const event = {
      ...{ urn, entityType: "dataset", aspect: "datasetProfile", changeType: "UPSERT" as const },
      value: '{"timestampMillis":1}',
      created: { time: 5, actor: "urn:li:corpuser:ada" },
      system: { lastObserved: 5, runId: "r" },
    };
    const stream = `timeseries-datasetProfile-${urn}`;
    const whole = { ...record(1, "", stream), data: encodeChange(event) };
    const scavenged = { ...whole, data: encodeChange(scavengedChange(event, 9)) };
    expect(await holdsRecord(logOf([scavenged]), named(whole))).toBe(true);
    const other = { ...event, created: { time: 6, actor: "urn:li:corpuser:ada" } };
    const replaced = { ...whole, data: encodeChange(other) };
    expect(await holdsRecord(logOf([replaced]), named(whole))).toBe(false);
  });

  test("a log holds a record that the store removed with the beginning of its stream", async () => {
    expect(await holdsRecord(logOf([record(3)]), named(record(1)))).toBe(true);
    expect(await holdsRecord(logOf([], 2), named(record(1)))).toBe(true);
  });
});

describe("a log does not hold a record", () => {
  test("a log does not hold a record that it never had", async () => {
    expect(await holdsRecord(logOf([record(1)]), named(record(2)))).toBe(false);
    expect(await holdsRecord(logOf([record(1)], 0), named(record(2)))).toBe(false);
    expect(await holdsRecord(logOf([], 1), named(record(2)))).toBe(false);
  });

  test("a log does not hold a record if another one is at its position", async () => {
    expect(await holdsRecord(logOf([record(1), record(2, "other")]), named(record(2)))).toBe(false);
  });

  test("a log does not hold a record that is at another position", async () => {
    const moved = { ...record(2), position: position(7) };
    expect(await holdsRecord(logOf([record(1), moved]), named(record(2)))).toBe(false);
  });
});
