/** Edges as stored in the server, and queries for the edges that an entity states. */
import type { Edge, Pair } from "../graph.ts";
import { type Columns, whole } from "./connection.ts";
import { alsoOf, leads, relationshipOf, STATES, typeOfRelationship } from "./schema.ts";

/** An edge with all stored properties. */
export interface StoredEdge {
  /** The server's id of the edge. */
  readonly id: string;
  readonly leads: boolean;
  readonly row: EdgeRow;
}

export interface EdgeRow {
  readonly entity: string;
  readonly aspect: string;
  readonly source: string;
  readonly type: string;
  readonly destination: string;
  readonly position: number;
  readonly ordinal: number;
  readonly details: Details;
  /** The server's id of the existing edge that it replaces, if there is one. */
  readonly kept?: string | undefined;
}

/** The properties that a later write may change. */
interface Details {
  readonly path: string;
  readonly via: string | null;
  readonly createdOn: number;
  readonly createdActor: string;
  readonly updatedOn: number;
  readonly updatedActor: string;
  /** JSON text. */
  readonly properties: string | null;
}

/** Missing stamps are those of the write; `created…` those of the first write with the edge. */
export function detailsOf(
  edge: Edge,
  stamp: { readonly time: number; readonly actor: string },
  old: Details | undefined,
): Details {
  return {
    path: edge.path,
    via: edge.via ?? null,
    createdOn: edge.createdOn ?? old?.createdOn ?? stamp.time,
    createdActor: edge.createdActor ?? old?.createdActor ?? stamp.actor,
    updatedOn: edge.updatedOn ?? stamp.time,
    updatedActor: edge.updatedActor ?? stamp.actor,
    properties: edge.properties === undefined ? null : JSON.stringify(edge.properties),
  };
}

const DETAILS = [
  "path",
  "via",
  "createdOn",
  "createdActor",
  "updatedOn",
  "updatedActor",
  "properties",
] as const;

export const sameDetails = (a: Details, b: Details): boolean =>
  // Safe lookup: DETAILS is a closed list.
  a === b || DETAILS.every((name) => a[name] === b[name]);

/** Key of an edge among those that one aspect of an entity states. */
export const namesEdge = ({ source, type, destination }: Pair): string =>
  `${source.length} ${type.length} ${source}${type}${destination}`;

/** Columns of an edge `r` from `s` to `d`, as `storedEdge` takes them. */
export const COLUMNS = [
  "elementId(r), type(r), s.urn, d.urn, r.entity, r.aspect, r.position, r.ordinal",
  ...DETAILS.map((name) => `r.${name}`),
].join(", ");

const COLLECTED = `WITH collect([${COLUMNS}]) AS answer`;

type EdgeColumns = readonly [
  ...[id: string, relationship: string, source: string, destination: string],
  ...[entity: string | null, aspect: string, position: number, ordinal: number],
  ...[path: string, via: string | null, createdOn: number, createdActor: string],
  ...[updatedOn: number, updatedActor: string, properties: string | null],
];

export function storedEdge(columns: Columns): StoredEdge {
  const [id, relationship, source, destination, entity, aspect, position, ordinal, ...rest] =
    columns as EdgeColumns;
  const [path, via, createdOn, createdActor, updatedOn, updatedActor, properties] = rest;
  const details = { path, via, createdOn, createdActor, updatedOn, updatedActor, properties };
  const type = typeOfRelationship(relationship);
  const owner = entity ?? source;
  const ends = { source, type, destination };
  const row = { entity: owner, aspect, ...ends, position, ordinal, details, kept: id };
  return { id, leads: leads(relationship), row };
}

/**
 * Queries for the edges that entities state. $asked: pairs of a urn and a list of aspects, null for all.
 * The first query is for edges that begin at the entity, the second for the rest. They end with one
 * list, `answer`, which costs half as much as rows.
 */
