/**
 * Ports of the timeseries view: one row per event, the newest telling of an event wins.
 * Writes come from projections/timeseries.ts. Contract: test/contract/timeseries-table.contract.ts.
 */
import type { Position } from "../core/position.ts";
import type { Sink } from "../projector/sink.ts";

export type TimeseriesWrite =
  | {
      readonly op: "event";
      readonly urn: string;
      readonly aspect: string;
      readonly entityType: string;
      readonly position: Position;
      /** `timestampMillis` of the event. */
      readonly time: number;
      /** What makes two events of one time different: granularity, message id, partition. */
      readonly key: string;
      /** JSON text. */
      readonly value: string;
      /** SystemMetadata as JSON text. */
      readonly system: string;
    }
  /** Events of one aspect (undefined: of all) within a time range, both ends inclusive, are gone. */
  | {
      readonly op: "remove";
      readonly urn: string;
      readonly aspect?: string | undefined;
      readonly position: Position;
      readonly from?: number | undefined;
      readonly to?: number | undefined;
    };

export type TimeseriesSink = Sink<TimeseriesWrite>;

export interface TimeseriesEvent {
  readonly time: number;
  readonly value: string;
  readonly system: string;
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
   * way; at most `limit` that `accept`, if given, takes.
   */
  list(
    range: TimeseriesRange,
    options: {
      readonly limit: number;
      readonly ascending?: boolean | undefined;
      readonly accept?: ((event: TimeseriesEvent) => boolean) | undefined;
    },
  ): Promise<readonly TimeseriesEvent[]>;

  /** How many events the range has; without an aspect: of all aspects of the urn. */
  count(range: Omit<TimeseriesRange, "aspect"> & { readonly aspect?: string }): Promise<number>;

  close(): Promise<void>;
}

/**
 * An event with all that the table knows of it, for verification (projector/compare.ts): in byte
 * order of urn and aspect, then by time and byte order of key.
 */
export interface TimeseriesRow extends TimeseriesEvent {
  readonly urn: string;
  readonly aspect: string;
  readonly key: string;
  /** Of the record that told the event last. */
  readonly position: Position;
}
