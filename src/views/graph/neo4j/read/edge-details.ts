/** Reads properties of edges. */
import { slicesOf } from "../../../../lib/lists.ts";
import { batching } from "../../../../storage/batching.ts";
import type { Pair, Stamps } from "../../graph.ts";
import { whole } from "../connection.ts";
import type { AskLive } from "../live-generation.ts";
import { relationshipOf } from "../schema.ts";

/** Pairs per query. */
const PAIRS_PER_QUERY_MAX = 1_000;

type StampColumns = readonly [
  ...[at: number, createdOn: number, createdActor: string],
  ...[updatedOn: number, updatedActor: string, properties: string | null],
];

function stampsOf([
  ,
  createdOn,
  createdActor,
  updatedOn,
  updatedActor,
  text,
]: StampColumns): Stamps {
  return {
    createdOn,
    createdActor,
    updatedOn,
    updatedActor,
    ...(text !== null && { properties: JSON.parse(text) }),
  };
}

export function createStampsQuery(
  ask: AskLive,
): (pairs: readonly Pair[]) => Promise<readonly (Stamps | undefined)[]> {
  const query = (label: string, relationship: string): string => `UNWIND $pairs AS pair
    MATCH (s:\`${label}\` {urn: pair[1]}) MATCH (d:\`${label}\` {urn: pair[2]})
    MATCH (s)-[r:\`${relationship}\`]->(d)
    WITH collect([pair[0], r.createdOn, r.createdActor, r.updatedOn, r.updatedActor,
      r.properties]) AS answer`;

  async function read(pairs: readonly Pair[]): Promise<readonly (Stamps | undefined)[]> {
    const found: (Stamps | undefined)[] = pairs.map(() => undefined);
    for (const [type, ats] of Map.groupBy(pairs.keys(), (at) => pairs[at]?.type ?? "")) {
      if (type === "") continue;
      for (const some of slicesOf(ats, PAIRS_PER_QUERY_MAX)) {
        const answer = await ask((label) => ({
          text: query(label, relationshipOf(type)),
          parameters: {
            pairs: some.map((at) => [whole(at), pairs[at]?.source, pairs[at]?.destination]),
          },
        }));
        for (const columns of (answer ?? []) as readonly StampColumns[]) {
          found[columns[0]] = stampsOf(columns);
        }
      }
    }
    return found;
  }

  return batching(async (lists) => {
    const found = await read(lists.flat());
    let from = 0;
    return lists.map(({ length }) => {
      from += length;
      return found.slice(from - length, from);
    });
  });
}
