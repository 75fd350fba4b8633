/**
 * Reads of the graph: neighbours of an entity, and its lineage. Reads include every acknowledged
 * write.
 *
 * Edges may lead to entities that do not exist, and to types that the model does not have, so reads
 * accept such urns. The urn of a type that the model has must have that type's key parts. A request
 * to remove edges is a write and requires an entity type of the model.
 */
import { LRUCache } from "lru-cache";
import type { Change } from "../../core/change.ts";
import { NO_RUN_ID } from "../../core/change.ts";
import { CatalogError } from "../../core/errors.ts";
import { withNamespace } from "../../core/urn.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { formatNumber } from "../../lib/format.ts";
import type { Model } from "../../model/model.ts";
import type { Direction, GraphReader, NeighboursQuery, Stamps } from "../../views/graph/graph.ts";
import type { Addresses } from "../address.ts";
import type { Caller, Catalog, LineageRelationship, Written } from "../catalog.ts";
import { withoutSoftDeleted } from "../read/soft-deleted.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import {
  isDrawn,
  type LineageDirection,
  pairOf,
  pathTo,
  type Reached,
  timesOf,
  type WalkLineage,
  type WalkQuery,
} from "./lineage.ts";
import { createLinkedUrns } from "./linked-urns.ts";

/** Maximum and default number of relationships in a page. */
const countMax = 10_000;
const countDefault = 100;
/** Maximum number of urns in the paths of a response: some twenty megabytes. */
const pathUrnsMax = 200_000;
/**
 * Concurrent walks of several steps: a large one needs some tens of megabytes until its response is sent.
 * Walks of one step read only neighbours, and are not limited, so that stores can read them together.
 */
const walksMax = 4;

/** The stream name that projections/graph/graph.ts reads. */
const FORGET = "$relationships";

interface Dependencies {
  readonly model: Pick<Model, "entities">;
  readonly reader: Pick<GraphReader, "neighbours" | "stamps">;
  readonly walk: WalkLineage;
  readonly namespace: string;
  readonly addresses: Addresses;
  readonly systemActor: string;
  readonly now: () => number;
  /** Waits until the view has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
  /**
   * Changes whenever results of the view may change; undefined while the view lacks an acknowledged
   * write; absent: pages are not cached.
   */
  readonly version: (() => number | undefined) | undefined;
  /** States of the entities that edges lead to. */
  readonly states: Pick<EntityCache, "read">;
  /** Appends to a stream other than the entity's own. */
  readonly append: (change: Change, caller: Caller, request: unknown) => Promise<Written>;
}

type PageRequest = Parameters<Catalog["listRelationships"]>[0];
type Page = Awaited<ReturnType<Catalog["listRelationships"]>>;

type Reads = Pick<Catalog, "listRelationships" | "getLineage" | "forgetRelationships">;

export function createRelationships(dependencies: Dependencies): Reads {
  const { reader, walk, caughtUp } = dependencies;
  const withSlot = createConcurrencyLimit(walksMax);
  const { version } = dependencies;
  const pages = version === undefined ? undefined : createPageCache(version);

  const linkedUrns = createLinkedUrns(dependencies);

  async function readPage(query: NeighboursQuery): Promise<Page> {
    const { neighbours, total } = await reader.neighbours(query);
    return { start: query.start, count: neighbours.length, total, relationships: neighbours };
  }

  async function listPage(request: PageRequest): Promise<Page> {
    const urn = await linkedUrns.one(request.urn);
    const direction = oneOf("direction", request.direction, directions);
    const { start, count } = pageOf(request);
    await caughtUp();
    const read = () => readPage({ urn, direction, types: request.types, start, count });
    return pages === undefined ? read() : pages.read(request, read);
  }

  async function stampedPage(request: PageRequest): Promise<Page> {
    const page = await listPage(request);
    const urn = withNamespace(request.urn, dependencies.namespace);
    const ways =
      request.direction === "UNDIRECTED" ? ["OUTGOING", "INCOMING"] : [request.direction];
    const stamps = await Promise.all(
      ways.map((way) =>
        reader.stamps(
          page.relationships.map(({ type, urn: other }) =>
            way === "OUTGOING"
              ? { source: urn, type, destination: other }
              : { source: other, type, destination: urn },
          ),
        ),
      ),
    );
    const relationships = page.relationships.map((one, i) => {
      const found = stamps.map((ofWay) => ofWay[i]).find((each) => each !== undefined);
      return found === undefined
        ? one
        : { ...one, created: { time: found.createdOn, actor: found.createdActor } };
    });
    return { ...page, relationships };
  }

  /** Not cached: soft-deleting an entity does not change its edges. */
  async function omitSoftDeleted(reading: Page | Promise<Page>): Promise<Page> {
    const page = await reading;
    const urns = page.relationships.map(({ urn }) => urn);
    const kept = new Set(await withoutSoftDeleted(urns, dependencies.states));
    const relationships = page.relationships.filter(({ urn }) => kept.has(urn));
    const omitted = page.relationships.length - relationships.length;
    const count = relationships.length;
    return { start: page.start, count, total: page.total - omitted, relationships };
  }

  async function lineageOf(
    query: WalkQuery,
    { start, count }: { readonly start: number; readonly count: number },
  ): Promise<Awaited<ReturnType<Catalog["getLineage"]>>> {
    const { reached, partial } = await walk(query);
    const page = reached.slice(start, start + count);
    const stamps = await reader.stamps(page.map(({ edge }) => pairOf(edge)));
    const paths = pathsOf(query.urn, page);
    return {
      start,
      count,
      total: reached.length,
      partial: partial || paths.length < page.length,
      relationships: page.map((one, i) => relationshipOf(one, paths[i], stamps[i])),
    };
  }

  return {
    listRelationships(request) {
      const page =
        request.stamped === true
          ? stampedPage(request)
          : (pages?.cached(request) ?? listPage(request));
      return request.includeSoftDeleted === false ? omitSoftDeleted(page) : page;
    },

    async getLineage(query) {
      const urn = await linkedUrns.one(query.urn);
      const direction = oneOf("direction", query.direction, lineageDirections);
      const { start, count } = pageOf(query);
      const hops = atLeast("maxHops", query.maxHops ?? 1, 1);
      const times = timesOf(query);
      await caughtUp();
      const read = () => lineageOf({ urn, direction, hops, times }, { start, count });
      return hops === 1 ? read() : withSlot(read);
    },

    async forgetRelationships(text, caller) {
      const { urn, entity } = dependencies.addresses.writable(text);
      const [state] = await dependencies.states.read([urn]);
      if (state === undefined || state.aspects.size === 0) dependencies.addresses.checkNew(urn);
      const created = {
        time: dependencies.now(),
        actor: caller.actor ?? dependencies.systemActor,
      };
      const system = { lastObserved: created.time, runId: NO_RUN_ID };
      return dependencies.append(
        { urn, entityType: entity.name, aspect: FORGET, changeType: "DELETE", created, system },
        caller,
        { forgotten: urn },
      );
    },
  };
}

