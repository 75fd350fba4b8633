/**
 * Writes to one generation of the graph, within a transaction: reads the affected edges, changes them
 * in memory, and sends the difference, with one statement per type of edge. A node is created with its
 * first edge and deleted with its last.
 */
import { entityTypeOf } from "../../../../core/urn.ts";
import type { GraphWrite, Pair } from "../../graph.ts";
import type { Columns, Parameters, Transaction } from "../connection.ts";
import {
  aroundQuery,
  createQuery,
  createRows,
  type EdgeRow,
  removeLeadingQuery,
  removeQuery,
  type StoredEdge,
  statedFromQuery,
  statedQueries,
  storedEdge,
  updateColumns,
  updateQuery,
} from "../edges.ts";
import { STATES } from "../schema.ts";
import type { Writing } from "../view.ts";
import {
  changeBetween,
  createEdgeState,
  type EdgeChange,
  recognised,
  samePlace,
} from "./diff-edges.ts";
import { createSettle } from "./primary-edges.ts";

interface EdgeWriter {
  apply(writes: readonly GraphWrite[]): Writing;
  /** `rows`: all edges that the entity states. */
  restore(urn: string, rows: readonly EdgeRow[]): Writing;
}

/** A urn and the requested aspects; null for all. */
type StatedBy = readonly [urn: string, aspects: readonly string[] | null];

export function createEdgeWriter(label: string): EdgeWriter {
  const stated = statedQueries(label);
  const statedFrom = statedFromQuery(label);
  const around = aroundQuery(label);
  const settle = createSettle(label);
  const pointers = createPointers(label);
  const nodes = `UNWIND $nodes AS node
    MERGE (n:\`${label}\` {urn: node[0]}) ON CREATE SET n.type = node[1]`;
  const lonely = `UNWIND $urns AS urn
    MATCH (n:\`${label}\` {urn: urn}) WHERE NOT EXISTS { (n)--() } DELETE n`;

  /** Runs a query that ends with a list of edges. */
  async function read(
    transaction: Transaction,
    query: string,
    parameters: Parameters,
  ): Promise<readonly StoredEdge[]> {
    const [row] = await transaction.run(`${query} RETURN answer`, parameters);
    return ((row?.[0] ?? []) as readonly Columns[]).map(storedEdge);
  }

  async function edgesOf(
    transaction: Transaction,
    queries: readonly (readonly [text: string, parameters: Parameters])[],
  ): Promise<readonly StoredEdge[]> {
    const answers = queries.map((query) => read(transaction, ...query));
    return (await Promise.all(answers)).flat();
  }

  /** Creates, updates and removes edges; returns the pairs whose leading edge may have changed. */
  async function send(
    transaction: Transaction,
    { created, updated, removed }: EdgeChange,
  ): Promise<readonly Pair[]> {
    const sent: Promise<unknown>[] = [];
    const several: Pair[] = [];
    const run = (text: string, list: Parameters): Promise<readonly Columns[]> => {
      const answer = transaction.run(text, list);
      sent.push(answer);
      return answer;
    };
    const note = (type: string, stated: Promise<readonly Columns[]>): void => {
      const noted = stated.then((found) => {
        for (const [source, destination] of found as readonly (readonly [string, string])[]) {
          several.push({ source, type, destination });
        }
      });
      sent.push(noted);
    };
    const ends = [...new Set(created.flatMap((row) => [row.source, row.destination, row.entity]))];
    const idsOf = (edges: readonly StoredEdge[]): Parameters => ({
      ids: edges.map(({ id }) => id),
    });
    const others = removed.filter((edge) => !edge.leads);
    const leading = removed.filter((edge) => edge.leads);
    if (others.length > 0) run(removeQuery, idsOf(others));
    for (const [type, edges] of Map.groupBy(leading, ({ row }) => row.type)) {
      note(type, run(removeLeadingQuery(type), idsOf(edges)));
    }
    if (updated.length > 0) {
      run(updateQuery, { rows: updated.map(({ before, row }) => updateColumns(before.id, row)) });
    }
    if (ends.length > 0) run(nodes, { nodes: ends.map((urn) => [urn, entityTypeOf(urn)]) });
    for (const [type, rows] of Map.groupBy(created, (row) => row.type)) {
      note(type, run(createQuery(label, type), { rows: createRows(rows) }));
    }
    await Promise.all(sent);
    return several;
  }

  /** `pairs`: further pairs whose leading edge must be set. */
  async function make(
    transaction: Transaction,
    change: EdgeChange,
    pairs: readonly Pair[] = [],
  ): Promise<void> {
    const { created, updated, removed } = change;
    const moved = updated.filter(({ before, row }) => !samePlace(before.row, row));
    const gone = removed.map(({ row }) => row);
    const several = await send(transaction, change);
    await Promise.all([
      settle(transaction, [...several, ...pairs, ...moved.map(({ row }) => row)]),
      pointers.follow(transaction, created, gone),
    ]);
    if (gone.length === 0) return;
    const urns = gone.flatMap((row) => [row.source, row.destination, row.entity]);
    await transaction.run(lonely, { urns: [...new Set(urns)] });
  }

  return {
    apply: (writes) => async (transaction, mayWrite) => {
      if (writes.length === 0) return;
      const [asked, urns] = bearing(writes);
      const kept = await edgesOf(transaction, [
        ...stated.map((text) => [text, { asked }] as const),
        ...(urns.length > 0 ? [[around, { urns }] as const] : []),
      ]);
      if (!(await mayWrite)) return;
      const state = createEdgeState(kept);
      for (const write of writes) state.apply(write);
      await make(transaction, changeBetween(kept, state.rows()));
    },

    restore: (urn, rows) => async (transaction, mayWrite) => {
      const asked: readonly StatedBy[] = [[urn, null]];
      const sources = [...new Set(rows.map((row) => row.source))].filter((one) => one !== urn);
      const kept = await edgesOf(transaction, [
        ...stated.map((text) => [text, { asked }] as const),
        [statedFrom, { sources, entity: urn }],
      ]);
      if (!(await mayWrite)) return;
      const pairs = [...kept.map(({ row }) => row), ...rows];
      await make(transaction, changeBetween(kept, recognised(kept, rows)), pairs);
      await pointers.follow(transaction, rows, []);
    },
  };
}

