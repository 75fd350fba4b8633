/**
 * Ports of the graph view: edges, neighbours and traversal. Writes come from projections/graph/graph.ts.
 * Contract: test/contract/graph.contract.ts.
 *
 * An edge has a source, a destination and a type. One aspect of one entity states it; the entity is
 * usually the source. Each (entity, aspect) states a pair of ends at most once per type. Either end may
 * be the urn of an entity that does not exist.
 *
 * All results have the same order, which stores must implement: by the position of the record that
 * first stated the edge, then by its index in the aspect. An edge that is stated again keeps its
 * order. So new edges come last, and paging by start and count returns each edge once while edges are
 * added.
 */
import type { Position } from "../../core/position.ts";
import type { Sink } from "../../projector/sink.ts";

/** An edge that an aspect states. */
export interface Edge {
  readonly source: string;
  readonly type: string;
  readonly destination: string;
  // Its path in the aspect: /owners/*/owner
  readonly path: string;
  /** Urn of the query or job that produces one end from the other. */
  readonly via?: string | undefined;
  /** Epoch milliseconds, and urns; absent if the aspect does not have them. */
  readonly createdOn?: number | undefined;
  readonly createdActor?: string | undefined;
  readonly updatedOn?: number | undefined;
  readonly updatedActor?: string | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

export type GraphWrite =
  /**
   * Replaces the edges that the aspect states. Missing stamps of an edge are those of the writes:
   * `created…` of the first write with the edge, `updated…` of the latest.
   */
  | {
      readonly op: "replace";
      readonly urn: string;
      readonly aspect: string;
      readonly position: Position;
      /** Epoch milliseconds and urn. */
      readonly stamp: { readonly time: number; readonly actor: string };
      /** No two with the same source, type and destination. */
      readonly edges: readonly Edge[];
    }
  /** Removes all edges that the entity's aspects state. */
  | { readonly op: "remove_entity"; readonly urn: string; readonly position: Position }
  /** Removes every edge from and to the urn, and every edge that its aspects state. */
  | { readonly op: "forget"; readonly urn: string; readonly position: Position };

export type GraphSink = Sink<GraphWrite>;

/** OUTGOING: the urn is the source. INCOMING: it is the destination. UNDIRECTED: either. */
export type Direction = "INCOMING" | "OUTGOING" | "UNDIRECTED";

export interface NeighboursQuery {
  readonly urn: string;
  readonly direction: Direction;
  /** Types of edges. Unknown types have no edges; duplicates are ignored. */
  readonly types: readonly string[];
  readonly start: number;
  readonly count: number;
}

/** An entity at the other end of an edge. */
export interface Neighbour {
  readonly type: string;
  readonly urn: string;
  /** `via` of the pair's first edge. */
  readonly via?: string | undefined;
}

/** Edges that a traversal follows from an entity. */
export interface Step {
  readonly direction: "INCOMING" | "OUTGOING";
  readonly type: string;
  /** Allowed entity types at the other end. */
  readonly to: ReadonlySet<string>;
}

/** Steps by entity type; types without steps may be missing. */
export type Steps = ReadonlyMap<string, readonly Step[]>;

/** An edge of a traversal. */
export interface Followed {
  /** One of the requested urns, and the other end. */
  readonly from: string;
  readonly to: string;
  readonly direction: Step["direction"];
  readonly type: string;
  readonly via?: string | undefined;
}

/** Identifies an edge for readers: ends and type. */
export type Pair = Pick<Edge, "source" | "type" | "destination">;

/** Properties of the first edge of a pair. */
export interface Stamps {
  readonly createdOn: number;
  readonly createdActor: string;
  readonly updatedOn: number;
  readonly updatedActor: string;
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

export interface GraphReader {
  /**
   * Distinct pairs of type and neighbour, in the requested order of types, then in the order of the
   * pair's first edge. UNDIRECTED: outgoing ones precede those that are only incoming. `total`
   * counts all of them.
   */
  neighbours(
    query: NeighboursQuery,
  ): Promise<{ readonly neighbours: readonly Neighbour[]; readonly total: number }>;

  /**
   * One step from each of several urns (at most urnsPerFollowMax): the first edge of each distinct
   * type and other end, ordered by urn, then step, then edge. Returns the first `edgesMax` edges;
   * `complete` is false if there are more.
   */
  follow(
    urns: readonly string[],
    steps: Steps,
    options: { readonly edgesMax: number },
  ): Promise<{ readonly edges: readonly Followed[]; readonly complete: boolean }>;

  /** In the order of the pairs; undefined for a pair without an edge. */
  stamps(pairs: readonly Pair[]): Promise<readonly (Stamps | undefined)[]>;

  /** Idempotent; later calls of other methods reject with `unavailable`. */
  close(): Promise<void>;
}

/** Maximum number of urns of a call of GraphReader.follow. */
export const urnsPerFollowMax = 500;
