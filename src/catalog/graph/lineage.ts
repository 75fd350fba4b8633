/**
 * Lineage: the entities up- or downstream of an entity, nearest first.
 *
 * The walk is breadth-first along the edges that are lineage between entities of their types
 * (GraphReader.follow). It reaches each entity once, by a shortest path, so cycles and diamonds end
 * by themselves. Hubs, dense neighbourhoods and long chains end at a bound, and the response says so.
 * The entity that an edge runs through (a query, a job) is reached together with the edge's end.
 *
 * With a time range, only edges count that were created or changed within it, edges without times,
 * and edges drawn by people.
 *
 * An entity that is ignored as a hop has the degree of the entities that follow it.
 *
 * Order is by degree, then by discovery. It depends only on the edges, so pages of one lineage are
 * consistent while nothing is written.
 */
import { CatalogError } from "../../core/errors.ts";
import { slicesOf } from "../../lib/lists.ts";
import {
  type Followed,
  type GraphReader,
  type Pair,
  type Stamps,
  type Steps,
  urnsPerFollowMax,
} from "../../views/graph/graph.ts";

export type LineageDirection = "UPSTREAM" | "DOWNSTREAM";

export interface LineageBounds {
  /** Steps from the start. */
  readonly hopsMax: number;
  readonly entitiesMax: number;
  /** Edges that one walk reads, including those to entities that it has reached before. */
  readonly edgesMax: number;
  readonly millisMax: number;
}

/**
 * Allow the longest chain and the largest hub that occur normally; a walk then needs some tens of
 * megabytes.
 */
export const lineageBounds: LineageBounds = {
  hopsMax: 1_000,
  entitiesMax: 100_000,
  edgesMax: 250_000,
  millisMax: 5_000,
};

/** An entity that a walk has reached. */
export interface Reached {
  readonly urn: string;
  /** Steps from the start. */
  readonly degree: number;
  /** The edge by which it was reached. */
  readonly edge: Followed;
  /** The previous entity; undefined: the start. */
  readonly before: Reached | undefined;
  /** True for an entity that the edge runs through, false for its end. */
  readonly between: boolean;
  readonly ignoredAsHop: boolean;
  /** `explored`: its own edges were read. `truncatedChildren`: some could not be followed. */
  explored: boolean;
  truncatedChildren: boolean;
}

export interface Walk {
  /** By degree, within a degree in the order of discovery. The start is not among them. */
  readonly reached: readonly Reached[];
  /** A bound ended the walk: there may be more. */
  readonly partial: boolean;
}

export interface WalkQuery {
  /** In the configured namespace. */
  readonly urn: string;
  readonly direction: LineageDirection;
  /** Bounded by hopsMax. */
  readonly hops: number;
  /** Undefined: edges of all times. */
  readonly times?: TimeWindow | undefined;
  /** Maximum number of new entities that each entity leads to; absent: no limit. */
  readonly neighboursMax?: number | undefined;
  /** True for entities that do not count as hops; absent: all count. */
  readonly ignoredAsHop?: ((urn: string) => boolean) | undefined;
}

/** Epoch milliseconds, both inclusive. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** The time range of a request; 0 means absent. Throws `malformed` for an inverted range. */
export function timesOf(asked: {
  readonly startTimeMillis?: number | undefined;
  readonly endTimeMillis?: number | undefined;
}): TimeWindow | undefined {
  const { startTimeMillis: from = 0, endTimeMillis: to = 0 } = asked;
  if (from === 0 && to === 0) return undefined;
  if (to !== 0 && from > to) {
    throw new CatalogError("malformed", `startTimeMillis ${from} is after endTimeMillis ${to}`, {
      hint: "Send the earlier time as startTimeMillis, in epoch milliseconds",
    });
  }
  return { from, to: to === 0 ? Number.POSITIVE_INFINITY : to };
}

/** The steps up- and downstream, by entity type. */
export type LineageSteps = Readonly<Record<LineageDirection, Steps>>;

