/** What is asked of relationships and lineage: part of what a door may ask (catalog.ts). */
import type { Filter } from "../core/filter.ts";

/** An edge of the graph as it is told. */
export interface FoundRelationship {
  readonly type: string;
  readonly source: string;
  readonly destination: string;
  /** Which end data comes from, where the edge is lineage between these types. */
  readonly upstream?: "source" | "destination" | undefined;
}

/** Which ends of edges. */
export interface EndFilter {
  readonly types?: readonly string[] | undefined;
  readonly urns?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
}

export interface RelationshipScroll {
  /** Absent: all that the model has. */
  readonly types?: readonly string[] | undefined;
  readonly source?: EndFilter | undefined;
  readonly destination?: EndFilter | undefined;
  /** Filter on the fields of edges (scroll-relationships.ts). */
  readonly edges?: Filter | undefined;
  /** Only edges that tell where data comes from; `UPSTREAM` or `DOWNSTREAM`: seen from `around`. */
  readonly lineage?: boolean | undefined;
  readonly direction?: string | undefined;
  /** One of these is at either end. */
  readonly around?: readonly string[] | undefined;
  readonly includeSoftDeleted?: boolean | undefined;
  readonly scrollId?: string | undefined;
  /** 10 when absent, 1,000 at most. */
  readonly count?: number | undefined;
}

export interface Relationship {
  readonly type: string;
  /** Urn of the other end. */
  readonly urn: string;
  /** Urn of what the edge runs through. */
  readonly via?: string | undefined;
}

export interface RelationshipPage {
  readonly start: number;
  readonly count: number;
  readonly total: number;
  readonly relationships: readonly Relationship[];
}

/** An entity up- or downstream of another, and how it was reached. */
export interface LineageRelationship {
  /** Of the last edge on the way. */
  readonly type: string;
  readonly entity: string;
  /** Steps from the start, as a number and as a list. */
  readonly degree: number;
  readonly degrees: readonly number[];
  /** Urns from the start to the entity, both included; none when the answer has no room for it. */
  readonly paths: readonly (readonly string[])[];
  /** Of the last edge on the way: epoch milliseconds, and urns. */
  readonly createdOn?: number | undefined;
  readonly createdActor?: string | undefined;
  readonly updatedOn?: number | undefined;
  readonly updatedActor?: string | undefined;
  readonly isManual: boolean;
  /** Its own edges were followed; not all of them could be. */
  readonly explored: boolean;
  readonly truncatedChildren: boolean;
}

export interface GraphReads {
  /**
   * Distinct pairs of type and other end, by type in the order asked for, then as told. Types that
   * no edge has are none; `total` counts all, at most 10,000 come in one page. Without a promise when
   * the page is cached. Without soft-deleted entities a page may have fewer than asked for, and
   * `total` is less by those left out of this page.
   */
  listRelationships(query: {
    readonly urn: string;
    /** INCOMING, OUTGOING or UNDIRECTED. */
    readonly direction: string;
    readonly types: readonly string[];
    readonly start?: number | undefined;
    readonly count?: number | undefined;
    /** True when absent. */
    readonly includeSoftDeleted?: boolean | undefined;
  }): RelationshipPage | Promise<RelationshipPage>;
  /**
   * Edges, entity by entity at one of their ends, page after page. A page may have fewer than asked
   * for: there are more for as long as there is a scrollId.
   */
  scrollRelationships(
    query: RelationshipScroll,
  ): Promise<{ readonly relationships: readonly FoundRelationship[]; readonly scrollId?: string }>;
  /** What is up- or downstream, nearest first; `partial` when a bound of the service ended it. */
  getLineage(query: {
    readonly urn: string;
    /** UPSTREAM or DOWNSTREAM. */
    readonly direction: string;
    readonly start?: number | undefined;
    readonly count?: number | undefined;
    /** 1 when absent. */
    readonly maxHops?: number | undefined;
    /** Only along edges of this time (lineage.ts); 0 is as good as absent. */
    readonly startTimeMillis?: number | undefined;
    readonly endTimeMillis?: number | undefined;
  }): Promise<{
    readonly start: number;
    readonly count: number;
    readonly total: number;
    readonly partial: boolean;
    readonly relationships: readonly LineageRelationship[];
  }>;
}
