/**
 * Ports of the graph view: the edges that aspects tell, who is next to whom, and what leads on.
 * Writes come from projections/graph.ts. Contract: test/contract/graph.contract.ts.
 *
 * An edge runs from its source to its destination and has a type. What tells it is one aspect of
 * one entity, mostly the source itself; each (entity, aspect) tells a pair of ends at most once per
 * type. Either end may be the urn of an entity that does not exist.
 *
 * One order holds everywhere, and a store must give it: edges are in the order in which they came
 * to be, by the position of the record that told them first and then by their place in its aspect.
 * An edge that is told again keeps its place. So what is added comes last, and paging by start and
 * count sees nothing twice and misses nothing while edges are added.
 */
import type { Position } from "../core/position.ts";
import type { Sink } from "../projector/sink.ts";

/** An edge as an aspect tells it. */
export interface Edge {
  readonly source: string;
  readonly type: string;
  readonly destination: string;
  // Where in the aspect it is told: /owners/*/owner
  readonly path: string;
  /** Urn of what the edge runs through: the query or the job that makes one end of the other. */
  readonly via?: string | undefined;
  /** Epoch milliseconds, and urns; absent where the aspect does not say. */
  readonly createdOn?: number | undefined;
  readonly createdActor?: string | undefined;
  readonly updatedOn?: number | undefined;
  readonly updatedActor?: string | undefined;
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

export type GraphWrite =
  /**
   * These are the edges that the aspect tells now; others that it told are gone. Stamps that an
   * edge lacks are those of the telling: `created…` of the one that made the edge, `updated…` of
   * the latest.
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
  /** The entity's aspects tell nothing any more. */
  | { readonly op: "remove_entity"; readonly urn: string; readonly position: Position }
  /** Every edge from and to the urn, and every one that its aspects tell, is gone. */
  | { readonly op: "forget"; readonly urn: string; readonly position: Position };

export type GraphSink = Sink<GraphWrite>;

/** OUTGOING: the urn is the source. INCOMING: it is the destination. UNDIRECTED: either. */
export type Direction = "INCOMING" | "OUTGOING" | "UNDIRECTED";

export interface NeighboursQuery {
  readonly urn: string;
  readonly direction: Direction;
  /** Types of edges. One that no edge has gives nothing; one named twice counts once. */
  readonly types: readonly string[];
  readonly start: number;
  readonly count: number;
}

/** Somebody at the other end. */
export interface Neighbour {
  readonly type: string;
  readonly urn: string;
  /** Of the pair's first edge. */
  readonly via?: string | undefined;
}

/** Which edges of an entity lead on. */
export interface Step {
  readonly direction: "INCOMING" | "OUTGOING";
  readonly type: string;
  /** Entity types that may be at the other end. */
  readonly to: ReadonlySet<string>;
}

/** The steps that entities of a type take; a type without any may be missing. */
export type Steps = ReadonlyMap<string, readonly Step[]>;

/** An edge that was followed. */
export interface Followed {
  /** One of the urns asked for, and what is at the other end. */
  readonly from: string;
  readonly to: string;
  readonly direction: Step["direction"];
  readonly type: string;
  readonly via?: string | undefined;
}

/** What names an edge for readers: its ends and its type. */
export type Pair = Pick<Edge, "source" | "type" | "destination">;

/** What the first edge of a pair says of itself. */
export interface Stamps {
  readonly createdOn: number;
  readonly createdActor: string;
  readonly updatedOn: number;
  readonly updatedActor: string;
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

export interface GraphReader {
  /**
   * Distinct pairs of type and neighbour, types in the order asked for, within a type in the order
   * of the pair's first edge; UNDIRECTED: outgoing ones before those that are incoming only.
   * `total` counts all of them.
   */
  neighbours(
    query: NeighboursQuery,
  ): Promise<{ readonly neighbours: readonly Neighbour[]; readonly total: number }>;

  /**
   * One step from each of some urns (at most urnsPerFollowMax): the first edge of each distinct
   * type and other end, in the order of the urns, of their steps, of the edges. At most `edgesMax`,
   * the first ones; `complete` is false when there are more.
   */
  follow(
    urns: readonly string[],
    steps: Steps,
    options: { readonly edgesMax: number },
  ): Promise<{ readonly edges: readonly Followed[]; readonly complete: boolean }>;

  /** In the order of the pairs; undefined for one that no edge has (any more). */
  stamps(pairs: readonly Pair[]): Promise<readonly (Stamps | undefined)[]>;

  /** May be said twice; later calls are `unavailable`. */
  close(): Promise<void>;
}

/** Most urns of one call of GraphReader.follow. */
export const urnsPerFollowMax = 500;

/**
 * An edge with all that the view knows of it, for verification (projector/compare.ts): in byte
 * order of entity and aspect, then by place.
 */
export interface GraphRow extends Pair, Stamps {
  /** What tells it. */
  readonly entity: string;
  readonly aspect: string;
  readonly path: string;
  readonly via: string | undefined;
  /** Its place: position of the record that told it first, and place in the aspect then. */
  readonly position: Position;
  readonly ordinal: number;
}
