/**
 * Reads of entities and their aspects: current (catalog.ts), or as of a point in time, by folding
 * the log up to it.
 */
import type { SystemMetadata } from "../../core/change.ts";
import type { Position } from "../../core/position.ts";
import type { Filter } from "../../core/query/filter.ts";

/** A response as JSON text; the HTTP API sends it unchanged. */
export interface JsonText {
  readonly json: string;
}

/** An aspect's value in the form of `/entitiesV2`. */
export interface Envelope {
  readonly name: string;
  readonly type: "VERSIONED" | "TIMESERIES";
  /** 0: the latest. */
  readonly version: number;
  readonly value: unknown;
  /** Time of the write in epoch milliseconds, and the urn of its actor. */
  readonly created: { readonly time: number; readonly actor: string };
  readonly systemMetadata?: unknown;
}

/** A stored value of an aspect. */
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
  /** True if the entity has its key aspect. */
  readonly exists: boolean;
  /** Versioned aspects with a value: the key first, then in the model's order. */
  readonly aspects: readonly FoundAspect[];
}

export interface TimeseriesQuery {
  readonly urn: string;
  /** Must be the entity type of the urn. */
  readonly entity: string;
  readonly aspect: string;
  /** Both inclusive. */
  readonly startTimeMillis?: number | undefined;
  readonly endTimeMillis?: number | undefined;
  /** At most 10,000, which is also the default. */
  readonly limit?: number | undefined;
  /** Returns only the first event in the order, whatever the limit. */
  readonly latestValue?: boolean | undefined;
  /** Filter on fields of the events; `malformed` for a field that the aspect does not have. */
  readonly filter?: Filter | undefined;
  readonly sort?:
    | { readonly field: string; readonly order: "ASCENDING" | "DESCENDING" }
    | undefined;
}

/** `keyAlways: false`: returns the key aspect like any other, if it is stored and requested. */
export interface KeyOptions {
  readonly keyAlways?: boolean | undefined;
}

export interface EntityReads {
  /**
   * {urn, entityName, aspects: {name: Envelope}}. Unknown aspect names are ignored, an unknown urn
   * has only its key aspect, an entity type that is not in the model is not_found. `aspects`
   * undefined: all. Returns no promise if the entity is cached.
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
   * {version, aspect: {<record>: value}}; not_found if there is no such value. Returns no promise
   * if the value is cached.
   */
  getAspect(urn: string, aspect: string, version: number): JsonText | Promise<JsonText>;
  /** {value: {entityName, aspectName, limit, values: […], …}}. */
  getTimeseriesValues(query: TimeseriesQuery): Promise<JsonText>;

  /** In the order of the urns. `aspects` undefined: all; unknown names are ignored. */
  findEntities(
    urns: readonly string[],
    aspects: readonly string[] | undefined,
  ): Promise<readonly FoundEntity[]>;
  /**
   * 0: the latest; n: the n-th value; -k: the k-th before the latest. Undefined if there is none.
   */
  findAspect(urn: string, aspect: string, version: number): Promise<FoundAspect | undefined>;

  /** True if the entity has its key aspect and, without includeSoftDelete, is not soft-deleted. */
  exists(urn: string, options: { readonly includeSoftDelete: boolean }): Promise<boolean>;
  /** The urns that exist, in the spelling of the request. */
  filterExisting(
    urns: readonly string[],
    options: { readonly includeSoftDelete: boolean },
  ): Promise<readonly string[]>;
}

/**
 * An as-of point. A position: after the record at it. A time (epoch milliseconds): per entity,
 * after its last record that was not written later, by the clock of the service that accepted it
 * (`created` of the record). A write in progress may still get a time in the past.
 */
export type AsOfPoint = { readonly position: Position } | { readonly time: number };

/** Reads of one request; caches the folded states. */
export interface ReadsAsOf extends EntityReads {
  /**
   * Position of the returned states: the requested one, or the last one found for the time; START
   * before the first read.
   */
  shown(): Position;
}
