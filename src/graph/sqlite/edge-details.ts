/** What edges say of themselves: of single pairs, and of all edges for verification. */
import type { DatabaseSync } from "node:sqlite";
import type { Position } from "../../core/position.ts";
import type { GraphRow, Pair, Stamps } from "../graph.ts";
import type { GraphNumbers } from "./graph-numbers.ts";

const STAMPS = "created_on, created_actor, updated_on, updated_actor, properties";

type StampColumns = readonly [
  createdOn: number,
  createdActor: number,
  updatedOn: number,
  updatedActor: number,
  properties: string | null,
];

function stampsOf(columns: StampColumns, numbers: GraphNumbers): Stamps {
  const [createdOn, createdActor, updatedOn, updatedActor, properties] = columns;
  return {
    createdOn,
    createdActor: numbers.urnOf(createdActor),
    updatedOn,
    updatedActor: numbers.urnOf(updatedActor),
    ...(properties !== null && { properties: JSON.parse(properties) }),
  };
}

export function createStampsQuery(
  db: DatabaseSync,
  numbers: GraphNumbers,
): (pair: Pair) => Stamps | undefined {
  const find = db.prepare(`
    SELECT ${STAMPS} FROM edge WHERE source = ? AND type = ? AND destination = ? AND leads = 1`);
  find.setReturnArrays(true);
  return (pair) => {
    const source = numbers.nodeOf(pair.source);
    const type = numbers.nameOf(pair.type);
    const destination = numbers.nodeOf(pair.destination);
    if (source === undefined || type === undefined || destination === undefined) return undefined;
    const row = find.get(source, type, destination) as unknown as StampColumns | undefined;
    return row && stampsOf(row, numbers);
  };
}

type DumpColumns = readonly [
  ...[source: number, type: number, destination: number, aspect: number],
  ...[position: Position, ordinal: number, path: number, via: number | null],
  ...StampColumns,
];

export interface DumpPlace {
  readonly prefix: string;
  readonly rest: string;
}

/** The edges of some entities, and where the next ones begin. */
export function createDumpQuery(db: DatabaseSync, numbers: GraphNumbers, nodesMax: number) {
  const nextNodes = db.prepare(`
    SELECT node.id, prefix, rest FROM kind JOIN node ON kind = kind.id
    WHERE (prefix, rest) > (?, ?) ORDER BY prefix, rest LIMIT ?`);
  const edgesOf = db.prepare(`
    SELECT source, type, destination, aspect, position, ordinal, path, via, ${STAMPS}
    FROM edge JOIN name ON name.id = aspect WHERE entity = ?
    ORDER BY name.text, position, ordinal`);
  edgesOf.setReturnArrays(true);

  const rowOf = (entity: string, columns: DumpColumns): GraphRow => {
    const [source, type, destination, aspect, position, ordinal, path, via, ...stamps] = columns;
    return {
      entity,
      aspect: numbers.textOf(aspect),
      path: numbers.textOf(path),
      source: numbers.urnOf(source),
      type: numbers.textOf(type),
      destination: numbers.urnOf(destination),
      via: via === null ? undefined : numbers.urnOf(via),
      position,
      ordinal,
      ...stampsOf(stamps, numbers),
    };
  };

  return (after: DumpPlace) => {
    const nodes = nextNodes.all(after.prefix, after.rest, nodesMax) as unknown as (DumpPlace & {
      readonly id: number;
    })[];
    const rows = nodes.flatMap(({ id, prefix, rest }) =>
      (edgesOf.all(id) as unknown as DumpColumns[]).map((columns) => rowOf(prefix + rest, columns)),
    );
    return { rows, last: nodes.at(-1) };
  };
}
