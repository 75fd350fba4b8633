/** The rows of the graph in SQLite, for verification: the edges that the aspects of an entity state. */
import type { DatabaseSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { type EntitySums, everyRow } from "../../projector/sqlite/entity-sums.ts";
import { createNumbers } from "../../projector/sqlite/numbers.ts";
import { numberOf, preparingOn } from "../../projector/sqlite/prepared.ts";
import { openSqliteViewRows, type RowQueries } from "../../projector/sqlite/row-reading.ts";
import type { Row, ViewRows } from "../../projector/verify/view-rows.ts";
import { createGraphNumbers } from "./graph-numbers.ts";
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
  openSqliteViewRows(graphSchema, path, queriesOf, addAll);

function queriesOf(db: DatabaseSync): RowQueries {
  const { arrays } = preparingOn(db);
  const known = new LRUCache<number, string>({ max: URNS_MAX });
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

type NodeColumns = readonly [id: number, kind: number, rest: string];

type EdgeColumns = readonly [
  ...[source: number, type: number, destination: number, entity: number, aspect: number],
  ...[position: number, ordinal: number, path: number, via: number | null],
  ...[createdOn: number, createdActor: number, updatedOn: number, updatedActor: number],
  ...[properties: string | null, leads: number, sourceKind: number, destinationKind: number],
];

const AT_ENDS = 3;
const SOURCE_KIND = 15;
const DESTINATION_KIND = 16;

/** Adds edges in the order of their ends: edges with the same ends are adjacent, and one of them leads. */
async function addAll(db: DatabaseSync, sums: EntitySums): Promise<void> {
  const { arrays } = preparingOn(db);
  const prefixOf = new Map<number, string>();
  for (const { id, prefix } of db.prepare("SELECT id, prefix FROM kind").all()) {
    prefixOf.set(Number(id), String(prefix));
  }
  const textOf = new Map<number, string>();
  for (const { id, text } of db.prepare("SELECT id, text FROM name").all()) {
    textOf.set(Number(id), String(text));
  }
  const nodes = arrays<NodeColumns>(
    "SELECT id, kind, rest FROM node WHERE id > ? ORDER BY id LIMIT ?",
  );
  const kindOf = createNumbers();
  await everyRow(nodes, 1, ([id, kind, rest]) => {
    kindOf.set(id, kind);
    sums.name(id, `${prefixOf.get(kind) ?? ""}${rest}`);
  });
  const edges = arrays<EdgeColumns>(`
    SELECT source, type, destination, entity, aspect, position, ordinal, path, via, created_on,
      created_actor, updated_on, updated_actor, properties, leads, source_kind,
      destination_kind
    FROM edge WHERE (source, type, destination, entity, aspect) > (?, ?, ?, ?, ?)
    ORDER BY source, type, destination, entity, aspect LIMIT ?`);
  let alike: EdgeColumns[] = [];
  const isOfKinds = (edge: EdgeColumns): boolean => {
    const [source, , destination] = edge;
    return (
      kindOf.get(source) === edge[SOURCE_KIND] && kindOf.get(destination) === edge[DESTINATION_KIND]
    );
  };
  const endAlike = () => {
    const first = alike.length > 1 ? alike.reduce(earlier) : alike[0];
    for (const edge of alike) addEdge(edge, edge === first, isOfKinds(edge), textOf, sums);
  };
  await everyRow(edges, 5, (edge) => {
    const last = alike[0];
    if (last !== undefined && endsDiffer(last, edge)) {
      endAlike();
      alike = [];
    }
    alike.push(edge);
  });
  endAlike();
}

function endsDiffer(one: EdgeColumns, other: EdgeColumns): boolean {
  for (let n = 0; n < AT_ENDS; n++) if (one[n] !== other[n]) return true;
  return false;
}

function earlier(one: EdgeColumns, other: EdgeColumns): EdgeColumns {
  const [, , , , , onePosition, oneOrdinal] = one;
  const [, , , , , position, ordinal] = other;
  return position < onePosition || (position === onePosition && ordinal < oneOrdinal) ? other : one;
}

function addEdge(
  edge: EdgeColumns,
  first: boolean,
  ofKinds: boolean,
  textOf: ReadonlyMap<number, string>,
  sums: EntitySums,
): void {
  const [source, type, destination, entity, aspect, position, ordinal, path, via, ...stamps] = edge;
  if (!sums.begin(entity)) return;
  const [createdOn, createdActor, updatedOn, updatedActor, properties, leads] = stamps;
  const { hash } = sums;
  hash.text(textOf.get(aspect) ?? "");
  hash.text(textOf.get(type) ?? "");
  sums.urnCell(source);
  sums.urnCell(destination);
  hash.number(position);
  hash.number(ordinal);
  hash.text(textOf.get(path) ?? "");
  if (via === null) hash.nothing();
  else sums.urnCell(via);
  hash.number(createdOn);
  sums.urnCell(createdActor);
  hash.number(updatedOn);
  sums.urnCell(updatedActor);
  hash.cell(properties);
  hash.number((leads === 1) === first && ofKinds ? 1 : 0);
  sums.end();
}
