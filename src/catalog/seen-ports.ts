/**
 * The ports that reads work on, showing only what may be seen. Entities that are hidden are like
 * those that were never told of: without aspects, documents, events and edges.
 *
 * Searches are narrowed by a condition, so that totals, facets, suggestions and folders are of what is
 * seen. What no condition can say is looked up first, entity by entity: as many as there are, up to a
 * number (`perhapsMax`) at which the search is refused rather than answered without them.
 */
import type { AspectReader } from "../aspects/aspect-table.ts";
import { type EntityState, unknownEntity } from "../core/entity-state.ts";
import { CatalogError } from "../core/errors.ts";
import { type Position, START } from "../core/position.ts";
import type { GraphReader } from "../graph/graph.ts";
import { holds } from "../search/evaluate.ts";
import {
  type Condition,
  type Cursor,
  hitsMax,
  type Scope,
  type SearchReader,
} from "../search/search.ts";
import type { TimeseriesReader } from "../timeseries/timeseries-table.ts";
import type { AccessFilter, ResolveFilter } from "./access-filter.ts";
import type { DeletedRows } from "./deleted-rows.ts";
import type { EntityStates } from "./entity-states.ts";
import { anyOf, everyOf } from "./search-conditions.ts";

export interface ReadPorts {
  readonly states: Pick<EntityStates, "read" | "peek" | "positionOf">;
  readonly aspects: Pick<AspectReader, "findValue" | "listUrns" | "countEntities" | "countAspect">;
  readonly timeseries: Pick<TimeseriesReader, "list">;
  readonly graph: Pick<GraphReader, "neighbours" | "follow" | "stamps">;
  readonly search: Pick<SearchReader, "search" | "folders" | "documents">;
  /**
   * Up to where what was told of an entity is not shown: what it was before it was deleted, and came
   * to be anew, says nothing of who might have seen it. Absent: all is shown.
   */
  readonly hiddenUpTo?: ((urn: string) => Promise<Position>) | undefined;
}

/** What seenPorts needs to know of the ends of entities. */
export type Lifetimes = Pick<DeletedRows, "lastHardDelete" | "firstVersion">;

/** Entities that are asked about one by one for a search, and how many at a time. */
export const perhapsMax = 100_000;
const perhapsPage = 1_000;
/** Neighbours of an entity that are looked at; what lies beyond is not told. */
const neighboursMax = 10_000;

/** Without `lifetimes` nothing is told of the past. */
export function seenPorts(
  ports: ReadPorts,
  look: ResolveFilter,
  lifetimes?: Lifetimes | undefined,
): ReadPorts {
  const { states, timeseries } = ports;
  const search = seenSearch(ports, look);

  async function seen(sight: AccessFilter, urns: readonly string[]): Promise<ReadonlySet<string>> {
    const distinct = [...new Set(urns)];
    if (sight.everything) return new Set(distinct);
    const found = await states.read(distinct);
    return new Set(found.filter((state) => sight.sees(state)).map(({ urn }) => urn));
  }

  async function hiddenUpTo(urn: string): Promise<Position> {
    const sight = await look();
    if (lifetimes === undefined || sight.everything || sight.seesAlways(urn)) return START;
    const [state] = await states.read([urn]);
    return state === undefined ? START : lifetimes.lastHardDelete(state);
  }

  const scopeOf = (entityType: string): Scope => ({
    entityTypes: [entityType],
    expression: { kind: "all" },
  });

  return {
    states: {
      positionOf: states.positionOf,
      peek(urn) {
        const sight = look();
        const state = sight instanceof Promise ? undefined : states.peek(urn);
        return state === undefined ? undefined : shown(sight as AccessFilter, state);
      },
      async read(urns) {
        const sight = await look();
        const found = await states.read(urns);
        return found.map((state) => shown(sight, state));
      },
    },

    aspects: {
      async findValue(urn, aspect, version) {
        const visible = (await seen(await look(), [urn])).has(urn);
        if (!visible) return undefined;
        if ((await hiddenUpTo(urn)) > START) {
          const first = await lifetimes?.firstVersion(urn, aspect);
          if (first === undefined || version < first) return undefined;
        }
        return ports.aspects.findValue(urn, aspect, version);
      },
      async listUrns(entityType, page) {
        if ((await look()).everything) return ports.aspects.listUrns(entityType, page);
        const sort = [{ field: "urn", order: "ASCENDING" }] as const;
        const count = Math.min(page.count, hitsMax);
        const asked = { ...scopeOf(entityType), sort, start: page.start, count, facets: [] };
        const { hits, total } = await search.search(asked);
        return { urns: hits.map(({ document }) => document.urn), total };
      },
      async countEntities() {
        const counts = await ports.aspects.countEntities();
        if ((await look()).everything) return counts;
        const own = new Map<string, number>();
        for (const entityType of counts.keys()) {
          const asked = { ...scopeOf(entityType), sort: [], start: 0, count: 0, facets: [] };
          own.set(entityType, (await search.search(asked)).total);
        }
        return own;
      },
      async countAspect(aspect, urnLike) {
        if ((await look()).everything) return ports.aspects.countAspect(aspect, urnLike);
        throw new CatalogError("forbidden", "aspects are counted for those who may see all", {
          hint: "Count entities with a search",
        });
      },
    },

    timeseries: {
      async list(range, options) {
        const visible = (await seen(await look(), [range.urn])).has(range.urn);
        return visible ? timeseries.list(range, options) : [];
      },
    },

    graph: seenGraph(ports.graph, look, seen),
    search,
    hiddenUpTo,
  };
}

