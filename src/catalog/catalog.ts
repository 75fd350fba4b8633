/**
 * The catalog's interface. APIs (HTTP, GraphQL, CLI) parse a request, call one method and format
 * the response; they use no log, view or model beyond this interface.
 *
 * Urns are strings in any namespace and are parsed here. Errors are CatalogErrors.
 */
import type { Position } from "../core/position.ts";
import type { ChangeReads } from "./changes/change-reads.ts";
import type { GraphReads } from "./graph/graph-reads.ts";
import type { AsOfPoint, EntityReads, ReadsAsOf } from "./read/entity-reads.ts";
import type { RunCatalog } from "./runs/run-requests.ts";
import type { SearchCatalog } from "./search/requests.ts";
import type { Writes } from "./write/writes.ts";

export type * from "./changes/change-reads.ts";
export { changesMax } from "./changes/change-reads.ts";
export type * from "./graph/graph-reads.ts";
export type * from "./read/entity-reads.ts";
export { responseBytesMax, tooLarge } from "./read/response-limit.ts";
export type * from "./runs/run-requests.ts";
export type * from "./search/requests.ts";
export type * from "./write/writes.ts";
export {
  CHECKED,
  HAS_TYPE_NAMES,
  largeCharacters,
  proposalsMax,
  REQUEST_PATH,
} from "./write/writes.ts";

/** The view that serves a read. */
export type ReadView = "entities" | "timeseries" | "relationships" | "search";

export interface Catalog
  extends Writes,
    EntityReads,
    SearchCatalog,
    GraphReads,
    ChangeReads,
    RunCatalog {
  /**
   * Reads as of a point in time: the results when the log ended there. Entities that are hidden now
   * are hidden at every point in time. `invalid` for a point in the future.
   */
  asOf(point: AsOfPoint): Promise<ReadsAsOf>;

  /** Existing entities of a type in byte order of their urns; 10,000 at most. */
  listUrns(
    entityType: string,
    page: { readonly start: number; readonly count: number },
  ): Promise<{ entities: readonly string[]; start: number; count: number; total: number }>;
  /**
   * The first `count` existing entities of a type after a urn ("": from the beginning), in the order
   * of their urns; 10,000 at most. For reading all of them: none that exists throughout is missed.
   */
  urnsAfter(entityType: string, after: string, count: number): Promise<readonly string[]>;
  /** Number of existing entities by type. */
  countEntities(entityTypes: readonly string[]): Promise<Readonly<Record<string, number>>>;
  /**
   * Number of entities with the aspect; with `urnLike`, of those whose urn matches the LIKE pattern
   * (% and _).
   */
  countAspect(aspect: string, urnLike: string | undefined): Promise<number>;

  /** {buckets, aggregations}: usage of one resource from datasetUsageStatistics (usage.ts). */
  queryUsage(query: {
    readonly resource: string;
    readonly duration: string;
    readonly startTime?: number | undefined;
    readonly endTime?: number | undefined;
    readonly maxBuckets?: number | undefined;
    /** Of the IANA database; `malformed` for another one. */
    readonly timeZone?: string | undefined;
  }): Promise<unknown>;

  /** Minimum position of the state that a read started now returns. */
  positionOf(view: ReadView): Position;
  /**
   * Resolves when reads include the position; rejects `unavailable` after a timeout. Reads of
   * entities, timeseries and relationships include every acknowledged write without this call.
   */
  reach(view: ReadView, position: Position): Promise<void>;

  /** Positions of the log and of each view, and errors of writes and reads. */
  health(): Promise<{
    readonly ok: boolean;
    readonly log: Position;
    /** The error of the log, if it cannot be read or written. */
    readonly logError?: string | undefined;
    readonly views: Readonly<Record<string, { position: Position; error?: string }>>;
  }>;
}
