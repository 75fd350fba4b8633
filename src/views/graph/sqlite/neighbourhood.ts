/**
 * Reads pages of neighbours. Each type and direction is a sorted index range; a page is a part of the
 * concatenated ranges.
 */
import type { DatabaseSync } from "node:sqlite";
import { numberOf, type Prepared, preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { Direction, Neighbour, NeighboursQuery } from "../graph.ts";
import type { GraphNumbers } from "./id-dictionary.ts";

type Page = { readonly neighbours: readonly Neighbour[]; readonly total: number };

/** Neighbours of one type, on one side of a node. */
interface Stretch {
  readonly count: () => number;
  readonly page: (limit: number, offset: number) => readonly Row[];
}

type Row = readonly [kind: number, rest: string, via: number | null];

export function createNeighbourhood(
  db: DatabaseSync,
  numbers: GraphNumbers,
): (query: NeighboursQuery) => Page {
  const sides = createSides(db);

  return ({ urn, direction, types, start, count }) => {
    const node = numbers.nodeOf(urn);
    const neighbours: Neighbour[] = [];
    let total = 0;
    if (node === undefined) return { neighbours, total };
    for (const type of new Set(types)) {
      const name = numbers.nameOf(type);
      if (name === undefined) continue;
      for (const stretch of sides(node, name, direction)) {
        const offset = Math.max(0, start - total);
        const wanted = count - neighbours.length;
        const rows = wanted > 0 ? stretch.page(wanted, offset) : [];
        for (const [kind, rest, via] of rows) {
          const neighbour = { type, urn: numbers.urnOfRow(kind, rest) };
          neighbours.push(via === null ? neighbour : { ...neighbour, via: numbers.urnOf(via) });
        }
        // A partial page gives the length of the range, unless it started beyond the end.
        const ended = rows.length < wanted && (rows.length > 0 || offset === 0);
        total += ended ? offset + rows.length : stretch.count();
      }
    }
    return { neighbours, total };
  };
}

function createSides(
  db: DatabaseSync,
): (node: number, type: number, direction: Direction) => readonly Stretch[] {
  const outgoing = statements(db, "edge_out", "source", "destination");
  const incoming = statements(db, "edge_in", "destination", "source");
  // Incoming neighbours that are also outgoing are listed there.
  const incomingOnly = statements(db, "edge_in", "destination", "source", OUTGOING_TOO);
  const side = ({ count, page }: Statements, node: number, type: number): Stretch => ({
    count: () => numberOf(count, node, type),
    page: (limit, offset) => page.all(node, type, limit, offset),
  });

  return (node, type, direction) => {
    if (direction === "OUTGOING") return [side(outgoing, node, type)];
    if (direction === "INCOMING") return [side(incoming, node, type)];
    const out = side(outgoing, node, type);
    // Without outgoing neighbours no comparison is needed.
    const compared = out.page(1, 0).length === 0 ? incoming : incomingOnly;
    return [out, side(compared, node, type)];
  };
}

const OUTGOING_TOO = `
  AND NOT EXISTS (SELECT 1 FROM edge AS other
    WHERE other.source = ?1 AND other.type = ?2 AND other.destination = edge.source)`;

interface Statements {
  readonly count: Prepared<readonly [number]>;
  readonly page: Prepared<Row>;
}

/** ?1: the node. ?2: the type. ?3, ?4: limit and offset. */
function statements(
  db: DatabaseSync,
  index: "edge_out" | "edge_in",
  near: string,
  far: string,
  condition = "",
): Statements {
  const { arrays } = preparingOn(db);
  const stretch = `edge INDEXED BY ${index} WHERE ${near} = ?1 AND type = ?2 AND leads = 1 ${condition}`;
  const count = arrays<readonly [number]>(`SELECT count(*) FROM ${stretch}`);
  const page = arrays<Row>(`
    SELECT kind, rest, via
    FROM (SELECT ${far} AS far, via, position, ordinal FROM ${stretch}
          ORDER BY position, ordinal LIMIT ?3 OFFSET ?4)
    JOIN node ON node.id = far ORDER BY position, ordinal`);
  return { count, page };
}
