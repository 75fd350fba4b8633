/** Reads of relationships and lineage: part of the catalog's interface (catalog.ts). */
import type { Filter } from "../../core/query/filter.ts";

/** An edge of the graph, as responses have it. */
export interface FoundRelationship {
  readonly type: string;
  readonly source: string;
  readonly destination: string;
  /** The end that data comes from, if the edge is lineage between these types. */
  readonly upstream?: "source" | "destination" | undefined;
}

/** Selects one end of edges. */
export interface EndFilter {
  readonly types?: readonly string[] | undefined;
  readonly urns?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
}

export interface RelationshipScroll {
  /** Absent: all types of the model. */
  readonly types?: readonly string[] | undefined;
  readonly source?: EndFilter | undefined;
  readonly destination?: EndFilter | undefined;
  /** Filter on the fields of edges (scroll-relationships.ts). */
  readonly edges?: Filter | undefined;
  /** Only lineage edges. `UPSTREAM` or `DOWNSTREAM` is relative to `around`. */
  readonly lineage?: boolean | undefined;
  readonly direction?: string | undefined;
  /** One of these urns is at either end. */
  readonly around?: readonly string[] | undefined;
  readonly includeSoftDeleted?: boolean | undefined;
  readonly scrollId?: string | undefined;
  /** 10 when absent, 1,000 at most. */
  readonly count?: number | undefined;
}

interface Relationship {
  readonly type: string;
  /** Urn of the other end. */
  readonly urn: string;
  /** Urn of the entity that the edge runs through. */
  readonly via?: string | undefined;
  /** Epoch milliseconds and urn; on request only. */
  readonly created?: { readonly time: number; readonly actor: string };
}

interface RelationshipPage {
  readonly start: number;
  readonly count: number;
  readonly total: number;
  readonly relationships: readonly Relationship[];
}

/** An entity up- or downstream of another, and the way to it. */
export interface LineageRelationship {
  /** Type of the last edge of the path. */
  readonly type: string;
  readonly entity: string;
  /** Steps from the start, as a number and as a list. */
  readonly degree: number;
  readonly degrees: readonly number[];
  /** Urns from the start to the entity, both included; empty if the response has no room for it. */
  readonly paths: readonly (readonly string[])[];
  /** Stamps of the last edge of the path: epoch milliseconds, and urns. */
  readonly createdOn?: number | undefined;
  readonly createdActor?: string | undefined;
  readonly updatedOn?: number | undefined;
  readonly updatedActor?: string | undefined;
  readonly isManual: boolean;
  /** `explored`: its own edges were followed. `truncatedChildren`: not all of them could be. */
  readonly explored: boolean;
  readonly truncatedChildren: boolean;
}

export interface GraphReads {
  /**
   * Distinct pairs of type and other end, by type in the order of the request, then in the order of
   * the writes. A type without edges is allowed. `total` counts all pairs; a page has at most
   * 10,000. Returns no promise if the page is cached. Without soft-deleted entities a page may be
   * shorter than `count`, and `total` is reduced by those omitted from this page.
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
    /** Also returns when and by whom each relationship was created. */
    readonly stamped?: boolean | undefined;
  }): RelationshipPage | Promise<RelationshipPage>;
  /**
   * Edges, grouped by the entity at one of their ends, page by page. A page may be shorter than
   * `count`; there are more edges while there is a scrollId.
   */
  scrollRelationships(
    query: RelationshipScroll,
  ): Promise<{ readonly relationships: readonly FoundRelationship[]; readonly scrollId?: string }>;
  /**
   * Entities up- or downstream, nearest first; `partial` if a bound of the service ended the walk.
   */
  getLineage(query: {
    readonly urn: string;
    /** UPSTREAM or DOWNSTREAM. */
    readonly direction: string;
    readonly start?: number | undefined;
    readonly count?: number | undefined;
    /** 1 when absent. */
    readonly maxHops?: number | undefined;
    /** Only along edges of this time range (lineage.ts); 0 means absent. */
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
