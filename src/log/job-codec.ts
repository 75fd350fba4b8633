/**
 * Records of jobs and back: Avro JobRecord in single-object encoding, as every record of the log.
 * They are in streams of their own, which hold no changes: no view is made of them.
 */
import { readFileSync } from "node:fs";
import avro, { type Schema } from "avsc";
import { CatalogError } from "../core/errors.ts";
import type { LogRecord } from "./change-log.ts";
import { fingerprint } from "./fingerprint.ts";

export type JobState = "started" | "running" | "done" | "failed" | "cancelled";

/** What a job has done; what it is that is counted, its kind says. */
export interface JobCounts {
  /** What there is to do, as far as known. */
  readonly total: number;
  readonly updated: number;
  readonly created: number;
  readonly deleted: number;
  readonly noops: number;
  readonly batches: number;
}

export interface JobRecord {
  /** `<node>:<number>` */
  readonly id: string;
  readonly kind: string;
  readonly state: JobState;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Urn. */
  readonly actor: string;
  /** JSON text; of the first record. */
  readonly request: string | null;
  /** Number of the earliest job that had not ended; of the first record. */
  readonly unfinishedFrom: number | null;
  /** JSON text. */
  readonly place: string | null;
  readonly resumed: number;
  readonly runNanos: number;
  readonly counts: JobCounts;
  readonly error: string | null;
}

const HEADER_BYTES = 10;
const FINGERPRINT_AT = 2;

const schema = JSON.parse(
  readFileSync(new URL("../../avro/log/JobRecord.avsc", import.meta.url), "utf8"),
) as Schema;
const type = avro.Type.forSchema(schema);
const header = Buffer.alloc(HEADER_BYTES);
header.writeUInt16BE(0xc301);
header.writeBigUInt64LE(fingerprint(type), FINGERPRINT_AT);

export const encodeJob = (record: JobRecord): Uint8Array =>
  Buffer.concat([header, type.toBuffer(record)]);

/** Throws CatalogError `internal` for what this release cannot read. */
export function decodeJob({ data, position, stream }: LogRecord): JobRecord {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  try {
    if (
      bytes.length < HEADER_BYTES ||
      bytes.compare(header, 0, HEADER_BYTES, 0, HEADER_BYTES) !== 0
    )
      throw new Error("its schema is unknown");
    const record: JobRecord = type.fromBuffer(bytes.subarray(HEADER_BYTES));
    return { ...record, counts: { ...record.counts } };
  } catch (cause) {
    throw new CatalogError(
      "internal",
      `record at position ${position} of stream "${stream}" tells of no job: ${(cause as Error).message}`,
      { hint: "A later release wrote it, or the log is damaged", cause },
    );
  }
}
