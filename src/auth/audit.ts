/**
 * Port of the audit trail: who did what, from where, when, allowed or refused. What the catalog
 * wrote is in the log with its actor already; here is what leaves no other record.
 */
import type { Position } from "../core/position.ts";

export type AuditOutcome = "allowed" | "refused" | "failed";

/** Something that happened just now. None of its texts may hold a secret. */
export interface AuditNote {
  /** Name of the operation: restoreIndices, createAccessToken, … */
  readonly action: string;
  readonly outcome: AuditOutcome;
  /** Urn of who asked; undefined: nobody was known to. */
  readonly actor?: string | undefined;
  /** Other end of the connection. */
  readonly address?: string | undefined;
  /** The entity that it was about. */
  readonly urn?: string | undefined;
  readonly detail?: string | undefined;
}

export interface AuditEvent extends AuditNote {
  /** Of its record in the log. */
  readonly position: Position;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Of a write of the catalog: the aspect; its action is UPSERT, RESTATE or DELETE. */
  readonly aspect?: string | undefined;
  /** How often, where the same was counted: refusals of a minute. */
  readonly count: number;
}

/** Which events; what is absent does not narrow them. */
export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly urn?: string | undefined;
  /** Epoch milliseconds, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** False: without the writes of the catalog. */
  readonly writes?: boolean | undefined;
  /** Only what the log has before this position: where the page before ended. */
  readonly before?: Position | undefined;
  readonly count: number;
}

export interface AuditPage {
  /** The newest first. There may be none before the end. */
  readonly events: readonly AuditEvent[];
  /** Everything from here on was looked at: `before` of the next page. */
  readonly position: Position;
  /** There are no more. */
  readonly end: boolean;
}

export interface AuditTrail {
  /** Written in the background, within a second or two. Never fails. */
  note(note: AuditNote): void;
  /** A token was shown and accepted; written at most once an hour, or when the address changes. */
  noteUse(use: { readonly urn: string; readonly actor: string; readonly address: string }): void;
  /** When a token was last used, in epoch milliseconds, to the hour. */
  lastUse(urn: string): Promise<number | undefined>;
  list(query: AuditQuery): Promise<AuditPage>;
}
