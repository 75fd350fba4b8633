/**
 * Writes to one generation of the graph, within a transaction: what they bear on is read, changed in
 * memory, and the difference sent, edges of one type in one statement. Nodes come with their first
 * edge and go with their last.
 */
import type { GraphWrite } from "../graph.ts";
import type { Transaction } from "./connection.ts";
import {
  aroundQuery,
  createColumns,
  createQuery,
  type EdgeRow,
  removeQuery,
  type StoredEdge,
  storedEdge,
  toldFromQuery,
  toldQueries,
  updateColumns,
  updateQuery,
} from "./edges.ts";
import { createLeads, type Ends } from "./leads.ts";
import { entityTypeOf, TELLS } from "./schema.ts";
import { type Change, changeBetween, createTelling, samePlace } from "./telling.ts";

export interface EdgeWriter {
  apply(transaction: Transaction, writes: readonly GraphWrite[]): Promise<void>;
  /** `rows`: all that the entity tells. */
  restore(transaction: Transaction, urn: string, rows: readonly EdgeRow[]): Promise<void>;
}

/** A urn, and the aspects that are asked for; null for all. */
type Asked = readonly [urn: string, aspects: readonly string[] | null];

export function createEdgeWriter(label: string): EdgeWriter {
  const told = toldQueries(label);
  const toldFrom = toldFromQuery(label);
  const around = aroundQuery(label);
  const leads = createLeads(label);
  const pointers = createPointers(label);
  const nodes = `UNWIND $nodes AS node
    MERGE (n:\`${label}\` {urn: node[0]}) ON CREATE SET n.type = node[1]`;
  const lonely = `UNWIND $urns AS urn
    MATCH (n:\`${label}\` {urn: urn}) WHERE NOT EXISTS { (n)--() } DELETE n`;

  async function edgesOf(transaction: Transaction, asked: readonly Asked[]) {
    const answers = await Promise.all(told.map((query) => transaction.run(query, { asked })));
    return answers.flat().map(storedEdge);
  }

  async function send(transaction: Transaction, { created, updated, removed }: Change) {
    const sent: Promise<unknown>[] = [];
    const run = (text: string, list: Readonly<Record<string, readonly unknown[]>>) => {
      const answer = transaction.run(text, list);
      sent.push(answer);
      return answer;
    };
    const ends = [...new Set(created.flatMap((row) => [row.source, row.destination, row.entity]))];
    if (removed.length > 0) run(removeQuery, { ids: removed.map(({ id }) => id) });
    if (updated.length > 0) {
      run(updateQuery, { rows: updated.map(({ before, row }) => updateColumns(before.id, row)) });
    }
    if (ends.length > 0) run(nodes, { nodes: ends.map((urn) => [urn, entityTypeOf(urn)]) });
    const several: Ends[] = [];
    for (const [type, rows] of Map.groupBy(created, (row) => row.type)) {
      const made = run(createQuery(label, type), { rows: rows.map(createColumns) });
      const pairs = made.then((found) => {
        for (const [source, destination] of found as readonly (readonly [string, string])[]) {
          several.push({ source, type, destination });
        }
      });
      sent.push(pairs);
    }
    // The first failure is told, and the others, which follow from it, are waited for.
    const failed = (await Promise.allSettled(sent)).find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    return several;
  }

  async function make(transaction: Transaction, change: Change): Promise<void> {
    const several = await send(transaction, change);
    const { created, updated, removed } = change;
    const moved = updated.filter(({ before, row }) => !samePlace(before.row, row));
    await leads.settle(transaction, [
      ...several,
      ...moved.map(({ row }) => row),
      ...removed.filter((edge) => edge.leads).map(({ row }) => row),
    ]);
    await pointers.follow(transaction, created, removed);
    if (removed.length === 0) return;
    const urns = removed.flatMap(({ row }) => [row.source, row.destination, row.entity]);
    await transaction.run(lonely, { urns: [...new Set(urns)] });
  }

  return {
    async apply(transaction, writes) {
      const [asked, forgotten] = bearing(writes);
      const kept = await edgesOf(transaction, asked);
      if (forgotten.length > 0) {
        const found = await transaction.run(around, { urns: forgotten });
        for (const columns of found) kept.push(storedEdge(columns));
      }
      const telling = createTelling(kept);
      for (const write of writes) telling.apply(write);
      await make(transaction, changeBetween(kept, telling.rows()));
    },

    async restore(transaction, urn, rows) {
      const kept = await edgesOf(transaction, [[urn, null]]);
      const sources = [...new Set(rows.map((row) => row.source))].filter((one) => one !== urn);
      const others = await transaction.run(toldFrom, { sources, entity: urn });
      for (const columns of others) kept.push(storedEdge(columns));
      await make(transaction, changeBetween(kept, rows));
      await leads.settle(transaction, [...kept.map(({ row }) => row), ...rows]);
      await pointers.follow(transaction, rows, kept);
    },
  };
}

/** What is to be read for writes: tellings, and urns that are forgotten. */
function bearing(writes: readonly GraphWrite[]): [asked: Asked[], forgotten: string[]] {
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

/** Relationships that lead from an entity to where edges begin that it tells of others. */
function createPointers(label: string) {
  const add = `UNWIND $rows AS row
    MATCH (e:\`${label}\` {urn: row[0]}) MATCH (s:\`${label}\` {urn: row[2]})
    MERGE (e)-[:${TELLS} {by: row[1]}]->(s)`;
  const remove = `UNWIND $rows AS row
    MATCH (e:\`${label}\` {urn: row[0]}) MATCH (s:\`${label}\` {urn: row[2]})
    MATCH (e)-[t:${TELLS} {by: row[1]}]->(s)
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
      removed: readonly StoredEdge[],
    ): Promise<void> {
      const added = pointersOf(created);
      const gone = pointersOf(removed.map(({ row }) => row));
      if (added.length > 0) await transaction.run(add, { rows: added });
      if (gone.length > 0) await transaction.run(remove, { rows: gone });
    },
  };
}
