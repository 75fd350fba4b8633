/** Reads properties of edges: of single pairs, and of all edges for dumps (storage/dump.ts). */
import type { DatabaseSync } from "node:sqlite";
import type { Position } from "../../../core/position.ts";
import { preparingOn } from "../../../storage/sqlite/prepared.ts";
import type { GraphRow, Pair, Stamps } from "../graph.ts";
import type { GraphNumbers } from "./id-dictionary.ts";

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
  const { arrays } = preparingOn(db);
  const find = arrays<StampColumns>(`
    SELECT ${STAMPS} FROM edge WHERE source = ? AND type = ? AND destination = ? AND leads = 1`);
  return (pair) => {
    const source = numbers.nodeOf(pair.source);
    const type = numbers.nameOf(pair.type);
    const destination = numbers.nodeOf(pair.destination);
    if (source === undefined || type === undefined || destination === undefined) return undefined;
    const row = find.get(source, type, destination);
    return row && stampsOf(row, numbers);
  };
}

type DumpColumns = readonly [
  ...[source: number, type: number, destination: number, aspect: number],
  ...[position: Position, ordinal: number, path: number, via: number | null],
  ...StampColumns,
];

interface Dumping {
  /** Kinds in the order of their prefixes. */
  kinds(): readonly DumpedKind[];
  /** The edges of some entities of a kind, and the rest of a urn with which the next ones begin. */
  edges(
    kind: DumpedKind,
    from: string,
  ): { readonly rows: readonly GraphRow[]; readonly next: string | undefined };
}

interface DumpedKind {
  readonly id: number;
  readonly prefix: string;
}

export function createDumping(
  db: DatabaseSync,
  numbers: GraphNumbers,
  options: { readonly nodesMax: number },
): Dumping {
  const { arrays, objects } = preparingOn(db);
  const allKinds = objects<DumpedKind>("SELECT id, prefix FROM kind ORDER BY prefix");
  const nodesFrom = objects<{ readonly id: number; readonly rest: string }>(
    "SELECT id, rest FROM node WHERE kind = ? AND rest >= ? ORDER BY rest LIMIT ?",
  );
  const edgesOf = arrays<DumpColumns>(`
    SELECT source, type, destination, aspect, position, ordinal, path, via, ${STAMPS}
    FROM edge JOIN name ON name.id = aspect WHERE entity = ?
    ORDER BY name.text, position, ordinal`);

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

  return {
    kinds: () => allKinds.all(),
    edges({ id: kind, prefix }, from) {
      const nodes = nodesFrom.all(kind, from, options.nodesMax);
      const rows = nodes.flatMap(({ id, rest }) =>
        edgesOf.all(id).map((columns) => rowOf(`${prefix}${rest}`, columns)),
      );
      // The next text in byte order is the same with a NUL.
      const next = nodes.length === options.nodesMax ? `${nodes.at(-1)?.rest}\0` : undefined;
      return { rows, next };
    },
  };
}