/** Characters of cached pages and their responses: some forty megabytes. */
const cachedMax = 20_000_000;
/** Larger pages are not cached: sending them takes longer than reading them. */
const cachedPageMax = 20_000;

/**
 * Cache of neighbour pages. The same neighbours are requested often and change rarely, so pages are
 * cached by their exact request until the view changes.
 */
function createPageCache(version: () => number | undefined) {
  const pages = new LRUCache<string, Page>({
    maxSize: cachedMax,
    maxEntrySize: cachedPageMax,
    sizeCalculation: sizeOf,
  });
  let at = version();

  function cached(request: PageRequest): Page | undefined {
    const now = version();
    if (now !== at) {
      pages.clear();
      at = now;
    }
    return pages.get(keyOf(request));
  }

  return {
    cached,
    async read(request: PageRequest, read: () => Promise<Page>): Promise<Page> {
      const now = version();
      const page = cached(request) ?? (await read());
      // The page is at least as new as the view was before the read.
      if (now !== undefined && version() === now && at === now) pages.set(keyOf(request), page);
      return page;
    },
  };
}

const keyOf = ({ urn, direction, types, start, count }: PageRequest): string =>
  JSON.stringify([urn, direction, types, start, count]);

const sizeOf = ({ relationships }: Page, key: string): number =>
  relationships.reduce(
    (size, { urn, via = "" }) => size + urn.length + via.length + 100,
    key.length + 200,
  );

const directions: readonly Direction[] = ["INCOMING", "OUTGOING", "UNDIRECTED"];
export const lineageDirections: readonly LineageDirection[] = ["UPSTREAM", "DOWNSTREAM"];

export function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw new CatalogError("malformed", `${name} is "${value.slice(0, 120)}"`, {
    hint: `Send one of ${allowed.join(", ")}`,
  });
}

export function atLeast(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new CatalogError("malformed", `${name} is ${formatNumber(value)}`, {
    hint: value > Number.MAX_SAFE_INTEGER ? "Send a smaller number" : `Send ${least} or more`,
  });
}

function pageOf({ start = 0, count = countDefault }: { start?: number; count?: number }) {
  return {
    start: atLeast("start", start, 0),
    count: Math.min(atLeast("count", count, 0), countMax),
  };
}

/** The paths to some entities; the last paths are missing if there is no room for all. */
export function pathsOf(start: string, page: readonly Reached[]): readonly (readonly string[])[] {
  const paths: (readonly string[])[] = [];
  let urns = 0;
  for (const reached of page) {
    const path = pathTo(start, reached);
    urns += path.length;
    if (urns > pathUrnsMax) break;
    paths.push(path);
  }
  return paths;
}

function relationshipOf(
  reached: Reached,
  path: readonly string[] | undefined,
  stamps: Stamps | undefined,
): LineageRelationship {
  const { urn, degree, edge, explored, truncatedChildren } = reached;
  return {
    type: edge.type,
    entity: urn,
    degree,
    degrees: [degree],
    paths: path === undefined ? [] : [path],
    createdOn: stamps?.createdOn,
    createdActor: stamps?.createdActor,
    updatedOn: stamps?.updatedOn,
    updatedActor: stamps?.updatedActor,
    isManual: isDrawn(stamps),
    explored,
    truncatedChildren,
  };
}
