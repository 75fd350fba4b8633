/**
 * Reads pages of neighbours. Only leading edges have the name of a type, so the number of neighbours is
 * a node degree, which the server stores. A page needs a sort of all neighbours.
 */
import type { Direction, Neighbour, NeighboursQuery } from "../../graph.ts";
import { whole } from "../connection.ts";
import type { LiveGeneration } from "../live-generation.ts";
import { anyOf, relationshipOf, typeOfRelationship } from "../schema.ts";

type Page = { readonly neighbours: readonly Neighbour[]; readonly total: number };

const NONE: Page = { neighbours: [], total: 0 };

export function createNeighbourhood(
  generation: LiveGeneration,
): (query: NeighboursQuery) => Promise<Page> {
  return async ({ urn, direction, types, start, count }) => {
    const relationships = [...new Set(types)].filter((type) => type !== "").map(relationshipOf);
    if (relationships.length === 0) return NONE;
    const answer = await generation.ask((label) => ({
      text: pageQuery(label, direction, relationships),
      parameters: {
        urn,
        start: whole(start),
        count: whole(count),
        ranks: Object.fromEntries(relationships.map((name, rank) => [name, whole(rank)])),
      },
    }));
    if (answer === undefined) return NONE;
    const [total, rows] = answer as readonly [number, readonly Row[]];
    return { neighbours: rows.map(neighbourOf), total };
  };
}

type Row = readonly [relationship: string, urn: string, via: string | null];

const neighbourOf = ([relationship, urn, via]: Row): Neighbour => {
  const neighbour = { type: typeOfRelationship(relationship), urn };
  return via === null ? neighbour : { ...neighbour, via };
};

function pageQuery(label: string, direction: Direction, relationships: readonly string[]): string {
  const any = anyOf(relationships);
  const node = `OPTIONAL MATCH (n:\`${label}\` {urn: $urn})`;
  const rank = relationships.length === 1 ? "" : "$ranks[type(r)], ";
  const page = (side: "" | "side, "): string => `
    WITH ${side}r, m ORDER BY ${rank}${side}r.position, r.ordinal SKIP $start LIMIT $count
    RETURN collect([type(r), m.urn, r.via]) AS page`;

  if (direction !== "UNDIRECTED") {
    const edge = (name: string, end: string): string =>
      direction === "OUTGOING"
        ? `(n)-[${name}:${any}]->(${end})`
        : `(n)<-[${name}:${any}]-(${end})`;
    return `${node}
      WITH n, COUNT { ${edge("", "")} } AS total
      CALL (n) { MATCH ${edge("r", "m")} ${page("")} }
      WITH [total, page] AS answer`;
  }
  // Incoming neighbours that are also outgoing are listed there. Without outgoing ones, all count.
  const alone = `NOT EXISTS { (n)-[other:${any}]->(m) WHERE type(other) = type(r) }`;
  return `${node}
    WITH n, COUNT { (n)-[:${any}]->() } AS out
    WITH n, out, out + CASE WHEN out = 0 THEN COUNT { (n)<-[:${any}]-() }
      ELSE COUNT { (n)<-[r:${any}]-(m) WHERE ${alone} } END AS total
    CALL (n, out) {
      CALL (n, out) {
        MATCH (n)-[r:${any}]->(m) RETURN r, m, 0 AS side
        UNION ALL
        MATCH (n)<-[r:${any}]-(m) WHERE out = 0 OR ${alone} RETURN r, m, 1 AS side
      }
      ${page("side, ")}
    }
    WITH [total, page] AS answer`;
}
