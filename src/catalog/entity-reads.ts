/**
 * Reads of entities and their aspects: of the present (catalog.ts), or as of a moment, since what
 * an entity is is a fold of the log, and the log can be folded up to anywhere.
 */
import type { Position } from "../core/position.ts";
import type { FoundAspect, FoundEntity, JsonText, TimeseriesQuery } from "./catalog.ts";

export interface EntityReads {
  /**
   * {urn, entityName, aspects: {name: Envelope}}. Unknown aspect names are ignored,
   * an unknown urn gives its key aspect alone, an entity type that the model has not is not_found.
   * `aspects` undefined: all.
   */
  getEntity(urn: string, aspects: readonly string[] | undefined): Promise<JsonText>;
  /** {results: {urn: entity}, statuses: {}, errors: {urn: …}}. */
  getEntities(urns: readonly string[], aspects: readonly string[] | undefined): Promise<JsonText>;
  /** {value: {<snapshot record>: {urn, aspects: [{<record>: value}]}}}. */
  getSnapshot(urn: string, aspects: readonly string[] | undefined): Promise<JsonText>;
  getSnapshots(urns: readonly string[], aspects: readonly string[] | undefined): Promise<JsonText>;
  /** {version, aspect: {<record>: value}}; not_found when there is no such value. */
  getAspect(urn: string, aspect: string, version: number): Promise<JsonText>;
  /** {value: {entityName, aspectName, limit, values: […], …}}. */
  getTimeseriesValues(query: TimeseriesQuery): Promise<JsonText>;

  /** In the order of the urns. `aspects` undefined: all; unknown names are passed over. */
  findEntities(
    urns: readonly string[],
    aspects: readonly string[] | undefined,
  ): Promise<readonly FoundEntity[]>;
  /** 0: the latest; n: the n-th value; -k: the k-th before the latest. Undefined: there is none. */
  findAspect(urn: string, aspect: string, version: number): Promise<FoundAspect | undefined>;

  exists(urn: string, options: { readonly includeSoftDelete: boolean }): Promise<boolean>;
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
