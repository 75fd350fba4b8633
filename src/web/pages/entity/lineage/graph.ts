/** Graphs of lineage as data: joining them, and what lies on a path. */

import type { LineageEdge } from "../../../api/lineage.ts";
import type { ColumnEdge } from "./column-edges.ts";
import type { ColumnRef } from "./column-urn.ts";

export interface Graph {
  readonly urns: readonly string[];
  readonly edges: readonly LineageEdge[];
}

/** The id of an edge between entities. */
export const idOf = ({ source, target }: LineageEdge): string => `${source}\n${target}`;

/** All entities and edges of several graphs, each once. */
export function joinGraphs(graphs: readonly Graph[]): Graph {
  const edges = new Map(graphs.flatMap((graph) => graph.edges.map((edge) => [idOf(edge), edge])));
  const ends = [...edges.values()].flatMap(({ source, target }) => [source, target]);
  const urns = new Set([...graphs.flatMap((graph) => graph.urns), ...ends]);
  return { urns: [...urns], edges: [...edges.values()] };
}

/** Some entities, and the entities that an edge connects them with. */
export function withNeighbours({ edges }: Graph, urns: readonly string[]): readonly string[] {
  const own = new Set(urns);
  const near = edges.flatMap(({ source, target }) =>
    own.has(source) ? [target] : own.has(target) ? [source] : [],
  );
  return [...new Set([...urns, ...near])];
}

/** The ids of the edges of a shortest path between two entities, along or against the data. */
export function pathBetween({ edges }: Graph, from: string, to: string): ReadonlySet<string> {
  const along = walk(from, to, edges, false);
  return along.size > 0 ? along : walk(from, to, edges, true);
}

function walk(
  from: string,
  to: string,
  edges: readonly LineageEdge[],
  backwards: boolean,
): ReadonlySet<string> {
  const next = new Map<string, LineageEdge[]>();
  for (const edge of edges) {
    const start = backwards ? edge.target : edge.source;
    const already = next.get(start);
    if (already === undefined) next.set(start, [edge]);
    else already.push(edge);
  }
  const reached = new Map<string, LineageEdge | undefined>([[from, undefined]]);
  for (const [urn] of reached) {
    if (urn === to) break;
    for (const edge of next.get(urn) ?? []) {
      const end = backwards ? edge.source : edge.target;
      if (!reached.has(end)) reached.set(end, edge);
    }
  }
  const path = new Set<string>();
  for (let edge = reached.get(to); edge !== undefined; ) {
    path.add(idOf(edge));
    edge = reached.get(backwards ? edge.target : edge.source);
  }
  return path;
}

/** The key of a column, for sets and maps. */
export const keyOfColumn = ({ urn, path }: ColumnRef): string => `${urn}\n${path}`;

/** Keys of the columns that a column comes from and that come from it, at any distance, and its own. */
export function columnsAround(
  edges: readonly ColumnEdge[],
  column: ColumnRef,
): ReadonlySet<string> {
  const forward = new Map<string, string[]>();
  const backward = new Map<string, string[]>();
  for (const { source, target } of edges) {
    const [from, to] = [keyOfColumn(source), keyOfColumn(target)];
    forward.set(from, [...(forward.get(from) ?? []), to]);
    backward.set(to, [...(backward.get(to) ?? []), from]);
  }
  const start = keyOfColumn(column);
  return new Set([...reachable(start, forward), ...reachable(start, backward)]);
}

function reachable(
  start: string,
  next: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const one of reached) for (const end of next.get(one) ?? []) reached.add(end);
  return reached;
}
