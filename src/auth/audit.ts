/**
 * Port of the audit trail: caller, address, time and outcome of operations. The log already records
 * writes with their actor; the trail records operations and rejections that leave no other record.
 */
import type { Position } from "../core/position.ts";

export type AuditOutcome = "allowed" | "refused" | "failed";

/** An event that just happened. Its texts must not contain secrets. */
export interface AuditEntry {
  /** Name of the operation: restoreIndices, createAccessToken, … */
  readonly action: string;
  readonly outcome: AuditOutcome;
  /** Urn of the caller; undefined for anonymous requests. */
  readonly actor?: string | undefined;
  /** Remote address of the connection. */
  readonly address?: string | undefined;
  /** The affected entity. */
  readonly urn?: string | undefined;
  readonly detail?: string | undefined;
}

export interface AuditEvent extends AuditEntry {
  /** Position of its record in the log. */
  readonly position: Position;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Aspect of a catalog write; the action of a write is UPSERT, RESTATE or DELETE. */
  readonly aspect?: string | undefined;
  /** Number of equal events that the record counts, such as rejections within a minute. */
  readonly count: number;
}

/** Filter of events; absent members do not restrict. */
export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly urn?: string | undefined;
  /** Epoch milliseconds, inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** False omits the writes of the catalog. */
  readonly writes?: boolean | undefined;
  /** Only events before this position: the `position` of the previous page. */
  readonly before?: Position | undefined;
  readonly count: number;
}

export interface AuditPage {
  /** Newest first. A page before the end may be empty. */
  readonly events: readonly AuditEvent[];
  /** Everything from this position on was scanned: `before` of the next page. */
  readonly position: Position;
  /** True when the trail has no older events. */
  readonly end: boolean;
}

export interface AuditTrail {
  /** Written in the background, within a second or two. Never fails. */
  record(note: AuditEntry): void;
  /** An accepted token was used. Written at most once an hour, or when the address changes. */
  recordUse(use: { readonly urn: string; readonly actor: string; readonly address: string }): void;
  /** When a token was last used, in epoch milliseconds, to the hour. */
  lastUse(urn: string): Promise<number | undefined>;
  list(query: AuditQuery): Promise<AuditPage>;
}
