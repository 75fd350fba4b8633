/**
 * The sink of the graph in SQLite. Compares the new edges of an aspect with its stored ones: an
 * unchanged edge keeps its row and its order, and only new and removed edges change indexes.
 *
 * Records come in order, so a new edge is the last of all: it leads if its pair of ends is new. When a
 * leading edge is removed, the next one of its pair leads.
 */
import type { Position } from "../../../core/position.ts";
import { boundedCache } from "../../../lib/bounded-cache.ts";
import { splitUrn } from "../../../storage/split-urn.ts";
import { preparingOn } from "../../../storage/sqlite/prepared.ts";
import { createSqliteSink } from "../../../storage/sqlite/sqlite-sink.ts";
import {
  openSqliteView,
  type SqliteView,
  type ViewFile,
} from "../../../storage/sqlite/sqlite-view.ts";
import { createTextIds } from "../../../storage/sqlite/text-ids.ts";
import type { Edge, GraphSink, GraphWrite } from "../graph.ts";
import { graphSchema } from "./schema.ts";

type Write<Op extends GraphWrite["op"]> = Extract<GraphWrite, { op: Op }>;

/** About 30 MB when full; a miss costs one index lookup. */
const NODES_MAX = 100_000;
/** Bounded, because aspects may have urns of any number of unknown types. */
const KINDS_MAX = 1_000;

export function openSqliteGraphSink(file: ViewFile): GraphSink {
  const view = openSqliteView(graphSchema, file);
  return createSqliteSink(view, createWriter(view));
}

/** Columns of an edge: its ends, the entity and aspect that state it, and the rest. */
type Ends = readonly [source: number, type: number, destination: number];
type Kinds = readonly [source: number, destination: number];
type Owner = readonly [entity: number, aspect: number];
type Place = readonly [position: number, ordinal: number];
type Details = readonly [
  path: number,
  via: number | null,
  createdOn: number,
  createdActor: number,
  updatedOn: number,
  updatedActor: number,
  properties: string | null,
];

type EdgeColumns = readonly [...Ends, ...Owner, leads: number, ...Details];

interface Row {
  readonly ends: Ends;
  readonly owner: Owner;
  readonly leads: boolean;
  readonly details: Details;
}

