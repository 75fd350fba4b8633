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
   * Removes events of one aspect of all entities of a type that are older than a time and were written
   * before: for readers at once, from the store in parts (Sink.tidy).
   */
  | {
      readonly op: "truncate";
      readonly entityType: string;
      readonly aspect: string;
      readonly position: Position;
      /** Epoch milliseconds, exclusive. */
      readonly before: number;
      /** Events that leave the store in one transaction, at most. */
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
   * Events of the range, latest first (ascending: earliest first), ties by key, which runs the same
   * way; at most `limit` that `accept`, if given, takes, which may be asked of an event again. Of what
   * one truncation takes there is all or nothing.
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
   * For each urn the latest event of each of the aspects that has any, as `list` orders them. The
   * result covers every record up to the `position` before the call.
   */
  latest(
    urns: readonly string[],
    aspects: readonly string[],
  ): Promise<readonly ReadonlyMap<string, PlacedEvent>[]>;

  /** Every record up to here is in what is read from now on. */
  position(): Promise<Position>;

  /** How many events the range has; without an aspect: of all aspects of the urn. */
  count(range: Omit<TimeseriesRange, "aspect"> & { readonly aspect?: string }): Promise<number>;

  /**
   * Of the series of one aspect of all entities of a type: how many events they have, and how many
   * of those are older than `before`.
   */
  countOlder(index: TimeseriesIndex, before: number): Promise<TimeseriesCount>;

  /** About how many bytes the events of each index take. */
  weigh(indexes: readonly TimeseriesIndex[]): Promise<readonly number[]>;

  /** How far the store is with the truncation at a position; undefined before it has come there. */
  findTruncation(position: Position): Promise<TruncationProgress | undefined>;

  /**
   * The state of a task of the store; undefined for an unknown one. Absent if the store has no tasks.
   */
  findTask?(id: string): Promise<StoreTask | undefined>;

  /** May be said twice; later calls are `unavailable`. */
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
  /** The store's own id of the task that does it, where it has such. */
  readonly task?: string | undefined;
}

/** Work that the store does by itself. */
export interface StoreTask {
  readonly id: string;
  readonly completed: boolean;
  readonly runNanos: number;
  /** JSON text: counts, as the store gives them. */
  readonly status: string;
  /** Why it did not do all. */
  readonly failure?: string | undefined;
}

/**
 * An event with all columns of the table, for verification (storage/dump.ts): in byte order of
 * urn and aspect, then by time and byte order of key.
 */
export interface TimeseriesRow extends TimeseriesEvent {
  readonly urn: string;
  readonly aspect: string;
  readonly key: string;
  /** Position of the last record with the event. */
  readonly position: Position;
}
