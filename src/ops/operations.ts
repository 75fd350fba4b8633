/**
 * Everything that a door may ask of the operations: looking after views, timeseries and jobs. Who
 * asks has shown the operator's token. Errors are CatalogErrors.
 */
import type { AuditPage, AuditQuery } from "../auth/audit.ts";
import type { Caller } from "../catalog/catalog.ts";
import type { Position } from "../core/position.ts";
import type { Ended, Job } from "./jobs.ts";
import type { Stalled } from "./readiness.ts";
import type { RebuildRequest } from "./rebuild.ts";
import type { RestoredBatch } from "./restored-text.ts";
import type { ScavengeRequest } from "./scavenge.ts";
import type { ServiceStatus } from "./status.ts";
import type { TaskQuery } from "./task-status.ts";
import type { DifferencesPage, DifferencesQuery, VerifyRequest } from "./verify.ts";

export type { Job } from "./jobs.ts";
export type { RebuildRequest } from "./rebuild.ts";
export type { ScavengeRequest } from "./scavenge.ts";
export type { ServiceStatus, ViewStatus } from "./status.ts";
export type { DifferencesPage, DifferencesQuery, VerifyRequest } from "./verify.ts";

export interface TruncateRequest {
  /** In any letter case. */
  readonly entityType: string;
  readonly aspect: string;
  /** Events that are strictly older go. Epoch milliseconds. */
  readonly endTimeMillis: number;
  /** True when absent. */
  readonly dryRun?: boolean | undefined;
  readonly batchSize?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly forceDeleteByQuery?: boolean | undefined;
  readonly forceReindex?: boolean | undefined;
}

/** Rows are the current aspects of entities, by urn and then by aspect. */
export interface RestoreRequest {
  readonly urn?: string | undefined;
  /** These entities, as many as they are. */
  readonly urns?: readonly string[] | undefined;
  /** SQL LIKE. */
  readonly urnLike?: string | undefined;
  readonly aspect?: string | undefined;
  readonly aspectNames?: readonly string[] | undefined;
  /** Rows to leave out at the beginning. */
  readonly start?: number | undefined;
  /** Rows of one batch. */
  readonly batchSize: number;
  /** Rows in all; 0: no limit. */
  readonly limit: number;
  /** Rows made in this time, both ends inclusive. Epoch milliseconds. */
  readonly gePitEpochMs?: number | undefined;
  readonly lePitEpochMs?: number | undefined;
  readonly createDefaultAspects?: boolean | undefined;
  /** Between two batches. */
  readonly batchDelayMs?: number | undefined;
  /** With urnBasedPagination: rows after this one. */
  readonly urnBasedPagination?: boolean | undefined;
  readonly lastUrn?: string | undefined;
  readonly lastAspect?: string | undefined;
}

/** How much the events of one timeseries aspect of one entity type take. */
export interface IndexSize {
  readonly entityType: string;
  readonly aspect: string;
  readonly bytes: number;
}

export interface ParkedQuery {
  readonly view: string;
  readonly urn: string;
}

/** An entity that a view passes over, because it could not take a record of it. */
export interface ParkedEntity extends ParkedQuery {
  /** Of the record that it could not take. */
  readonly position: Position;
  readonly reason: string;
  /** When it was parked, in epoch milliseconds. */
  readonly time: number;
  /** Later records of the entity that wait behind it, 1,000 at most. */
  readonly waiting: number;
}

/** What an operation says. */
export interface Outcome {
  readonly text: string;
  /** Where the log holds what was written by then; absent: nothing was. */
  readonly position?: Position;
}

/** What a restoration did: all of it, or what was done within some seconds; the job then goes on. */
export interface Restored extends Outcome {
  /** Of the job. */
  readonly id: string;
  readonly completed: boolean;
  readonly batches: readonly RestoredBatch[];
}

export interface Operations {
  /** The status of a job as JSON text, or `{"error":…}` for one that there is not (task-status.ts). */
  getTaskStatus(query: TaskQuery): Promise<string>;
  /** The newest first. */
  listJobs(page: {
    readonly start: number;
    readonly count: number;
  }): Promise<{ readonly total: number; readonly jobs: readonly Job[] }>;
  /** Throws `not_found`. */
  getJob(id: string): Promise<Job>;
  /** The job as it ended. Throws `not_found`, and `conflict` for one that cannot be cancelled. */
  cancelJob(id: string): Promise<Ended>;
  /** What a dry run found, in words; otherwise the id of the job. */
  truncateTimeseries(request: TruncateRequest, caller: Caller): Promise<Outcome>;
  /**
   * Takes what truncations took out of the log, too. What a dry run found, in words; otherwise the id
   * of the job. Throws `unavailable` for a log that keeps everything.
   */
  scavengeLog(request: ScavengeRequest, caller: Caller): Promise<Outcome>;
  /** What was restored, in words and in numbers. */
  restoreIndices(request: RestoreRequest, caller: Caller): Promise<Restored>;
  /**
   * Grows views anew beside those in use and puts them in their place; the id of the job. Throws
   * `invalid` for a view that there is not, `conflict` while others are rebuilt.
   */
  rebuildViews(request: RebuildRequest, caller: Caller): Promise<Outcome>;
  /**
   * Compares views with the log; the id of the job. Throws `invalid` for a view that cannot be,
   * `conflict` while that is done already.
   */
  verifyViews(request: VerifyRequest, caller: Caller): Promise<Outcome>;
  /** What was found last. Throws `invalid` for a view that cannot be verified. */
  listDifferences(query: DifferencesQuery): Promise<DifferencesPage>;
  /** What each timeseries aspect of each entity type takes. */
  getIndexSizes(): Promise<readonly IndexSize[]>;
  /** In the order of the log. Throws `invalid` for a view that there is not. */
  listParked(query: {
    readonly view?: string | undefined;
    readonly start: number;
    readonly count: number;
  }): Promise<{ readonly total: number; readonly entities: readonly ParkedEntity[] }>;
  /**
   * Makes the entity anew in the view; what it is parked with then, or undefined when the view has
   * it again. Throws `not_found`.
   */
  retryParked(query: ParkedQuery): Promise<ParkedEntity | undefined>;
  /** Passes over the record for ever, and retries. Throws `not_found`. */
  dropParked(query: ParkedQuery, caller: Caller): Promise<ParkedEntity | undefined>;
  /** Who did what; throws `malformed` for a count that is none. */
  listAuditEvents(query: AuditQuery): Promise<AuditPage>;
  /** How the service is (status.ts). */
  getStatus(): Promise<ServiceStatus>;
  /** Views that make no progress (readiness.ts). */
  stalledViews(): readonly Stalled[];
}
