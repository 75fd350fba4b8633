/**
 * Everything that a door may ask of the catalog. Doors (http, cli) parse, call one method and shape
 * the reply; they know no log, no view and no model beyond what is here.
 *
 * Urns come in as text in any namespace and are parsed here. Errors are CatalogErrors.
 */
import type { Position } from "../core/position.ts";
import type { ChangeReads } from "./change-reads.ts";
import type { EntityReads, Moment, ReadsAsOf } from "./entity-reads.ts";
import type { GraphReads } from "./graph-reads.ts";
import type { RunCatalog } from "./run-requests.ts";
import type { SearchCatalog } from "./search-requests.ts";
import type { Writes } from "./writes.ts";

export type { Criterion, Filter } from "../core/filter.ts";
export type * from "./change-reads.ts";
export { changesMax } from "./change-reads.ts";
export type * from "./entity-reads.ts";
export type * from "./graph-reads.ts";
export type * from "./run-requests.ts";
export type * from "./search-requests.ts";
export type * from "./writes.ts";
export { CHECKED, largeCharacters, NAMED, PLACE, proposalsMax } from "./writes.ts";

/** What a read is made from. */
export type ReadView = "entities" | "timeseries" | "relationships" | "search";

export interface Catalog
  extends Writes,
    EntityReads,
    SearchCatalog,
    GraphReads,
    ChangeReads,
    RunCatalog {
  /**
   * The same reads as of a moment: what they were answered when the log ended there. Hidden now is
   * hidden then. A moment that is yet to come is `invalid`.
   */
  asOf(moment: Moment): Promise<ReadsAsOf>;

  /** Existing entities of a type in byte order of their urns; 10,000 at most. */
  listUrns(
    entityType: string,
    page: { readonly start: number; readonly count: number },
  ): Promise<{ entities: readonly string[]; start: number; count: number; total: number }>;
  /** How many entities of each of the types exist. */
  countEntities(entityTypes: readonly string[]): Promise<Readonly<Record<string, number>>>;
  /** How many entities have the aspect now; only urns LIKE a pattern (% and _), where one is given. */
  countAspect(aspect: string, urnLike: string | undefined): Promise<number>;

  /** {buckets, aggregations}: usage of one resource from datasetUsageStatistics (usage.ts). */
  queryUsage(query: {
    readonly resource: string;
    readonly duration: string;
    readonly startTime?: number | undefined;
    readonly endTime?: number | undefined;
    readonly maxBuckets?: number | undefined;
  }): Promise<unknown>;

  /** The position that a read which begins now shows at least. */
  positionOf(view: ReadView): Position;
  /**
   * Resolves when reads show the position; rejects `unavailable` when that takes too long. Reads of
   * entities, timeseries and relationships show every write that was answered, without waiting here.
   */
  reach(view: ReadView, position: Position): Promise<void>;

  /** Positions of the log and of each view, and whether writes and reads work. */
  health(): Promise<{
    readonly ok: boolean;
    readonly log: Position;
    /** Why the log cannot be read or written. */
    readonly logError?: string | undefined;
    readonly views: Readonly<Record<string, { position: Position; error?: string }>>;
  }>;
}
