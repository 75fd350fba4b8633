/**
 * Encodes and decodes records of jobs: Avro JobRecord in single-object encoding. Their streams hold
 * no changes, so views ignore them.
 */
import type { JobCounts } from "../../core/job-counts.ts";
import type { LogRecord } from "../change-log.ts";
import { createSingleObjectCodec } from "./single-object.ts";

type JobState = "started" | "running" | "done" | "failed" | "cancelled";

export interface JobRecord {
  /** `<node>:<number>` */
  readonly id: string;
  readonly kind: string;
  readonly state: JobState;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Urn. */
  readonly actor: string;
  /** JSON text; only in the first record. */
  readonly request: string | null;
  /** Number of the earliest unfinished job; only in the first record. */
  readonly unfinishedFrom: number | null;
  /** JSON text. */
  readonly place: string | null;
  readonly resumed: number;
  readonly runNanos: number;
  readonly counts: JobCounts;
  readonly error: string | null;
}

const codec = createSingleObjectCodec<JobRecord>("JobRecord.avsc", "job");

export const encodeJob = codec.encode;

/** Throws CatalogError `internal` for a record that this release cannot read. */
export function decodeJob(record: LogRecord): JobRecord {
  const job = codec.decode(record);
  return { ...job, counts: { ...job.counts } };
}
