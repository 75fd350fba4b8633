/** Follows edges from many nodes: one query per entity type and direction. */
import { entityTypeOf } from "../../../../core/urn.ts";
import type { Followed, Step, Steps } from "../../graph.ts";
import { whole } from "../connection.ts";
import type { LiveGeneration } from "../live-generation.ts";
import { anyOf, relationshipOf } from "../schema.ts";

/** Urns per query: with `edgesMax` reached, later urns are not read. */
const URNS_PER_SLICE_MAX = 100;

const DIRECTIONS = ["OUTGOING", "INCOMING"] as const;

type Follow = (
  urns: readonly string[],
  steps: Steps,
  edgesMax: number,
) => Promise<{ readonly edges: readonly Followed[]; readonly complete: boolean }>;

/** An edge with its sort key: index of its urn in the slice, of its step, and its own order. */
interface Found {
  readonly edge: Followed;
  readonly at: readonly [urn: number, step: number, position: number, ordinal: number];
}

type Row = readonly [
  ...[at: number, relationship: string, to: string, entityType: string],
  ...[via: string | null, position: number, ordinal: number],
];

export function createFollowing(generation: LiveGeneration): Follow {
  async function find(
    urns: readonly string[],
    ats: readonly number[],
    own: readonly Step[],
    direction: Step["direction"],
    limit: number,
  ): Promise<readonly Found[]> {
    const steps = own.flatMap((step, rank) =>
      step.direction === direction && step.to.size > 0 ? [{ step, rank }] : [],
    );
    if (steps.length === 0) return [];
    const byRelationship = Map.groupBy(steps, ({ step }) => relationshipOf(step.type));
    const to = new Set(steps.flatMap(({ step }) => [...step.to]));
    const ranks = [...byRelationship].map(([name, [first]]) => [name, whole(first?.rank ?? 0)]);
    const answer = await generation.ask((label) => ({
      text: stepsQuery(label, direction, [...byRelationship.keys()]),
      parameters: {
        asked: ats.map((at) => [whole(at), urns[at]]),
        to: [...to],
        ranks: Object.fromEntries(ranks),
        limit: whole(limit),
      },
    }));
    return ((answer ?? []) as readonly Row[]).flatMap(
      ([at, relationship, other, entityType, via, position, ordinal]) =>
        (byRelationship.get(relationship) ?? []).flatMap(({ step, rank }): Found[] => {
          if (!step.to.has(entityType)) return [];
          const { type } = step;
          const from = urns[at] ?? "";
          return [
            {
              edge: { from, to: other, direction, type, via: via ?? undefined },
              at: [at, rank, position, ordinal],
            },
          ];
        }),
    );
  }

  async function slice(
    urns: readonly string[],
    steps: Steps,
    limit: number,
  ): Promise<readonly Followed[]> {
    const groups = Map.groupBy(urns.keys(), (at) => entityTypeOf(urns[at] ?? ""));
    const found = await Promise.all(
      [...groups].flatMap(([entityType, ats]) =>
        DIRECTIONS.map((direction) =>
          find(urns, ats, steps.get(entityType) ?? [], direction, limit),
        ),
      ),
    );
    return found
      .flat()
      .sort((a, b) => byPlace(a.at, b.at))
      .map(({ edge }) => edge);
  }

  return async (urns, steps, edgesMax) => {
    const edges: Followed[] = [];
    for (let from = 0; from < urns.length; from += URNS_PER_SLICE_MAX) {
      const some = urns.slice(from, from + URNS_PER_SLICE_MAX);
      // One more than needed, to find out whether there are more.
      for (const edge of await slice(some, steps, edgesMax - edges.length + 1)) {
        if (edges.length === edgesMax) return { edges, complete: false };
        edges.push(edge);
      }
    }
    return { edges, complete: true };
  };
}

const byPlace = (a: Found["at"], b: Found["at"]): number =>
  a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];

function stepsQuery(
  label: string,
  direction: Step["direction"],
  relationships: readonly string[],
): string {
  const any = anyOf(relationships);
  const edge = direction === "OUTGOING" ? `-[r:${any}]->` : `<-[r:${any}]-`;
  return `UNWIND $asked AS one
    MATCH (n:\`${label}\` {urn: one[1]})${edge}(m) WHERE m.type IN $to
    WITH one[0] AS at, r, m ORDER BY at, $ranks[type(r)], r.position, r.ordinal LIMIT $limit
    WITH collect([at, type(r), m.urn, m.type, r.via, r.position, r.ordinal]) AS answer`;
}
