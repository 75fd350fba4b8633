/**
 * Follows edges from many nodes: one query per entity type and direction, for all walks that take the
 * same steps in one iteration of the event loop.
 */
import { entityTypeOf } from "../../../../core/urn.ts";
import { minOf } from "../../../../lib/lists.ts";
import { batching } from "../../../../storage/batching.ts";
import { type Followed, type Step, type Steps, urnsPerFollowMax } from "../../graph.ts";
import { whole } from "../connection.ts";
import type { AskLive } from "../live-generation.ts";
import { anyOf, relationshipOf } from "../schema.ts";

const DIRECTIONS = ["OUTGOING", "INCOMING"] as const;

interface FollowQuery {
  readonly urns: readonly string[];
  readonly steps: Steps;
  readonly edgesMax: number;
}

type Found = { readonly edges: readonly Followed[]; readonly complete: boolean };

/** An edge with its sort key: index of its urn in the slice, of its step, and its own order. */
interface Placed {
  readonly edge: Followed;
  readonly at: readonly [urn: number, step: number, position: number, ordinal: number];
}

type Row = readonly [
  ...[at: number, relationship: string, to: string, entityType: string],
  ...[via: string | null, position: number, ordinal: number],
];

export function createFollowing(ask: AskLive): (query: FollowQuery) => Promise<Found> {
  async function find(
    urns: readonly string[],
    ats: readonly number[],
    own: readonly Step[],
    direction: Step["direction"],
    limit: number,
  ): Promise<readonly Placed[]> {
    const steps = own.flatMap((step, rank) =>
      step.direction === direction && step.to.size > 0 ? [{ step, rank }] : [],
    );
    if (steps.length === 0) return [];
    const byRelationship = Map.groupBy(steps, ({ step }) => relationshipOf(step.type));
    const to = new Set(steps.flatMap(({ step }) => [...step.to]));
    const ranks = [...byRelationship].map(([name, [first]]) => [name, whole(first?.rank ?? 0)]);
    const answer = await ask((label) => ({
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
        (byRelationship.get(relationship) ?? []).flatMap(({ step, rank }): Placed[] => {
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

  async function follow({ urns, steps, edgesMax }: FollowQuery): Promise<Found> {
    // One more than needed, to find out whether there are more.
    const edges = await slice(urns, steps, edgesMax + 1);
    return { edges: edges.slice(0, edgesMax), complete: edges.length <= edgesMax };
  }

  /** Follows queries with the same steps together, unless they have too many edges. */
  async function followAll(queries: readonly FollowQuery[]): Promise<readonly Found[]> {
    const [{ steps }] = queries as readonly [FollowQuery];
    const urns = [...new Set(queries.flatMap((query) => query.urns))];
    const edgesMax = minOf(queries.map((query) => query.edgesMax));
    if (queries.length > 1 && urns.length <= urnsPerFollowMax) {
      const { edges, complete } = await follow({ urns, steps, edgesMax });
      const byUrn = Map.groupBy(edges, ({ from }) => from);
      const of = (query: FollowQuery) => query.urns.flatMap((urn) => byUrn.get(urn) ?? []);
      if (complete) return queries.map((query) => ({ edges: of(query), complete }));
    }
    if (queries.length === 1) return Promise.all(queries.map(follow));
    const half = queries.length >> 1;
    return [
      ...(await followAll(queries.slice(0, half))),
      ...(await followAll(queries.slice(half))),
    ];
  }

  return batching(followAll, ({ steps }) => steps);
}

const byPlace = (a: Placed["at"], b: Placed["at"]): number =>
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