function createWriter({ db }: SqliteView) {
  const nodes = createNodeNumbers(db);
  // Types, aspects and paths come from the model, so there are few.
  const names = createTextIds(db, { table: "name", column: "text" });
  const rows = createRows(db);

  function replace({ urn, aspect, position, stamp, edges }: Write<"replace">): void {
    const entity = edges.length === 0 ? nodes.find(urn) : nodes.numberOf(urn);
    // An unknown entity has no edges, and states none now.
    if (entity === undefined) return;
    const owner: Owner = [entity, names.idOf(aspect)];
    const gone = new Map(rows.statedBy(owner).map((row) => [keyOf(row.ends), row]));
    for (const [ordinal, edge] of edges.entries()) {
      const source = nodes.nodeOf(edge.source);
      const destination = nodes.nodeOf(edge.destination);
      const ends: Ends = [source.id, names.idOf(edge.type), destination.id];
      const old = gone.size === 0 ? undefined : gone.get(keyOf(ends));
      const details = detailsOf(edge, stamp, old?.details);
      if (old === undefined) {
        const kinds: Kinds = [source.kind, destination.kind];
        rows.insert(ends, owner, [position, ordinal], kinds, details);
      } else {
        gone.delete(keyOf(ends));
        if (details.some((value, i) => value !== old.details[i])) rows.update(old, details);
      }
    }
    for (const row of gone.values()) rows.remove(row);
  }

  /** Missing stamps are those of the write; `created…` those of the first write with the edge. */
  function detailsOf(edge: Edge, stamp: Write<"replace">["stamp"], old?: Details): Details {
    const { path, via, createdOn, createdActor, updatedOn, updatedActor, properties } = edge;
    return [
      names.idOf(path),
      via === undefined ? null : nodes.numberOf(via),
      createdOn ?? old?.[2] ?? stamp.time,
      createdActor === undefined && old !== undefined
        ? old[3]
        : nodes.numberOf(createdActor ?? stamp.actor),
      updatedOn ?? stamp.time,
      nodes.numberOf(updatedActor ?? stamp.actor),
      properties === undefined ? null : JSON.stringify(properties),
    ];
  }

  function removeEntity(urn: string): void {
    const entity = nodes.find(urn);
    if (entity === undefined) return;
    // Leading edges last: otherwise an edge that is also removed would become leading.
    const stated = rows.statedByEntity(entity);
    for (const row of stated) if (!row.leads) rows.remove(row);
    for (const row of stated) if (row.leads) rows.remove(row);
  }

  function apply(write: GraphWrite): void {
    switch (write.op) {
      case "replace":
        replace(write);
        break;
      case "remove_entity":
        removeEntity(write.urn);
        break;
      case "forget": {
        removeEntity(write.urn);
        const node = nodes.find(write.urn);
        if (node !== undefined) rows.removeNode(node);
        break;
      }
    }
  }

  return {
    write(writes: readonly GraphWrite[], checkpoint: Position): void {
      for (const write of writes) if (write.position > checkpoint) apply(write);
    },
    /** Keeps edges that other entities state, but their leading edge may change. */
    async restore(
      urn: string,
      writes: Iterable<GraphWrite> | AsyncIterable<GraphWrite>,
    ): Promise<void> {
      const pairs = new Map<string, Ends>();
      const pairsOf = (entity: number | undefined): void => {
        if (entity === undefined) return;
        for (const { ends } of rows.statedByEntity(entity)) pairs.set(keyOf(ends), ends);
      };
      const before = nodes.find(urn);
      pairsOf(before);
      if (before !== undefined) rows.removeStatedBy(before);
      for await (const write of writes) {
        if (write.op !== "forget") apply(write);
        else rows.removeStatedAbout(nodes.find(urn), nodes.find(write.urn));
      }
      pairsOf(nodes.find(urn));
      for (const ends of pairs.values()) rows.leadFirst(ends);
    },
    clearCache() {
      nodes.clearCache();
      names.clearCache();
    },
  };
}

const keyOf = ([source, type, destination]: Ends): string => `${source} ${type} ${destination}`;

type Database = SqliteView["db"];

