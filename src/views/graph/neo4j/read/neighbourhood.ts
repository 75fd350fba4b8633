/**
 * Reads pages of neighbours: one query for the same page of several nodes. Only leading edges have the
 * name of a type, so the number of neighbours is a node degree, which the server stores. A page needs a
 * sort of all neighbours.
 */
import { appendAll, slicesOf } from "../../../../lib/lists.ts";
import { batching } from "../../../../storage/batching.ts";
import type { Direction, Neighbour, NeighboursQuery } from "../../graph.ts";
import { whole } from "../connection.ts";
import type { AskLive } from "../live-generation.ts";
import { anyOf, relationshipOf, typeOfRelationship } from "../schema.ts";

type Page = { readonly neighbours: readonly Neighbour[]; readonly total: number };

const NONE: Page = { neighbours: [], total: 0 };

/** Maximum number of neighbours that a query asks for, unless one page is larger. */
const NEIGHBOURS_MAX = 200_000;

export function createNeighbourhood(ask: AskLive): (query: NeighboursQuery) => Promise<Page> {
  /** The pages of queries that differ in the urn only, in their order. */
  async function pagesOf(queries: readonly NeighboursQuery[]): Promise<readonly Page[]> {
    const [{ direction, types, start, count } = NO_TYPES] = queries;
    const relationships = [...new Set(types)].filter((type) => type !== "").map(relationshipOf);
    if (relationships.length === 0) return queries.map(() => NONE);
    const pages: Page[] = [];
    const together = Math.max(1, Math.floor(NEIGHBOURS_MAX / Math.max(1, count)));
    for (const some of slicesOf(queries, together)) {
      const answer = await ask((label) => ({
        text: pagesQuery(label, direction, relationships),
        parameters: {
          asked: some.map(({ urn }, at) => [whole(at), urn]),
          start: whole(start),
          count: whole(count),
          ranks: Object.fromEntries(relationships.map((name, rank) => [name, whole(rank)])),
        },
      }));
      const found = new Map(
        ((answer ?? []) as readonly Found[]).map(([at, total, rows]) => [
          at,
          { neighbours: rows.map(neighbourOf), total },
        ]),
      );
      appendAll(
        pages,
        some.map((_, at) => found.get(at) ?? NONE),
      );
    }
    return pages;
  }

  return batching(pagesOf, ({ direction, types, start, count }) =>
    JSON.stringify([direction, types, start, count]),
  );
}

const NO_TYPES = { direction: "OUTGOING", types: [], start: 0, count: 0 } as const;

type Found = readonly [at: number, total: number, rows: readonly Row[]];
type Row = readonly [relationship: string, urn: string, via: string | null];

const neighbourOf = ([relationship, urn, via]: Row): Neighbour => {
  const neighbour = { type: typeOfRelationship(relationship), urn };
  return via === null ? neighbour : { ...neighbour, via };
};

function pagesQuery(label: string, direction: Direction, relationships: readonly string[]): string {
  const any = anyOf(relationships);
  const node = `UNWIND $asked AS one MATCH (n:\`${label}\` {urn: one[1]}) WITH n, one[0] AS at`;
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
      WITH n, at, COUNT { ${edge("", "")} } AS total
      CALL (n) { MATCH ${edge("r", "m")} ${page("")} }
      WITH collect([at, total, page]) AS answer`;
  }
  // Incoming neighbours that are also outgoing are listed there. Without outgoing ones, all count.
  const alone = `NOT EXISTS { (n)-[other:${any}]->(m) WHERE type(other) = type(r) }`;
  return `${node}
    WITH n, at, COUNT { (n)-[:${any}]->() } AS out
    WITH n, at, out, out + CASE WHEN out = 0 THEN COUNT { (n)<-[:${any}]-() }
      ELSE COUNT { (n)<-[r:${any}]-(m) WHERE ${alone} } END AS total
    CALL (n, out) {
      CALL (n, out) {
        MATCH (n)-[r:${any}]->(m) RETURN r, m, 0 AS side
        UNION ALL
        MATCH (n)<-[r:${any}]-(m) WHERE out = 0 OR ${alone} RETURN r, m, 1 AS side
      }
      ${page("side, ")}
    }
    WITH collect([at, total, page]) AS answer`;
}
