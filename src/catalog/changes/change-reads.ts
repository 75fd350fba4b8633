/**
 * Reads of changes, as events or by their meaning: part of the catalog's interface (catalog.ts).
 */
import type { PlacedChange, SystemMetadata } from "../../core/change.ts";
import type { JsonDiffOperation } from "../../core/patch/json-diff.ts";
import type { PlatformEvent } from "../../core/platform-event.ts";
import type { Position } from "../../core/position.ts";
import type { SemanticChange, SemanticChangeType } from "../../core/timeline/semantic-changes.ts";
import type { Caller } from "../write/writes.ts";

/** Maximum number of changes in a page. */
export const changesMax = 1_000;

/** Selects changes; an absent member selects all. */
export interface ChangesFilter {
  readonly entityTypes?: readonly string[] | undefined;
  readonly aspects?: readonly string[] | undefined;
  readonly urns?: readonly string[] | undefined;
  /** Changes of versioned aspects, or events of timeseries aspects. */
  readonly kind?: "versioned" | "timeseries" | undefined;
  /** Include previous values. */
  readonly previous?: boolean | undefined;
  /** Include the platform events of producers, whose urn is empty (core/platform-event.ts). */
  readonly platformEvents?: boolean | undefined;
}

export interface ChangeEntry {
  readonly change: PlacedChange;
  /** The previous value as JSON text, with its latest system metadata. */
  readonly previous?: { readonly value: string; readonly system: SystemMetadata } | undefined;
  /** With previous values, for the event of a run: its relationships as JSON text. */
  readonly relationships?: string | undefined;
}

export interface ChangePage {
  /** In the order of the log; backward: newest first. */
  readonly changes: readonly ChangeEntry[];
  /** The page covers the log up to here; the next page starts after it, or before it. */
  readonly position: Position;
}

export type { PlatformEvent };

/** The changes that one write made to an entity. */
export interface ChangeTransaction {
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** Urn. */
  readonly actor: string;
  /**
   * `1.2.0-computed`: the entity's version after the write. semVerChange is the part that
   * increased.
   */
  readonly semVer: string;
  readonly semVerChange: SemanticChangeType;
  readonly changeEvents: readonly SemanticChange[];
  /** Version of every aspect of the entity after the write: `<aspect>:<n>;…`. */
  readonly versionStamp: string;
  /** JSON Patch of the previous values, one changed aspect after another. */
  readonly rawDiff?: readonly JsonDiffOperation[] | undefined;
}

export interface ChangeReads {
  /**
   * A page of changes after a position, since a time, or from the start of the log: in the order of the log, at most
   * `limit`, without records that only confirm a value. `end`: no change follows at present. Without
   * it, continue after `position`, even if the page has no changes. A position beyond the head of the
   * log is `invalid`. A page ends before an unreadable record; a page that would begin with it is
   * `unreadable`. The same holds for `followChanges`.
   *
   * With `before`, the changes before that position, newest first: continue before `position`. `end`:
   * there are no earlier ones.
   *
   * The changes of up to 10 urns are read from the streams of these entities, all others by a scan of
   * the log, as are those before a position. The streams are those of the entity and of every timeseries
   * aspect of the model.
   */
  readChanges(
    query: ChangesFilter & {
      readonly after?: Position | undefined;
      readonly before?: Position | "end" | undefined;
      /** Without `after`: epoch milliseconds. */
      readonly since?: number | undefined;
      /** 1 to changesMax; 100 when absent. */
      readonly limit?: number | undefined;
    },
  ): Promise<ChangePage & { readonly end: boolean }>;
  /**
   * The same, then new changes as they are written, until the signal aborts or the log closes. The
   * first page has no changes and the start position. Later pages without changes report progress
   * through a long stretch of the log. Absent `after`: from the head.
   */
  followChanges(
    query: ChangesFilter & { readonly after?: Position | undefined },
    signal: AbortSignal,
  ): Promise<AsyncIterable<ChangePage>>;
  /**
   * The same for polling clients: waits while there are no changes. Returns `changes` of aspects or
   * timeseries with their previous values, or the platform `events` of both and of producers, in
   * order (feed/platform-events.ts). Continue with `position`.
   */
  pollChanges(
    query: {
      readonly kind: "versioned" | "timeseries" | "events";
      /** Absent: from the head, or from `since` (epoch milliseconds). */
      readonly after?: Position | undefined;
      readonly since?: number | undefined;
      /** Maximum number of changes, 1 to 5,000; 100 when absent. */
      readonly limit?: number | undefined;
      /** At most 10,000, which is also the default. */
      readonly waitMs?: number | undefined;
      /** Ends the wait early. */
      readonly signal?: AbortSignal | undefined;
    },
    caller: Caller,
  ): Promise<ChangePage & { readonly events: readonly PlatformEvent[] }>;

  /**
   * The changes of an entity in some categories (core/timeline/semantic-facts.ts) since its last hard delete,
   * oldest first, one transaction for each write; at most the newest 10,000. Empty for an entity that
   * does not exist.
   */
  getTimeline(query: {
    readonly urn: string;
    readonly categories: readonly string[];
    /** Epoch milliseconds, both included; absent: no bound. */
    readonly startTime?: number | undefined;
    readonly endTime?: number | undefined;
    readonly raw?: boolean | undefined;
    /** Ends the read when it aborts. */
    readonly signal?: AbortSignal | undefined;
  }): Promise<readonly ChangeTransaction[]>;
}
