/** Reads properties of edges: of single pairs, and of all edges for dumps (storage/dump.ts). */
import { batching } from "../../../../storage/batching.ts";
import type { GraphRow, Pair, Stamps } from "../../graph.ts";
import { type Columns, whole } from "../connection.ts";
import { graphRow, statedQueries, storedEdge } from "../edges.ts";
import type { LiveGeneration } from "../live-generation.ts";
import { relationshipOf } from "../schema.ts";

/** Pairs per query. */
const PAIRS_PER_QUERY_MAX = 1_000;
/** Nodes per query of a dump. */
const NODES_PER_QUERY_MAX = 500;

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
  generation: LiveGeneration,
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
      for (let from = 0; from < ats.length; from += PAIRS_PER_QUERY_MAX) {
        const some = ats.slice(from, from + PAIRS_PER_QUERY_MAX);
        const answer = await generation.ask((label) => ({
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

export async function* dumpEdges(generation: LiveGeneration): AsyncGenerator<GraphRow> {
  let after: string | undefined = "";
  while (after !== undefined) {
    const from: string = after;
    const answer = await generation.ask((label) => ({
      text: `MATCH (n:\`${label}\`) WHERE n.urn > $from
        WITH n.urn AS urn ORDER BY urn LIMIT ${NODES_PER_QUERY_MAX}
        WITH collect(urn) AS answer`,
      parameters: { from },
    }));
    const urns = (answer ?? []) as readonly string[];
    yield* await edgesOf(generation, urns);
    after = urns.length === NODES_PER_QUERY_MAX ? urns.at(-1) : undefined;
  }
}

async function edgesOf(
  generation: LiveGeneration,
  urns: readonly string[],
): Promise<readonly GraphRow[]> {
  if (urns.length === 0) return [];
  const asked = urns.map((urn) => [urn, null]);
  const rows: GraphRow[] = [];
  for (const which of [0, 1] as const) {
    const answer = await generation.ask((label) => ({
      text: statedQueries(label)[which],
      parameters: { asked },
    }));
    for (const columns of (answer ?? []) as readonly Columns[]) {
      rows.push(graphRow(storedEdge(columns)));
    }
  }
  return rows.sort(
    (a, b) =>
      byBytes(a.entity, b.entity) ||
      byBytes(a.aspect, b.aspect) ||
      a.position - b.position ||
      a.ordinal - b.ordinal,
  );
}

const byBytes = (a: string, b: string): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