/** The edges to read for writes: those of aspects, and those of urns whose edges are removed. */
function bearing(writes: readonly GraphWrite[]): [asked: StatedBy[], forgotten: string[]] {
  const asked = new Map<string, Set<string> | null>();
  const forgotten = new Set<string>();
  for (const write of writes) {
    const aspects = asked.get(write.urn);
    if (write.op !== "replace") asked.set(write.urn, null);
    else if (aspects === undefined) asked.set(write.urn, new Set([write.aspect]));
    else aspects?.add(write.aspect);
    if (write.op === "forget") forgotten.add(write.urn);
  }
  return [[...asked].map(([urn, aspects]) => [urn, aspects && [...aspects]]), [...forgotten]];
}

/** Pointers from an entity to the sources of the edges that it states about other entities. */
function createPointers(label: string) {
  const add = `UNWIND $rows AS row
    MATCH (e:\`${label}\` {urn: row[0]}) MATCH (s:\`${label}\` {urn: row[2]})
    MERGE (e)-[:${STATES} {by: row[1]}]->(s)`;
  const remove = `UNWIND $rows AS row
    MATCH (e:\`${label}\` {urn: row[0]}) MATCH (s:\`${label}\` {urn: row[2]})
    MATCH (e)-[t:${STATES} {by: row[1]}]->(s)
    WHERE NOT EXISTS { MATCH (s)-[r]->() WHERE r.entity = row[0] AND r.aspect = row[1] }
    DELETE t`;
  const pointersOf = (rows: readonly EdgeRow[]) => {
    const found = new Map<string, readonly string[]>();
    for (const { entity, aspect, source } of rows) {
      if (entity === source) continue;
      found.set(JSON.stringify([entity, aspect, source]), [entity, aspect, source]);
    }
    return [...found.values()];
  };

  return {
    async follow(
      transaction: Transaction,
      created: readonly EdgeRow[],
      removed: readonly EdgeRow[],
    ): Promise<void> {
      const added = pointersOf(created);
      const gone = pointersOf(removed);
      await Promise.all([
        added.length > 0 && transaction.run(add, { rows: added }),
        gone.length > 0 && transaction.run(remove, { rows: gone }),
      ]);
    },
  };
}