const shown = (sight: AccessFilter, state: EntityState): EntityState =>
  sight.everything || sight.sees(state) ? state : unknownEntity(state.urn);

function seenGraph(
  reader: ReadPorts["graph"],
  look: ResolveFilter,
  seen: (sight: AccessFilter, urns: readonly string[]) => Promise<ReadonlySet<string>>,
): ReadPorts["graph"] {
  /** Without what an edge runs through, where that is hidden. */
  const without = <T extends { readonly via?: string | undefined }>(
    edge: T,
    visible: ReadonlySet<string>,
  ): T => (edge.via === undefined || visible.has(edge.via) ? edge : { ...edge, via: undefined });
  const vias = (edges: readonly { readonly via?: string | undefined }[]): readonly string[] =>
    edges.flatMap(({ via }) => via ?? []);

  return {
    stamps: reader.stamps,

    async neighbours(query) {
      const sight = await look();
      if (sight.everything) return reader.neighbours(query);
      if (!(await seen(sight, [query.urn])).has(query.urn)) return { neighbours: [], total: 0 };
      const { neighbours } = await reader.neighbours({ ...query, start: 0, count: neighboursMax });
      const urns = neighbours.map(({ urn }) => urn);
      const visible = await seen(sight, [...urns, ...vias(neighbours)]);
      const own = neighbours.filter(({ urn }) => visible.has(urn));
      const page = own.slice(query.start, query.start + query.count);
      return { neighbours: page.map((one) => without(one, visible)), total: own.length };
    },

    async follow(urns, steps, options) {
      const sight = await look();
      if (sight.everything) return reader.follow(urns, steps, options);
      const from = await seen(sight, urns);
      const { edges, complete } = await reader.follow(
        urns.filter((urn) => from.has(urn)),
        steps,
        options,
      );
      const visible = await seen(sight, [...edges.map(({ to }) => to), ...vias(edges)]);
      const own = edges.filter(({ to }) => visible.has(to));
      return { edges: own.map((edge) => without(edge, visible)), complete };
    },
  };
}

function seenSearch({ states, search }: ReadPorts, look: ResolveFilter): ReadPorts["search"] {
  /** Urns of the entities that are seen, though no condition says so. */
  async function seenBesides({ condition, perhaps, sees }: AccessFilter, { entityTypes }: Typed) {
    const seen: string[] = [];
    if (perhaps === undefined) return seen;
    let asked = 0;
    for (let after: Cursor | undefined; ; ) {
      const { hits } = await search.search({
        entityTypes,
        expression: { kind: "all" },
        facets: [],
        uncounted: true,
        after,
        condition: everyOf([perhaps, { kind: "not", not: condition }]),
        sort: [{ field: "urn", order: "ASCENDING" }],
        start: 0,
        count: perhapsPage,
      });
      const found = await states.read(hits.map(({ document }) => document.urn));
      for (const state of found) if (sees(state)) seen.push(state.urn);
      after = hits.at(-1)?.cursor;
      if (after === undefined || hits.length < perhapsPage) return seen;
      asked += hits.length;
      if (asked >= perhapsMax) throw tooMany();
    }
  }

  /** The condition that the documents of a scope have to fulfil, too; undefined: none. */
  async function seenOf(scope: Typed): Promise<Condition | undefined> {
    const sight = await look();
    if (sight.everything) return undefined;
    const values = await seenBesides(sight, scope);
    return values.length === 0
      ? sight.condition
      : anyOf([sight.condition, { kind: "equal", field: "urn", values }]);
  }

  async function narrowed<T extends Scope>(scope: T): Promise<T> {
    const own = await seenOf(scope);
    if (own === undefined) return scope;
    const both: readonly Condition[] =
      scope.condition === undefined ? [own] : [scope.condition, own];
    return { ...scope, condition: everyOf(both) };
  }

  return {
    async search(query) {
      const { perhaps } = await look();
      // Suggestions cost further searches, each of which would look up those entities again.
      const asked = perhaps === undefined ? query : { ...query, nearWordsOf: undefined };
      return search.search(await narrowed(asked));
    },
    folders: async (query) => search.folders(await narrowed(query)),
    async documents(urns) {
      const found = await search.documents(urns);
      const sight = await look();
      if (sight.everything) return found;
      const { condition, perhaps, sees } = sight;
      const asked = found.filter(
        (one) => one && !holds(condition, one) && perhaps && holds(perhaps, one),
      );
      const read = await states.read(asked.flatMap((one) => one?.urn ?? []));
      const besides = new Set(read.filter((state) => sees(state)).map(({ urn }) => urn));
      return found.map((one) =>
        one && (holds(condition, one) || besides.has(one.urn)) ? one : undefined,
      );
    },
  };
}

type Typed = Pick<Scope, "entityTypes">;

const tooMany = (): CatalogError =>
  new CatalogError(
    "invalid",
    `more than ${perhapsMax} entities would have to be asked whether you may see them`,
    {
      hint: "Ask for fewer entity types, or write the policies without owner types and memberships",
    },
  );
