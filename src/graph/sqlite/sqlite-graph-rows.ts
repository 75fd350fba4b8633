/** The rows of the graph in SQLite, for verification: the edges that the aspects of an entity tell. */
import { LRUCache } from "lru-cache";
import { inArrays, numberOf, openSqliteViewRows } from "../../projector/sqlite/row-reading.ts";
import type { Row, ViewRows } from "../../projector/verify/view-rows.ts";
import { createGraphNumbers } from "./graph-numbers.ts";
import { graphSchema } from "./schema.ts";

const URNS_PER_PAGE = 1_000;
/** Of one read: ends and actors come again and again. */
const URNS_MAX = 20_000;

type Columns = readonly [
  ...[aspect: number, type: number, source: number, destination: number],
  ...[position: number, ordinal: number, path: number, via: number | null],
  ...[createdOn: number, createdActor: number, updatedOn: number, updatedActor: number],
  ...[properties: string | null, leads: number, first: number],
];

export const openSqliteGraphRows = (path: string): ViewRows =>
  openSqliteViewRows(graphSchema, path, (db) => {
    const known = new LRUCache<number, string>({ max: URNS_MAX });
    let numbers = createGraphNumbers(db);
    // An edge leads its pair of ends when no other one was told before it.
    const edgesOf = inArrays(
      db.prepare(`
        SELECT aspect, type, source, destination, position, ordinal, path, via, created_on,
          created_actor, updated_on, updated_actor, properties, leads, NOT EXISTS
            (SELECT 1 FROM edge AS other
             WHERE (other.source, other.type, other.destination)
                 = (edge.source, edge.type, edge.destination)
               AND (other.position, other.ordinal) < (edge.position, edge.ordinal))
        FROM edge WHERE entity = ?`),
    );
    const countEdges = inArrays(db.prepare("SELECT count(*) FROM edge"));
    const tellersAfter = inArrays(
      db.prepare(`
        SELECT DISTINCT entity FROM edge WHERE entity > ? ORDER BY entity LIMIT ${URNS_PER_PAGE}`),
    );

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
      const [createdOn, createdActor, updatedOn, updatedActor, properties, leads, first] = stamps;
      return [
        ...[numbers.textOf(aspect), numbers.textOf(type), urnOf(source), urnOf(destination)],
        ...[position, ordinal, numbers.textOf(way), via === null ? null : urnOf(via)],
        ...[createdOn, urnOf(createdActor), updatedOn, urnOf(updatedActor), properties],
        leads === first ? 1 : 0,
      ];
    }

    return {
      begin() {
        // Numbers keep their meaning; but this is to find out whether they do.
        known.clear();
        numbers = createGraphNumbers(db);
      },
      rowsOf(urn) {
        const node = numbers.nodeOf(urn);
        if (node === undefined) return [];
        return (edgesOf.all(node) as unknown as Columns[]).map(rowOf);
      },
      count: () => numberOf(countEdges),
      urns(after) {
        const page = tellersAfter.all(Number(after ?? -1)) as unknown as [number][];
        return {
          urns: page.map(([node]) => numbers.urnOf(node)),
          next: page.length === URNS_PER_PAGE ? page.at(-1)?.[0] : undefined,
        };
      },
      faults: () => [],
    };
  });