function createRows(db: Database) {
  const { arrays } = preparingOn(db);
  const columns = `source, type, destination, entity, aspect, leads,
    path, via, created_on, created_actor, updated_on, updated_actor, properties`;
  const edges = `SELECT ${columns} FROM edge WHERE entity = ?`;
  const ofOwner = arrays<EdgeColumns>(`${edges} AND aspect = ?`);
  const ofEntity = arrays<EdgeColumns>(edges);
  const insertEdge = db.prepare(`
    INSERT INTO edge (source, type, destination, entity, aspect, position, ordinal, source_kind,
      destination_kind, path, via, created_on, created_actor, updated_on, updated_actor,
      properties, leads)
    VALUES (?1, ?2, ?3, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NOT EXISTS
      (SELECT 1 FROM edge WHERE source = ?1 AND type = ?2 AND destination = ?3))`);
  const edgeOf = "source = ? AND type = ? AND destination = ? AND entity = ? AND aspect = ?";
  const updateEdge = db.prepare(`
    UPDATE edge SET path = ?, via = ?, created_on = ?, created_actor = ?, updated_on = ?,
      updated_actor = ?, properties = ? WHERE ${edgeOf}`);
  const removeEdge = db.prepare(`DELETE FROM edge WHERE ${edgeOf}`);
  const leadNext = db.prepare(`
    UPDATE edge SET leads = 1 WHERE (source, type, destination, entity, aspect) IN
      (SELECT source, type, destination, entity, aspect FROM edge
       WHERE source = ? AND type = ? AND destination = ? ORDER BY position, ordinal LIMIT 1)`);
  const removeOutgoing = db.prepare("DELETE FROM edge WHERE source = ?");
  const incoming = arrays<Ends>(
    "SELECT source, type, destination FROM edge WHERE destination = ? AND leads = 1",
  );
  const removePair = db.prepare(
    "DELETE FROM edge WHERE source = ? AND type = ? AND destination = ?",
  );
  const removeStated = db.prepare("DELETE FROM edge WHERE entity = ?");
  const removeAbout = db.prepare(
    "DELETE FROM edge WHERE entity = ?1 AND (?2 = ?1 OR source = ?2 OR destination = ?2)",
  );
  const leadFirst = db.prepare(`
    UPDATE edge SET leads = NOT leads
    WHERE source = ?1 AND type = ?2 AND destination = ?3 AND leads <> ((entity, aspect) =
      (SELECT entity, aspect FROM edge WHERE source = ?1 AND type = ?2 AND destination = ?3
       ORDER BY position, ordinal LIMIT 1))`);

  const rowOf = (edge: EdgeColumns): Row => {
    const [source, type, destination, entity, aspect, leads, ...details] = edge;
    return {
      ends: [source, type, destination],
      owner: [entity, aspect],
      leads: leads === 1,
      details,
    };
  };

  return {
    statedBy: (owner: Owner) => ofOwner.all(...owner).map(rowOf),
    statedByEntity: (entity: number) => ofEntity.all(entity).map(rowOf),
    insert(ends: Ends, owner: Owner, place: Place, kinds: Kinds, details: Details): void {
      insertEdge.run(...ends, ...owner, ...place, ...kinds, ...details);
    },
    update({ ends, owner }: Row, details: Details): void {
      updateEdge.run(...details, ...ends, ...owner);
    },
    remove({ ends, owner, leads }: Row): void {
      removeEdge.run(...ends, ...owner);
      if (leads) leadNext.run(...ends);
    },
    removeStatedBy: (entity: number) => void removeStated.run(entity),
    /** Removes the edges that an entity states about a node; all of them for its own node. */
    removeStatedAbout(entity: number | undefined, node: number | undefined): void {
      if (entity !== undefined && node !== undefined) removeAbout.run(entity, node);
    },
    /** Makes the first edge of a pair of ends the leading one. */
    leadFirst: (ends: Ends) => void leadFirst.run(...ends),
    /** Removes all edges from and to the node. */
    removeNode(node: number): void {
      removeOutgoing.run(node);
      for (const ends of incoming.all(node)) removePair.run(...ends);
    },
  };
}

interface Node {
  readonly id: number;
  readonly kind: number;
}

function createNodeNumbers(db: Database) {
  const known = boundedCache<string, Node>(NODES_MAX);
  const kinds = createTextIds(
    db,
    { table: "kind", column: "prefix" },
    boundedCache<string, number>(KINDS_MAX),
  );
  const findNode = db.prepare("SELECT id FROM node WHERE kind = ? AND rest = ?");
  const insertNode = db.prepare("INSERT INTO node (kind, rest) VALUES (?, ?)");

  /** The urn's node; creates one if necessary. */
  function nodeOf(urn: string): Node {
    let node = known.get(urn);
    if (node === undefined) {
      const { prefix, rest } = splitUrn(urn);
      const kind = kinds.idOf(prefix);
      const id = findNode.get(kind, rest)?.id ?? insertNode.run(kind, rest).lastInsertRowid;
      node = { id: Number(id), kind };
      known.set(urn, node);
    }
    return node;
  }

  /** Undefined for a urn that never had an edge. */
  function find(urn: string): number | undefined {
    const node = known.get(urn);
    if (node !== undefined) return node.id;
    const { prefix, rest } = splitUrn(urn);
    const found = findNode.get(kinds.idOf(prefix), rest)?.id;
    return found === undefined ? undefined : Number(found);
  }

  return {
    nodeOf,
    numberOf: (urn: string): number => nodeOf(urn).id,
    find,
    clearCache() {
      known.clear();
      kinds.clearCache();
    },
  };
}
