/**
 * Of several tellings of a pair of ends the first one leads: it alone has the type's own name
 * (schema.ts). A relationship cannot be renamed; one that is to lead, or no longer, is made anew.
 */
import type { Pair } from "../graph.ts";
import type { Transaction } from "./connection.ts";
import { alsoOf, relationshipOf } from "./schema.ts";

export type Ends = Pair;

interface Telling {
  readonly id: string;
  readonly leads: boolean;
  readonly position: number;
  readonly ordinal: number;
}

export function createLeads(label: string) {
  /** Tellings of pairs of ends that have several, or one that does not lead. */
  const tellings = (lead: string, also: string): string => `UNWIND $pairs AS pair
    MATCH (s:\`${label}\` {urn: pair[0]}) MATCH (d:\`${label}\` {urn: pair[1]})
    WHERE EXISTS { (s)-[:\`${also}\`]->(d) } OR COUNT { (s)-[:\`${lead}\`]->(d) } > 1
    MATCH (s)-[r:\`${lead}\`|\`${also}\`]->(d)
    RETURN pair[0], pair[1], elementId(r), type(r), r.position, r.ordinal`;
  const rename = (to: string): string => `UNWIND $ids AS id
    MATCH (s)-[r]->(d) WHERE elementId(r) = id
    CREATE (s)-[other:\`${to}\`]->(d) SET other = properties(r) DELETE r`;

  async function settleType(transaction: Transaction, type: string, pairs: readonly Ends[]) {
    const lead = relationshipOf(type);
    const also = alsoOf(lead);
    const byEnds = new Map<string, Telling[]>();
    const asked = new Map(
      pairs.map(({ source, destination }) => [
        JSON.stringify([source, destination]),
        [source, destination],
      ]),
    );
    const found = await transaction.run(tellings(lead, also), { pairs: [...asked.values()] });
    for (const [source, destination, id, name, position, ordinal] of found) {
      const key = JSON.stringify([source, destination]);
      const telling = { id, leads: name === lead, position, ordinal } as Telling;
      byEnds.set(key, [...(byEnds.get(key) ?? []), telling]);
    }
    const up: string[] = [];
    const down: string[] = [];
    for (const all of byEnds.values()) {
      const [first, ...others] = all.sort(byPlace);
      if (first !== undefined && !first.leads) up.push(first.id);
      down.push(...others.filter((one) => one.leads).map(({ id }) => id));
    }
    if (up.length > 0) await transaction.run(rename(lead), { ids: up });
    if (down.length > 0) await transaction.run(rename(also), { ids: down });
  }

  return {
    /** Whatever leads among the tellings of these pairs now, the first does after. */
    async settle(transaction: Transaction, pairs: readonly Ends[]): Promise<void> {
      for (const [type, some] of Map.groupBy(pairs, (pair) => pair.type)) {
        await settleType(transaction, type, some);
      }
    },
  };
}

const byPlace = (a: Telling, b: Telling): number =>
  a.position - b.position || a.ordinal - b.ordinal;