interface LineageParts {
  readonly reader: Pick<GraphReader, "follow" | "stamps">;
  readonly steps: LineageSteps;
  readonly bounds?: LineageBounds | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export type WalkLineage = (query: WalkQuery) => Promise<Walk>;

export function createLineage(parts: LineageParts): WalkLineage {
  const { reader, steps, now, bounds = lineageBounds } = parts;

  async function within(
    times: TimeWindow | undefined,
    edges: readonly Followed[],
  ): Promise<readonly Followed[]> {
    if (times === undefined) return edges;
    const stamps = await reader.stamps(edges.map(pairOf));
    return edges.filter((_, n) => isWithin(times, stamps[n]));
  }

  return async ({ urn, direction, hops, times, ...options }) => {
    const deadline = now() + bounds.millisMax;
    const hopsMax = Math.min(hops, bounds.hopsMax);
    const territory = createTerritory(urn, bounds.entitiesMax, options);
    let edgesLeft = bounds.edgesMax;
    let layer: readonly Stop[] = [{ urn, item: undefined }];

    /** The edges from some stops, within the bounds. */
    async function edgesFrom(stops: readonly Stop[]) {
      const { edges, complete } =
        edgesLeft > 0 && now() <= deadline
          ? await reader.follow(urnsOf(stops), steps[direction], { edgesMax: edgesLeft })
          : { edges: [], complete: false };
      edgesLeft -= edges.length;
      return { counting: await within(times, edges), complete };
    }

    /** The new entities one step after `from`; undefined if a bound ended the walk. */
    async function step(from: readonly Stop[], degree: number) {
      const next: Stop[] = [];
      for (const stops of slicesOf(from, urnsPerFollowMax)) {
        const { counting, complete } = await edgesFrom(stops);
        const room = territory.enter(stops, counting, { degree, complete, next });
        if (!complete || !room) return undefined;
      }
      return next;
    }

    for (let degree = 1; degree <= hopsMax && layer.length > 0; degree++) {
      let next: readonly Stop[] = [];
      while (layer.length > 0) {
        const found = await step(layer, degree);
        if (found === undefined) return { reached: territory.reached(), partial: true };
        next = next.concat(found.filter(counts));
        layer = found.filter((stop) => !counts(stop));
      }
      layer = next;
    }
    // With fewer hops than requested, the walk is partial if another hop leads to a new entity.
    let partial = territory.omitted();
    for (const stops of hops > hopsMax ? slicesOf(layer, urnsPerFollowMax) : []) {
      if (partial) break;
      const { counting, complete } = await edgesFrom(stops);
      partial = !complete || counting.some((edge) => !territory.hasReached(edge));
    }
    return { reached: territory.reached(), partial };
  };
}

/** The reader's identification of the edge. */
export const pairOf = ({ from, to, type, direction }: Followed): Pair =>
  direction === "OUTGOING"
    ? { source: from, type, destination: to }
    : { source: to, type, destination: from };

/** DataHub's pages mark edges drawn by people so. */
export const isDrawn = (stamps: Stamps | undefined): boolean => stamps?.properties?.source === "UI";

function isWithin({ from, to }: TimeWindow, stamps: Stamps | undefined): boolean {
  if (stamps === undefined || isDrawn(stamps)) return true;
  const { createdOn, updatedOn } = stamps;
  const inside = (time: number): boolean => time >= from && time <= to;
  return (createdOn === 0 && updatedOn === 0) || inside(createdOn) || inside(updatedOn);
}

/** The urns from the start to an entity, including those that edges run through. */
export function pathTo(start: string, reached: Reached): readonly string[] {
  const path: string[] = [];
  for (let at: Reached | undefined = reached; at !== undefined; at = at.before) {
    path.push(at.urn);
    if (!at.between && at.edge.via !== undefined) path.push(at.edge.via);
  }
  return path.concat(start).reverse();
}

/** An entity from which the walk continues; the start has no item in the response. */
interface Stop {
  readonly urn: string;
  readonly item: Reached | undefined;
}

const urnsOf = (stops: readonly Stop[]): readonly string[] => stops.map(({ urn }) => urn);

/** False for an entity that is ignored as a hop. */
const counts = ({ item }: Stop): boolean => item?.ignoredAsHop !== true;

function createTerritory(
  start: string,
  entitiesMax: number,
  { neighboursMax = Number.POSITIVE_INFINITY, ignoredAsHop = () => false }: Partial<WalkQuery>,
) {
  const found = new Map<string, Reached>();
  /** Entities that the walk continues from, now or later. */
  const walked = new Set([start]);
  let omitted = false;

  function reach(how: Pick<Reached, "urn" | "degree" | "edge" | "before" | "between">): Stop {
    const { urn, degree, edge, before, between } = how;
    const item: Reached = {
      urn,
      degree,
      edge,
      before,
      between,
      ignoredAsHop: ignoredAsHop(urn),
      explored: false,
      truncatedChildren: false,
    };
    if (!found.has(urn)) found.set(urn, item);
    return { urn, item };
  }

  return {
    reached: (): readonly Reached[] => [...found.values()],

    /** True if an entity leads to more than `neighboursMax` new entities. */
    omitted: (): boolean => omitted,

    /** True if the edge's end and the entity that it runs through were reached. */
    hasReached: ({ to, via }: Followed): boolean =>
      walked.has(to) && (via === undefined || via === start || found.has(via)),

    /** Adds the edges of some stops, in their order; false if there is no room for more. */
    enter(
      stops: readonly Stop[],
      edges: readonly Followed[],
      { degree, complete, next }: { degree: number; complete: boolean; next: Stop[] },
    ): boolean {
      let at = 0;
      let neighbours = 0;
      for (const edge of edges) {
        while (at < stops.length - 1 && stops[at]?.urn !== edge.from) {
          explored(stops[at++]);
          neighbours = 0;
        }
        const before = stops[at]?.item;
        const { to, via } = edge;
        const isWalked = walked.has(to);
        if (neighbours === neighboursMax && !isWalked) {
          cut(stops[at]);
          omitted = true;
          continue;
        }
        const between = via !== undefined && via !== start && !found.has(via);
        if (found.size + (between ? 1 : 0) + (isWalked ? 0 : 1) > entitiesMax) {
          cut(stops[at]);
          return false;
        }
        if (between) reach({ urn: via, degree, edge, before, between });
        if (isWalked) continue;
        walked.add(to);
        neighbours++;
        next.push(reach({ urn: to, degree, edge, before, between: false }));
      }
      if (!complete && edges.length > 0) cut(stops[at]);
      for (; complete && at < stops.length; at++) explored(stops[at]);
      return true;
    },
  };
}

function explored(stop: Stop | undefined): void {
  if (stop?.item !== undefined) stop.item.explored = true;
}

/** The walk continued from there, but not along all edges. */
function cut(stop: Stop | undefined): void {
  explored(stop);
  if (stop?.item !== undefined) stop.item.truncatedChildren = true;
}
