/**
 * Generations of the graph in a Neo4j server: each has a label with a constraint. The constraints list
 * the generations: they are created first and dropped last.
 */
import { maxOf } from "../../../lib/lists.ts";
import type { Neo4jServer } from "./connection.ts";
import type { Names } from "./schema.ts";

export interface GraphGenerations {
  /** Creates the constraint of the metadata nodes. */
  prepare(): Promise<void>;
  /** Creates the label's constraint if it is missing. */
  constrain(generation: number): Promise<void>;
  /**
   * Returns the number of a new generation without nodes. Without a view, the label of an old empty
   * generation can be used (`reuse`); otherwise numbers are never reused, because readers may have
   * cached them.
   */
  begin(options?: { readonly reuse?: boolean }): Promise<number>;
  /** Removes generations that no view uses. */
  clear(): Promise<void>;
}

export function createGenerations(server: Neo4jServer, names: Names): GraphGenerations {
  const constrainLabel = async (label: string, property: string): Promise<void> => {
    try {
      await server.command(
        `CREATE CONSTRAINT \`${label}\` IF NOT EXISTS
         FOR (n:\`${label}\`) REQUIRE n.${property} IS UNIQUE`,
      );
    } catch (error) {
      // Another process was creating it.
      if (!/AlreadyExists/.test(String((error as { code?: unknown }).code))) throw error;
    }
  };

  async function all(): Promise<readonly number[]> {
    const found = await server.command("SHOW CONSTRAINTS YIELD name RETURN name");
    return found.flatMap(([name]) => names.generationOf(String(name)) ?? []);
  }

  const constrain = (generation: number) => constrainLabel(names.label(generation), "urn");

  return {
    prepare: () => constrainLabel(names.view, "part"),
    constrain,

    async begin({ reuse = false } = {}): Promise<number> {
      const taken = await all();
      for (const one of reuse ? taken : []) {
        const [found] = await server.command(`MATCH (n:\`${names.label(one)}\`) RETURN count(n)`);
        if (found?.[0] === 0) return one;
      }
      const generation = maxOf([0, ...taken]) + 1;
      await constrain(generation);
      return generation;
    },

    async clear(): Promise<void> {
      const named = await server.write((transaction) =>
        transaction.run(`MATCH (v:\`${names.view}\`) RETURN v.generation`),
      );
      const kept = new Set(named.map(([generation]) => generation));
      for (const generation of await all()) {
        if (!kept.has(generation)) await removeGeneration(server, names.label(generation));
      }
    },
  };
}

/** Nodes or edges per transaction of a removal. */
const REMOVED_AT_ONCE = 5_000;

async function removeGeneration(server: Neo4jServer, label: string): Promise<void> {
  const first = `MATCH (n:\`${label}\`) WITH n LIMIT ${REMOVED_AT_ONCE}`;
  const edges = `${first} MATCH (n)-[r]-() WITH DISTINCT r LIMIT ${REMOVED_AT_ONCE}
    DELETE r RETURN count(*)`;
  const nodes = `${first} WHERE NOT EXISTS { (n)--() } DELETE n RETURN count(*)`;
  const some = async (query: string): Promise<boolean> => {
    const [row] = await server.write((transaction) => transaction.run(query));
    return Number(row?.[0]) > 0;
  };
  do {
    while (await some(edges));
  } while (await some(nodes));
  await server.command(`DROP CONSTRAINT \`${label}\` IF EXISTS`);
}
