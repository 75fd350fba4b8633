/** `annals relationships` and `annals lineage`: the edges of an entity, and what it is made from or feeds. */
import { dataOf } from "../../../client/client.ts";
import { appendAll } from "../../../lib/lists.ts";
import { entityTypeIn, requireEntity } from "../../client/model.ts";
import type { Session } from "../../client/session.ts";

export interface RelationshipsFlags {
  readonly type?: readonly string[];
  readonly direction: "outgoing" | "incoming" | "both";
}

interface Edge {
  readonly type: string;
  readonly direction: "outgoing" | "incoming";
  readonly urn: string;
}

const pageMax = 1_000;

export async function relationships(
  session: Session,
  urn: string,
  { type: types = [], direction }: RelationshipsFlags,
): Promise<void> {
  const directions = direction === "both" ? (["outgoing", "incoming"] as const) : [direction];
  const edges: Edge[] = [];
  for (const each of directions) appendAll(edges, await edgesOf(session, urn, types, each));
  if (edges.length === 0) await requireEntity(session.client, urn);
  await session.print({
    value: edges,
    urns: [...new Set(edges.map((edge) => edge.urn))],
    table: {
      heads: ["RELATIONSHIP", "", "URN"],
      rows: edges.map((edge) => [edge.type, edge.direction === "outgoing" ? "→" : "←", edge.urn]),
    },
    none: `${urn} has no such relationships`,
  });
}

async function edgesOf(
  { client }: Session,
  urn: string,
  types: readonly string[],
  direction: Edge["direction"],
): Promise<readonly Edge[]> {
  const edges: Edge[] = [];
  let scrollId: string | undefined;
  do {
    const query = {
      direction: direction === "outgoing" ? ("OUTGOING" as const) : ("INCOMING" as const),
      ...{ count: pageMax, includeSoftDelete: true },
      ...(types.length > 0 && { relationshipType: types.join(",") }),
      ...(scrollId !== undefined && { scrollId }),
    };
    const path = { entity: entityTypeIn(urn), urn };
    const page = await dataOf(
      client.GET("/openapi/v3/relationship/{entity}/{urn}", { params: { path, query } }),
    );
    for (const { relationshipType, source, destination } of page.results) {
      const other = direction === "outgoing" ? destination : source;
      edges.push({ type: relationshipType, direction, urn: other.urn });
    }
    scrollId = page.scrollId;
  } while (scrollId !== undefined);
  return edges;
}

export interface LineageFlags {
  readonly direction: "upstream" | "downstream";
  readonly hops: number;
  readonly count: number;
}

export async function lineage(
  session: Session,
  urn: string,
  { direction, hops, count }: LineageFlags,
): Promise<void> {
  entityTypeIn(urn);
  const body = {
    ...{ urn, maxHops: hops, count },
    direction: direction === "upstream" ? ("UPSTREAM" as const) : ("DOWNSTREAM" as const),
  };
  const read = session.client.POST("/relationships?action=getLineage", { body });
  const { value } = await dataOf(read);
  if (value.total === 0) await requireEntity(session.client, urn);
  const found = value.relationships.map(({ entity, type, degree, paths }) => ({
    ...{ urn: entity, type, hops: degree },
    path: paths?.[0] ?? [urn, entity],
  }));
  await session.print({
    value: { urn, direction, total: value.total, partial: value.partial, entities: found },
    urns: found.map((one) => one.urn),
    table: treeOf(
      urn,
      found.map(({ path }) => path),
    ),
  });
  if (found.length === 0) session.terminal.note(`nothing is ${direction} of it`);
  if (value.total > found.length) {
    session.terminal.note(`${found.length} of ${value.total}; --count shows more`);
  }
  if (value.partial) session.terminal.note("the walk ended early: the result is not complete");
}

interface Node {
  readonly children: Map<string, Node>;
}

/** The paths from the root as a tree. */
export function treeOf(root: string, paths: readonly (readonly string[])[]): string {
  const top: Node = { children: new Map() };
  for (const path of paths) {
    let node = top;
    for (const urn of path.slice(1)) {
      const next = node.children.get(urn) ?? { children: new Map() };
      node.children.set(urn, next);
      node = next;
    }
  }
  return [root, ...branches(top, "")].join("\n");
}

function branches({ children }: Node, indent: string): readonly string[] {
  return [...children].flatMap(([urn, node], at) => {
    const last = at === children.size - 1;
    return [
      `${indent}${last ? "└── " : "├── "}${urn}`,
      ...branches(node, `${indent}${last ? "    " : "│   "}`),
    ];
  });
}
