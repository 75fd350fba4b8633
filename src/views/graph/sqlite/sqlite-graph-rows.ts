/** The rows of the graph in SQLite, for verification: the edges that the aspects of an entity state. */
import type { DatabaseSync } from "node:sqlite";
import { boundedCache } from "../../../lib/bounded-cache.ts";
import type { Row, ViewRows } from "../../../projector/verify/view-rows.ts";
import { numberOf, preparingOn } from "../../../storage/sqlite/prepared.ts";
import { openSqliteViewRows, type RowQueries } from "../../../storage/sqlite/row-reading.ts";
import { createGraphNumbers } from "./id-dictionary.ts";
import { graphSchema } from "./schema.ts";

const URNS_PER_PAGE = 1_000;
/** Cache of one read: ends and actors repeat. */
const URNS_MAX = 20_000;

type Columns = readonly [
  ...[aspect: number, type: number, source: number, destination: number],
  ...[position: number, ordinal: number, path: number, via: number | null],
  ...[createdOn: number, createdActor: number, updatedOn: number, updatedActor: number],
  ...[properties: string | null, leads: number, first: number, ofKinds: number],
];

export const openSqliteGraphRows = (path: string): ViewRows =>
  openSqliteViewRows(graphSchema, path, queriesOf);

function queriesOf(db: DatabaseSync): RowQueries {
  const { arrays } = preparingOn(db);
  const known = boundedCache<number, string>(URNS_MAX);
  let numbers = createGraphNumbers(db);
  // An edge leads its pair of ends if no other one was stated before it. Traversal skips edges by their
  // stored kinds, without reading the ends, so the kinds are compared, too.
  const edgesOf = arrays<Columns>(`
    SELECT aspect, type, source, destination, position, ordinal, path, via, created_on,
      created_actor, updated_on, updated_actor, properties, leads, NOT EXISTS
        (SELECT 1 FROM edge AS other
         WHERE (other.source, other.type, other.destination)
             = (edge.source, edge.type, edge.destination)
           AND (other.position, other.ordinal) < (edge.position, edge.ordinal)),
      source_kind IS (SELECT kind FROM node WHERE id = source)
        AND destination_kind IS (SELECT kind FROM node WHERE id = destination)
    FROM edge WHERE entity = ?`);
  const countEdges = arrays<readonly [number]>("SELECT count(*) FROM edge");
  const ownersAfter = arrays<readonly [entity: number]>(`
    SELECT DISTINCT entity FROM edge WHERE entity > ? ORDER BY entity LIMIT ${URNS_PER_PAGE}`);

  function urnOf(node: number): string {
    let urn = known.get(node);
    if (urn === undefined) {
      urn = numbers.urnOf(node);
      known.set(node, urn);
    }
    return urn;
  }

  function rowOf(columns: Columns): Row {
    const [aspect, type, source, destination, position, ordinal, way, via, ...stamps] = columns;
    const [createdOn, createdActor, updatedOn, updatedActor, properties, leads, first, ofKinds] =
      stamps;
    return [
      ...[numbers.textOf(aspect), numbers.textOf(type), urnOf(source), urnOf(destination)],
      ...[position, ordinal, numbers.textOf(way), via === null ? null : urnOf(via)],
      ...[createdOn, urnOf(createdActor), updatedOn, urnOf(updatedActor), properties],
      leads === first && ofKinds === 1 ? 1 : 0,
    ];
  }

  return {
    begin() {
      // Numbers never change, but verification must not rely on that.
      known.clear();
      numbers = createGraphNumbers(db);
    },
    rowsOf(urn) {
      const node = numbers.nodeOf(urn);
      if (node === undefined) return [];
      return edgesOf.all(node).map(rowOf);
    },
    count: () => numberOf(countEdges),
    urns(after) {
      const page = ownersAfter.all(Number(after ?? -1));
      return {
        urns: page.map(([node]) => numbers.urnOf(node)),
        next: page.length === URNS_PER_PAGE ? page.at(-1)?.[0] : undefined,
      };
    },
    faults: () => [],
  };
}
