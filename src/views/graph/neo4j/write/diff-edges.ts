/**
 * Combines many writes into one change of the stored edges: applies them to the edges in memory, and
 * returns the created, removed and updated edges.
 */
import type { GraphWrite } from "../../graph.ts";
import { detailsOf, type EdgeRow, namesEdge, type StoredEdge, sameDetails } from "../edges.ts";

type Write<Op extends GraphWrite["op"]> = Extract<GraphWrite, { op: Op }>;

interface EdgeState {
  apply(write: GraphWrite): void;
  /** Removes the edges that the entity states about a node; all of them for its own node. */
  removeStated(entity: string, urn: string): void;
  rows(): Iterable<EdgeRow>;
}

type ByPair = Map<string, EdgeRow>;

/** `kept`: all stored edges that the writes affect. */
export function createEdgeState(kept: readonly StoredEdge[]): EdgeState {
  const entities = new Map<string, Map<string, ByPair>>();
  for (const { row } of kept) pairsOf(row.entity, row.aspect).set(namesEdge(row), row);

  function pairsOf(entity: string, aspect: string): ByPair {
    const aspects = entities.get(entity) ?? new Map<string, ByPair>();
    const pairs = aspects.get(aspect) ?? new Map<string, EdgeRow>();
    entities.set(entity, aspects.set(aspect, pairs));
    return pairs;
  }

  /** An edge that is stated again keeps its order. */
  function replace({ urn: entity, aspect, position, stamp, edges }: Write<"replace">): void {
    const before = pairsOf(entity, aspect);
    const now: ByPair = new Map();
    for (const [ordinal, edge] of edges.entries()) {
      const { source, type, destination } = edge;
      const pair = namesEdge(edge);
      const old = before.get(pair);
      const details = detailsOf(edge, stamp, old?.details);
      const row = old ?? { entity, aspect, source, type, destination, position, ordinal, details };
      now.set(pair, row.details === details ? row : { ...row, details });
    }
    entities.get(entity)?.set(aspect, now);
  }

  function removeAbout(urn: string, pairs: ByPair): void {
    for (const [pair, row] of pairs) {
      if (row.source === urn || row.destination === urn) pairs.delete(pair);
    }
  }

  return {
    apply(write) {
      if (write.op === "replace") return replace(write);
      entities.delete(write.urn);
      if (write.op !== "forget") return;
      for (const aspects of entities.values()) {
        for (const pairs of aspects.values()) removeAbout(write.urn, pairs);
      }
    },
    removeStated(entity, urn) {
      if (entity === urn) entities.delete(entity);
      for (const pairs of entities.get(entity)?.values() ?? []) removeAbout(urn, pairs);
    },
    *rows() {
      for (const aspects of entities.values()) {
        for (const pairs of aspects.values()) yield* pairs.values();
      }
    },
  };
}

/** A difference between two sets of edges. */
export interface EdgeChange {
  readonly created: readonly EdgeRow[];
  readonly updated: readonly { readonly before: StoredEdge; readonly row: EdgeRow }[];
  readonly removed: readonly StoredEdge[];
}

export function changeBetween(kept: readonly StoredEdge[], rows: Iterable<EdgeRow>): EdgeChange {
  const gone = new Map(kept.map((edge) => [edge.id, edge]));
  const created: EdgeRow[] = [];
  const updated: { before: StoredEdge; row: EdgeRow }[] = [];
  for (const row of rows) {
    const before = row.kept === undefined ? undefined : gone.get(row.kept);
    if (before === undefined) created.push(row);
    else {
      gone.delete(before.id);
      if (row !== before.row && !sameRow(row, before.row)) updated.push({ before, row });
    }
  }
  return { created, updated, removed: [...gone.values()] };
}

/** The rows, each with the id of the stored edge of the same aspect and ends. */
export function recognised(
  kept: readonly StoredEdge[],
  rows: readonly EdgeRow[],
): readonly EdgeRow[] {
  const ids = new Map(kept.map((edge) => [keyOf(edge.row), edge.id]));
  return rows.map((row) => ({ ...row, kept: ids.get(keyOf(row)) }));
}

const keyOf = (row: EdgeRow): string =>
  `${row.entity.length} ${row.aspect.length} ${row.entity}${row.aspect} ${namesEdge(row)}`;

export const samePlace = (a: EdgeRow, b: EdgeRow): boolean =>
  a.position === b.position && a.ordinal === b.ordinal;

const sameRow = (a: EdgeRow, b: EdgeRow): boolean =>
  samePlace(a, b) && sameDetails(a.details, b.details);
