/**
 * The operations on views, timeseries and jobs, for the HTTP API. The API authorizes requests
 * first: the admin token, or an access token of a user with the privilege of the operation. Errors
 * are CatalogErrors.
 */
import type { AuditPage, AuditQuery } from "../auth/audit.ts";
import type { Caller } from "../catalog/catalog.ts";
import type { Position } from "../core/position.ts";
import type { Ended, Job, OperationResult } from "./jobs.ts";
import type { RebuildRequest } from "./rebuild.ts";
import type { RestoredBatch, RestoreRequest } from "./restore/restore-response.ts";
import type { ScavengeRequest } from "./scavenge.ts";
import type { Stalled } from "./status/readiness.ts";
import type { ServiceStatus } from "./status/status.ts";
import type { TaskQuery } from "./task-status.ts";
import type { DifferencesPage, DifferencesQuery, VerifyRequest } from "./verify.ts";

export type { Job, OperationResult } from "./jobs.ts";
export type { RebuildRequest } from "./rebuild.ts";
export type { RestoreRequest } from "./restore/restore-response.ts";
export type { ScavengeRequest } from "./scavenge.ts";
export type { ServiceStatus, ViewStatus } from "./status/status.ts";
export type { DifferencesQuery, VerifyRequest } from "./verify.ts";

export interface TruncateRequest {
  /** In any letter case. */
  readonly entityType: string;
  readonly aspect: string;
  /** Removes events strictly older than this. Epoch milliseconds. */
  readonly endTimeMillis: number;
  /** True when absent. */
  readonly dryRun?: boolean | undefined;
  readonly batchSize?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly forceDeleteByQuery?: boolean | undefined;
  readonly forceReindex?: boolean | undefined;
}

/** Size of the events of one timeseries aspect of one entity type. */
export interface IndexSize {
  readonly entityType: string;
  readonly aspect: string;
  readonly bytes: number;
}

export interface ParkedQuery {
  readonly view: string;
  readonly urn: string;
}

/** An entity that a view skips, because it could not project a record of it. */
export interface ParkedEntity extends ParkedQuery {
  /** Of the record that the view could not project. */
  readonly position: Position;
  readonly reason: string;
  /** When it was parked, in epoch milliseconds. */
  readonly time: number;
  /** Number of later records of the entity, 1,000 at most. */
  readonly waiting: number;
}

/** The result of a restoration, or its progress after some seconds; the job then continues. */
export interface Restored extends OperationResult {
  /** Of the job. */
  readonly id: string;
  readonly completed: boolean;
  readonly batches: readonly RestoredBatch[];
}

export interface Operations {
  /** The status of a job as JSON text, `{"error":…}` for an unknown one (task-status.ts). */
  getTaskStatus(query: TaskQuery): Promise<string>;
  /** The newest first. */
  listJobs(page: {
    readonly start: number;
    readonly count: number;
  }): Promise<{ readonly total: number; readonly jobs: readonly Job[] }>;
  /** Throws `not_found`. */
  getJob(id: string): Promise<Job>;
  /** The ended job. Throws `not_found`, and `conflict` for a job that cannot be cancelled. */
  cancelJob(id: string): Promise<Ended>;
  /** The report of a dry run; otherwise the id of the job. */
  truncateTimeseries(request: TruncateRequest, caller: Caller): Promise<OperationResult>;
  /**
   * Removes truncated events from the log, too. The report of a dry run; otherwise the id of the
   * job. Throws `unavailable` for a log that cannot remove records.
   */
  scavengeLog(request: ScavengeRequest, caller: Caller): Promise<OperationResult>;
  /** The restored rows, as text and as numbers. */
  restoreIndices(request: RestoreRequest, caller: Caller): Promise<Restored>;
  /**
   * Builds staging generations of views and swaps them in; returns the id of the job. Throws
   * `invalid` for an unknown view, `conflict` during another rebuild.
   */
  rebuildViews(request: RebuildRequest, caller: Caller): Promise<OperationResult>;
  /**
   * Compares views with the log; returns the id of the job, which waits for other verifications.
   * Throws `invalid` for a view that cannot be verified.
   */
  verifyViews(request: VerifyRequest, caller: Caller): Promise<OperationResult>;
  /** Differences found by the last verification. Throws `invalid` for a view without one. */
  listDifferences(query: DifferencesQuery): Promise<DifferencesPage>;
  /** Size of each timeseries aspect of each entity type. */
  getIndexSizes(): Promise<readonly IndexSize[]>;
  /** In the order of the log. Throws `invalid` for an unknown view. */
  listParked(query: {
    readonly view?: string | undefined;
    readonly start: number;
    readonly count: number;
  }): Promise<{ readonly total: number; readonly entities: readonly ParkedEntity[] }>;
  /**
   * Projects the entity again; returns the new parking, or undefined on success. Throws
   * `not_found`.
   */
  retryParked(query: ParkedQuery): Promise<ParkedEntity | undefined>;
  /** Skips the record permanently, and retries. Throws `not_found`. */
  dropParked(query: ParkedQuery, caller: Caller): Promise<ParkedEntity | undefined>;
  /** A page of the audit trail. Throws `malformed` for an invalid count. */
  listAuditEvents(query: AuditQuery): Promise<AuditPage>;
  /** The state of the service (status.ts). */
  getStatus(): Promise<ServiceStatus>;
  /** Views that make no progress (readiness.ts). */
  stalledViews(): readonly Stalled[];
}
