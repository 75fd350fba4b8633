/**
 * Reads of entities and their aspects: of the present (catalog.ts), or as of a moment, since what
 * an entity is is a fold of the log, and the log can be folded up to anywhere.
 */
import type { SystemMetadata } from "../core/change.ts";
import type { Filter } from "../core/filter.ts";
import type { Position } from "../core/position.ts";

/** A reply that is JSON text already; the door sends it as it is. */
export interface JsonText {
  readonly json: string;
}

/** An aspect's value as `/entitiesV2` tells it. */
export interface Envelope {
  readonly name: string;
  readonly type: "VERSIONED" | "TIMESERIES";
  /** 0: the latest. */
  readonly version: number;
  readonly value: unknown;
  /** Epoch milliseconds, and a urn: when the value was told, and by whom. */
  readonly created: { readonly time: number; readonly actor: string };
  readonly systemMetadata?: unknown;
}

/** A value of an aspect as it is stored. */
export interface FoundAspect {
  readonly name: string;
  /** From 1. */
  readonly version: number;
  /** JSON text. */
  readonly value: string;
  /** Epoch milliseconds, and a urn. */
  readonly time: number;
  readonly actor: string;
  readonly system: SystemMetadata;
}

export interface FoundEntity {
  readonly urn: string;
  readonly entityType: string;
  /** Whether it has its key aspect. */
  readonly exists: boolean;
  /** Versioned ones that have a value: the key first, then in the model's order. */
  readonly aspects: readonly FoundAspect[];
}

export interface TimeseriesQuery {
  readonly urn: string;
  /** The entity type, which has to be that of the urn. */
  readonly entity: string;
  readonly aspect: string;
  /** Both inclusive. */
  readonly startTimeMillis?: number | undefined;
  readonly endTimeMillis?: number | undefined;
  /** 10,000 when absent, which is also the most. */
  readonly limit?: number | undefined;
  /** One event alone, the first in the order, whatever the limit. */
  readonly latestValue?: boolean | undefined;
  /** On fields of the events; one that the aspect has not is `malformed`. */
  readonly filter?: Filter | undefined;
  readonly sort?:
    | { readonly field: string; readonly order: "ASCENDING" | "DESCENDING" }
    | undefined;
}

/** `keyAlways: false`: the key aspect is told as any other, where it is stored and asked for. */
export interface KeyOptions {
  readonly keyAlways?: boolean | undefined;
}

export interface EntityReads {
  /**
   * {urn, entityName, aspects: {name: Envelope}}. Unknown aspect names are ignored,
   * an unknown urn gives its key aspect alone, an entity type that the model has not is not_found.
   * `aspects` undefined: all. Without a promise when the entity is at hand.
   */
  getEntity(
    urn: string,
    aspects: readonly string[] | undefined,
    options?: KeyOptions,
  ): JsonText | Promise<JsonText>;
  /** {results: {urn: entity}, statuses: {}, errors: {urn: …}}. */
  getEntities(
    urns: readonly string[],
    aspects: readonly string[] | undefined,
    options?: KeyOptions,
  ): Promise<JsonText>;
  /** {value: {<snapshot record>: {urn, aspects: [{<record>: value}]}}}. */
  getSnapshot(urn: string, aspects: readonly string[] | undefined): Promise<JsonText>;
  /** {results: {urn: as getSnapshot gives it}, statuses: {}, errors: {}}. */
  getSnapshots(urns: readonly string[], aspects: readonly string[] | undefined): Promise<JsonText>;
  /**
   * {version, aspect: {<record>: value}}; not_found when there is no such value. Without a promise when
   * the value is at hand.
   */
  getAspect(urn: string, aspect: string, version: number): JsonText | Promise<JsonText>;
  /** {value: {entityName, aspectName, limit, values: […], …}}. */
  getTimeseriesValues(query: TimeseriesQuery): Promise<JsonText>;

  /** In the order of the urns. `aspects` undefined: all; unknown names are passed over. */
  findEntities(
    urns: readonly string[],
    aspects: readonly string[] | undefined,
  ): Promise<readonly FoundEntity[]>;
  /** 0: the latest; n: the n-th value; -k: the k-th before the latest. Undefined: there is none. */
  findAspect(urn: string, aspect: string, version: number): Promise<FoundAspect | undefined>;

  /** Whether it has its key aspect; not where its status says removed, unless these count, too. */
  exists(urn: string, options: { readonly includeSoftDelete: boolean }): Promise<boolean>;
  /** Those of the urns that exist, as they were sent. */
  filterExisting(
    urns: readonly string[],
    options: { readonly includeSoftDelete: boolean },
  ): Promise<readonly string[]>;
}

/**
 * Where the log is thought to end: after the record at a position; or, entity by entity, after the
 * last of its records that was not written later than a time (epoch milliseconds, by the clock of
 * the service that accepted it, as `created` of the record has it). What is on its way to the log may
 * still have a time that has passed.
 */
export type Moment = { readonly position: Position } | { readonly time: number };

/** For one request: what it has folded it remembers. */
export interface ReadsAsOf extends EntityReads {
  /**
   * What was answered is as of here: the position asked for, or the last one that was found for the
   * time; START before there is any.
   */
  shown(): Position;
}
