/**
 * Records of jobs and back: Avro JobRecord in single-object encoding, as every record of the log.
 * They are in streams of their own, which hold no changes: no view is made of them.
 */
import type { JobCounts } from "../core/job-counts.ts";
import type { LogRecord } from "./change-log.ts";
import { createSingleObjectCodec } from "./single-object.ts";

export type JobState = "started" | "running" | "done" | "failed" | "cancelled";

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

const codec = createSingleObjectCodec<JobRecord>("JobRecord.avsc", "job");

export const encodeJob = codec.encode;

/** Throws CatalogError `internal` for what this release cannot read. */
export function decodeJob(record: LogRecord): JobRecord {
  const job = codec.decode(record);
  return { ...job, counts: { ...job.counts } };
}
