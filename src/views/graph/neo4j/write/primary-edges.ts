/**
 * Sets the leading edge of a pair of ends: of several edges with the same type and ends, the first one
 * leads and has the type's own name (schema.ts). A relationship cannot be renamed, so an edge that
 * becomes leading, or stops to be, is created again.
 */
import type { Pair } from "../../graph.ts";
import type { Transaction } from "../connection.ts";
import { namesEdge } from "../edges.ts";
import { alsoOf, leads, relationshipOf, typeOfRelationship } from "../schema.ts";

interface StatedEdge {
  readonly id: string;
  readonly leads: boolean;
  readonly position: number;
  readonly ordinal: number;
}

/** Makes the first edge of each of some pairs the leading one. */
export function createSettle(
  label: string,
): (transaction: Transaction, pairs: readonly Pair[]) => Promise<void> {
  const tellings = `UNWIND $pairs AS pair
    MATCH (s:\`${label}\` {urn: pair[0]}) MATCH (d:\`${label}\` {urn: pair[1]})
    MATCH (s)-[r]->(d) WHERE type(r) = pair[2] OR type(r) = pair[3]
    RETURN pair[0], pair[1], type(r), elementId(r), r.position, r.ordinal`;
  const rename = (to: string): string => `UNWIND $ids AS id
    MATCH (s)-[r]->(d) WHERE elementId(r) = id
    CREATE (s)-[other:\`${to}\`]->(d) SET other = properties(r) DELETE r`;

  async function tellingsOf(transaction: Transaction, pairs: readonly Pair[]) {
    const asked = new Map(
      pairs.map((pair) => {
        const lead = relationshipOf(pair.type);
        return [namesEdge(pair), [pair.source, pair.destination, lead, alsoOf(lead)]];
      }),
    );
    const found = await transaction.run(tellings, { pairs: [...asked.values()] });
    return Map.groupBy(
      found.map(([source, destination, name, id, position, ordinal]) => {
        const type = typeOfRelationship(name as string);
        const pair = { source, type, destination } as Pair;
        return { pair, id, leads: leads(name as string), position, ordinal } as StatedEdge & {
          pair: Pair;
        };
      }),
      ({ pair }) => namesEdge(pair),
    );
  }

  return async (transaction, pairs) => {
    if (pairs.length === 0) return;
    const renamed = new Map<string, string[]>();
    for (const all of (await tellingsOf(transaction, pairs)).values()) {
      for (const [place, { id, leads, pair }] of all.sort(byPlace).entries()) {
        if (leads === (place === 0)) continue;
        const lead = relationshipOf(pair.type);
        const name = leads ? alsoOf(lead) : lead;
        renamed.set(name, [...(renamed.get(name) ?? []), id]);
      }
    }
    await Promise.all([...renamed].map(([name, ids]) => transaction.run(rename(name), { ids })));
  };
}

const byPlace = (a: StatedEdge, b: StatedEdge): number =>
  a.position - b.position || a.ordinal - b.ordinal;