export const statedQueries = (label: string): readonly [own: string, others: string] => [
  `UNWIND $asked AS one MATCH (s:\`${label}\` {urn: one[0]})-[r]->(d)
   WHERE r.entity IS NULL AND r.aspect IS NOT NULL AND (one[1] IS NULL OR r.aspect IN one[1])
   ${COLLECTED}`,
  `UNWIND $asked AS one MATCH (e:\`${label}\` {urn: one[0]})-[t:${STATES}]->(s)
   WHERE one[1] IS NULL OR t.by IN one[1]
   MATCH (s)-[r]->(d) WHERE r.entity = one[0] AND r.aspect = t.by
   ${COLLECTED}`,
];

/** Query for the edges of an entity that begin at given nodes, without using the pointers. */
export const statedFromQuery = (label: string): string =>
  `UNWIND $sources AS source MATCH (s:\`${label}\` {urn: source})-[r]->(d)
   WHERE r.entity = $entity AND r.aspect IS NOT NULL ${COLLECTED}`;

/** Query for all edges from and to nodes. */
export const aroundQuery = (label: string): string =>
  `UNWIND $urns AS urn MATCH (n:\`${label}\` {urn: urn})-[r]-()
   WHERE r.aspect IS NOT NULL WITH DISTINCT r, startNode(r) AS s, endNode(r) AS d ${COLLECTED}`;

/**
 * Creates edges of a type, all leading; returns the pairs of ends that then have several. $rows: the
 * urn and the edges of each source, so that it is looked up once.
 */
export function createQuery(label: string, type: string): string {
  const relationship = relationshipOf(type);
  const kept = DETAILS.map((name, i) => `${name}: row[${i + 5}]`).join(", ");
  return `UNWIND $rows AS stated
    MATCH (s:\`${label}\` {urn: stated[0]})
    UNWIND stated[1] AS row MATCH (d:\`${label}\` {urn: row[0]})
    CREATE (s)-[r:\`${relationship}\` {
      entity: row[1], aspect: row[2], position: row[3], ordinal: row[4], ${kept}}]->(d)
    WITH s, d, r
    WHERE EXISTS {
      MATCH (s)-[other:\`${relationship}\`|\`${alsoOf(relationship)}\`]->(d) WHERE other <> r }
    RETURN DISTINCT s.urn, d.urn`;
}

/** $rows of createQuery. */
export const createRows = (rows: readonly EdgeRow[]): readonly unknown[] =>
  Array.from(
    Map.groupBy(rows, (row) => row.source),
    ([source, edges]) => [source, edges.map(createColumns)],
  );

const createColumns = (row: EdgeRow): readonly unknown[] => [
  row.destination,
  row.entity === row.source ? null : row.entity,
  row.aspect,
  whole(row.position),
  whole(row.ordinal),
  ...detailColumns(row.details),
];

export const updateQuery = `UNWIND $rows AS row
  MATCH ()-[r]->() WHERE elementId(r) = row[0]
  SET r.position = row[1], r.ordinal = row[2],
    ${DETAILS.map((name, i) => `r.${name} = row[${i + 3}]`).join(", ")}`;

export const updateColumns = (id: string, row: EdgeRow): readonly unknown[] => [
  id,
  whole(row.position),
  whole(row.ordinal),
  ...detailColumns(row.details),
];

export const removeQuery = "UNWIND $ids AS id MATCH ()-[r]->() WHERE elementId(r) = id DELETE r";

/** Removes leading edges of a type; returns the pairs of ends that still have other edges. */
export const removeLeadingQuery = (type: string): string => `UNWIND $ids AS id
  MATCH (s)-[r]->(d) WHERE elementId(r) = id DELETE r
  WITH DISTINCT s, d WHERE EXISTS { (s)-[:\`${alsoOf(relationshipOf(type))}\`]->(d) }
  RETURN s.urn, d.urn`;

const detailColumns = ({ createdOn, updatedOn, ...details }: Details): readonly unknown[] => [
  ...[details.path, details.via, whole(createdOn), details.createdActor],
  ...[whole(updatedOn), details.updatedActor, details.properties],
];
