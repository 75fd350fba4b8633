/** Graphs of lineage as data: joining them, and paths in them. */
import type { LineageEdge } from "../../../api/lineage.ts";

export interface Graph {
  readonly urns: readonly string[];
  readonly edges: readonly LineageEdge[];
}

const idOf = ({ source, target }: LineageEdge): string => `${source}\n${target}`;

/** All entities and edges of several graphs, each once. */
export function joinGraphs(graphs: readonly Graph[]): Graph {
  const edges = new Map(graphs.flatMap((graph) => graph.edges.map((edge) => [idOf(edge), edge])));
  const ends = [...edges.values()].flatMap(({ source, target }) => [source, target]);
  const urns = new Set([...graphs.flatMap((graph) => graph.urns), ...ends]);
  return { urns: [...urns], edges: [...edges.values()] };
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
    next.set(start, [...(next.get(start) ?? []), edge]);
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
