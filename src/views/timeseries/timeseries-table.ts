/**
 * Ports of the timeseries view: one row per event, the newest write of an event wins.
 * Writes come from projections/timeseries.ts. Contract: test/contract/timeseries-table.contract.ts.
 */
import type { Position } from "../../core/position.ts";
import type { Sink } from "../../projector/sink.ts";

export type TimeseriesWrite =
  | {
      readonly op: "event";
      readonly urn: string;
      readonly aspect: string;
      readonly entityType: string;
      readonly position: Position;
      /** `timestampMillis` of the event: epoch milliseconds. */
      readonly time: number;
      /** Distinguishes events with the same time: granularity, message id, partition. */
      readonly key: string;
      /** JSON text. */
      readonly value: string;
      /** SystemMetadata as JSON text. */
      readonly system: string;
    }
  /** Removes events of one aspect (undefined: all) within a time range, both ends inclusive. */
  | {
      readonly op: "remove";
      readonly urn: string;
      readonly aspect?: string | undefined;
      readonly position: Position;
      /** Epoch milliseconds. */
      readonly from?: number | undefined;
      readonly to?: number | undefined;
    }
  /**
   * Removes events of one aspect of all entities of a type that are older than a time and were
   * written before this record. Readers omit them at once; Sink.maintain deletes them from the
   * store in parts.
   */
  | {
      readonly op: "truncate";
      readonly entityType: string;
      readonly aspect: string;
      readonly position: Position;
      /** Epoch milliseconds, exclusive. */
      readonly before: number;
      /** Maximum number of events deleted in one transaction. */
      readonly batchSize: number;
    };

export type TimeseriesSink = Sink<TimeseriesWrite>;

export interface TimeseriesEvent {
  /** Epoch milliseconds. */
  readonly time: number;
  /** JSON text. */
  readonly value: string;
  /** SystemMetadata as JSON text. */
  readonly system: string;
}

export interface PlacedEvent extends TimeseriesEvent {
  /** Of its record. */
  readonly position: Position;
}

export interface TimeseriesRange {
  readonly urn: string;
  readonly aspect: string;
  /** Epoch milliseconds, inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface TimeseriesReader {
  /**
   * Events of the range, latest first (ascending: earliest first); events with the same time are
   * ordered by key in the same direction. Returns at most `limit` events for which `accept` is
   * true; `accept` may be called more than once for an event. A truncation is visible as a whole or
   * not at all.
   */
  list(
    range: TimeseriesRange,
    options: {
      readonly limit: number;
      readonly ascending?: boolean | undefined;
      readonly accept?: ((event: TimeseriesEvent) => boolean) | undefined;
    },
  ): Promise<readonly TimeseriesEvent[]>;

  /**
   * For each urn, the latest event of each of the aspects, in the order of `list`; aspects without
   * events are omitted. The result covers every record up to the `position` before the call.
   */
  latest(
    urns: readonly string[],
    aspects: readonly string[],
  ): Promise<readonly ReadonlyMap<string, PlacedEvent>[]>;

  /** Later reads cover every record up to this position. */
  position(): Promise<Position>;

  /** Number of events of the range; without an aspect, of all aspects of the urn. */
  count(range: Omit<TimeseriesRange, "aspect"> & { readonly aspect?: string }): Promise<number>;

  /**
   * Number of events of one aspect of all entities of a type, and number of those older than
   * `before`.
   */
  countOlder(index: TimeseriesIndex, before: number): Promise<TimeseriesCount>;

  /** Estimated size of the events of each index in bytes. */
  weigh(indexes: readonly TimeseriesIndex[]): Promise<readonly number[]>;

  /** Progress of the truncation at a position; undefined before the store applies it. */
  findTruncation(position: Position): Promise<TruncationProgress | undefined>;

  /**
   * The state of a task of the store; undefined for an unknown one. Absent if the store has no
   * tasks.
   */
  findTask?(id: string): Promise<StoreTask | undefined>;

  /** Idempotent; later calls of other methods reject with `unavailable`. */
  close(): Promise<void>;
}

export interface TimeseriesIndex {
  readonly entityType: string;
  readonly aspect: string;
}

export interface TimeseriesCount {
  readonly events: number;
  readonly older: number;
}

export interface TruncationProgress {
  /** Events and transactions so far. */
  readonly deleted: number;
  readonly batches: number;
  readonly done: boolean;
  /** Id of the task in the store, if the store has tasks. */
  readonly task?: string | undefined;
}

/** A task that the store runs in the background. */
export interface StoreTask {
  readonly id: string;
  readonly completed: boolean;
  readonly runNanos: number;
  /** JSON text: the counts that the store reports. */
  readonly status: string;
  /** The reason if the task did not delete all events. */
  readonly failure?: string | undefined;
}
