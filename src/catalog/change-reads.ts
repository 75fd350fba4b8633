/**
 * What is asked of the changes themselves, as they are told or by what they mean: part of what a
 * door may ask (catalog.ts).
 */
import type { AuditStamp, PlacedChange, SystemMetadata } from "../core/change.ts";
import type { JsonDiffOperation } from "../core/json-diff.ts";
import type { Position } from "../core/position.ts";
import type { SemanticChange, SemanticChangeType } from "../core/semantic-changes.ts";

/** Most changes of one page. */
export const changesMax = 1_000;

/** Which changes; what is absent does not narrow them. */
export interface ChangesFilter {
  readonly entityTypes?: readonly string[] | undefined;
  readonly aspects?: readonly string[] | undefined;
  readonly urns?: readonly string[] | undefined;
  /** Have the values before filled in. */
  readonly previous?: boolean | undefined;
}

export interface ToldChange {
  readonly change: PlacedChange;
  /** The value before as JSON text, and what was last told with it. */
  readonly previous?: { readonly value: string; readonly system: SystemMetadata } | undefined;
}

export interface ToldChanges {
  /** In the order of the log. */
  readonly changes: readonly ToldChange[];
  /** Everything up to here was looked at: where the next ones follow. */
  readonly position: Position;
}

/** What a change means to people, with its stamp. */
export interface Meaning extends SemanticChange {
  /** Of the entity whose aspect changed. */
  readonly entityType: string;
  readonly created: AuditStamp;
}

/** The changes that one write made to an entity. */
export interface ChangeTransaction {
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** Urn. */
  readonly actor: string;
  /** `1.2.0-computed`: the entity's version after it, and which part of that grew by it. */
  readonly semVer: string;
  readonly semVerChange: SemanticChangeType;
  readonly changeEvents: readonly SemanticChange[];
  /** Every aspect of the entity after the write, with the number of its value: `<aspect>:<n>;…`. */
  readonly versionStamp: string;
  /** JSON Patch of the previous values, for one changed aspect after the other. */
  readonly rawDiff?: readonly JsonDiffOperation[] | undefined;
}

export interface ChangeReads {
  /**
   * A page of changes after a position, or from the start of the log: in the order of the log, at most
   * `limit`, without records that only confirm a value. `end`: no change follows at present. Without
   * it, continue after `position`, even if the page has no changes. A position beyond the head of the
   * log is `invalid`. A page ends before an unreadable record; a page that would begin with it is
   * `unreadable`. The same holds for `followChanges`.
   *
   * The changes of up to 10 urns are read from the streams of these entities, all others by a scan of
   * the log. The streams are those of the entity and of every timeseries aspect of the model.
   */
  readChanges(
    query: ChangesFilter & {
      readonly after?: Position | undefined;
      /** 1 to changesMax; 100 when absent. */
      readonly limit?: number | undefined;
    },
  ): Promise<ToldChanges & { readonly end: boolean }>;
  /**
   * The same, and new ones as they happen, until the signal aborts or the log closes. At once comes
   * the position that they follow on, without changes; later positions come without any where a long
   * stretch has none. Absent `after`: from now on.
   */
  followChanges(
    query: ChangesFilter & { readonly after?: Position | undefined },
    signal: AbortSignal,
  ): Promise<AsyncIterable<ToldChanges>>;
  /**
   * The same for who polls: changes after a position, waited for while there are none. `changes` of
   * aspects or of timeseries, with the values before; or their `meanings`. Go on with `position`.
   */
  pollChanges(query: {
    readonly kind: "versioned" | "timeseries" | "meanings";
    /** Absent: from now on, or from a time (epoch milliseconds). */
    readonly after?: Position | undefined;
    readonly since?: number | undefined;
    /** Changes that are looked for, 1 to 5,000; 100 when absent. */
    readonly limit?: number | undefined;
    /** 10,000 at most, and when absent. */
    readonly waitMs?: number | undefined;
    /** Ends the wait early. */
    readonly signal?: AbortSignal | undefined;
  }): Promise<ToldChanges & { readonly meanings: readonly Meaning[] }>;

  /**
   * The changes of an entity in some categories (core/semantic-facts.ts) since its last hard delete,
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
  }): Promise<readonly ChangeTransaction[]>;
}
