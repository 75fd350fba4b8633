/**
 * Read ports filtered for one caller. Hidden entities behave as if they never existed: without
 * aspects, documents, events and edges.
 *
 * Searches get an additional condition, so that totals, facets, suggestions and folders only count
 * visible entities. Rules that a condition cannot express are checked first, entity by entity.
 * Beyond `perhapsMax` such entities the search is rejected instead of being answered without them.
 */

import { type EntityState, unknownEntity } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import { type Position, START } from "../../core/position.ts";
import type { AspectReader } from "../../views/aspects/aspect-table.ts";
import type { GraphReader } from "../../views/graph/graph.ts";
import { holds } from "../../views/search/evaluate.ts";
import {
  type Condition,
  type Cursor,
  cursorOfUrn,
  hitsMax,
  type Scope,
  type SearchReader,
} from "../../views/search/search.ts";
import type { TimeseriesReader } from "../../views/timeseries/timeseries-table.ts";
import { anyOf, everyOf } from "../search/filter/conditions.ts";
import type { EntityCache } from "../write/entity-cache.ts";
import type { DeletedRows } from "../write/entity-lifetimes.ts";
import type { AccessFilter, ResolveFilter } from "./access-filter.ts";

export interface ReadPorts {
  readonly states: Pick<EntityCache, "read" | "peek" | "positionOf">;
  readonly aspects: Pick<
    AspectReader,
    "findValue" | "listUrns" | "urnsAfter" | "countEntities" | "countAspect"
  >;
  readonly timeseries: Pick<TimeseriesReader, "list">;
  readonly graph: Pick<GraphReader, "neighbours" | "follow" | "stamps">;
  readonly search: Pick<SearchReader, "search" | "folders" | "documents">;
  /**
   * History up to this position is hidden: access to a re-created entity does not imply access to
   * its former self. Absent: nothing is hidden.
   */
  readonly hiddenUpTo?: ((urn: string) => Promise<Position>) | undefined;
}

/** Lookups of deletions that filteredReaders uses. */
export type Lifetimes = Pick<DeletedRows, "lastHardDelete" | "firstVersion">;

/** Maximum number of entities that a search checks one by one, and the page size of the check. */
export const perhapsMax = 100_000;
const perhapsPage = 1_000;
/** Maximum number of neighbours of an entity that are read; further ones are omitted. */
const neighboursMax = 10_000;
/** Neighbours of the first read, which is the only one for nearly all entities. */
const neighboursFirst = 1_000;

/** Without `lifetimes` no history is hidden. */
export function filteredReaders(
  ports: ReadPorts,
  resolveFilter: ResolveFilter,
  lifetimes?: Lifetimes | undefined,
): ReadPorts {
  const { states, timeseries } = ports;
  const search = seenSearch(ports, resolveFilter);

  async function seen(filter: AccessFilter, urns: readonly string[]): Promise<ReadonlySet<string>> {
    const distinct = [...new Set(urns)];
    if (filter.everything) return new Set(distinct);
    const found = await states.read(distinct);
    return new Set(found.filter((state) => filter.isVisible(state)).map(({ urn }) => urn));
  }

  async function hiddenUpTo(urn: string): Promise<Position> {
    const filter = await resolveFilter();
    if (lifetimes === undefined || filter.everything || filter.alwaysVisible(urn)) return START;
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
        const filter = resolveFilter();
        const state = filter instanceof Promise ? undefined : states.peek(urn);
        return state === undefined ? undefined : visibleState(filter as AccessFilter, state);
      },
      async read(urns) {
        const filter = await resolveFilter();
        const found = await states.read(urns);
        return found.map((state) => visibleState(filter, state));
      },
    },

    aspects: {
      async findValue(urn, aspect, version) {
        const visible = (await seen(await resolveFilter(), [urn])).has(urn);
        if (!visible) return undefined;
        if ((await hiddenUpTo(urn)) > START) {
          const first = await lifetimes?.firstVersion(urn, aspect);
          if (first === undefined || version < first) return undefined;
        }
        return ports.aspects.findValue(urn, aspect, version);
      },
      async listUrns(entityType, page) {
        if ((await resolveFilter()).everything) return ports.aspects.listUrns(entityType, page);
        const sort = [{ field: "urn", order: "ASCENDING" }] as const;
        const count = Math.min(page.count, hitsMax);
        const asked = { ...scopeOf(entityType), sort, start: page.start, count, facets: [] };
        const { hits, total } = await search.search({ ...asked, urnsOnly: true });
        return { urns: hits.map(({ document }) => document.urn), total };
      },
      async urnsAfter(entityType, after, count) {
        if ((await resolveFilter()).everything)
          return ports.aspects.urnsAfter(entityType, after, count);
        const { hits } = await search.search({
          ...scopeOf(entityType),
          sort: [],
          start: 0,
          count,
          after: after === "" ? undefined : cursorOfUrn(after),
          facets: [],
          uncounted: true,
          urnsOnly: true,
        });
        return hits.map(({ document }) => document.urn);
      },
      async countEntities() {
        const counts = await ports.aspects.countEntities();
        if ((await resolveFilter()).everything) return counts;
        const own = new Map<string, number>();
        for (const entityType of counts.keys()) {
          const asked = { ...scopeOf(entityType), sort: [], start: 0, count: 0, facets: [] };
          own.set(entityType, (await search.search(asked)).total);
        }
        return own;
      },
      async countAspect(aspect, urnLike) {
        if ((await resolveFilter()).everything) return ports.aspects.countAspect(aspect, urnLike);
        throw new CatalogError(
          "forbidden",
          "aspects are counted only for users who may see all entities",
          {
            hint: "Count entities with a search",
          },
        );
      },
    },

    timeseries: {
      async list(range, options) {
        const visible = (await seen(await resolveFilter(), [range.urn])).has(range.urn);
        return visible ? timeseries.list(range, options) : [];
      },
    },

    graph: seenGraph(ports.graph, resolveFilter, seen),
    search,
    hiddenUpTo,
  };
}

const visibleState = (filter: AccessFilter, state: EntityState): EntityState =>
  filter.everything || filter.isVisible(state) ? state : unknownEntity(state.urn);

function seenGraph(
  reader: ReadPorts["graph"],
  resolveFilter: ResolveFilter,
  seen: (filter: AccessFilter, urns: readonly string[]) => Promise<ReadonlySet<string>>,
): ReadPorts["graph"] {
  /** Removes the entity that an edge runs through if it is hidden. */
  const without = <T extends { readonly via?: string | undefined }>(
    edge: T,
    visible: ReadonlySet<string>,
  ): T => (edge.via === undefined || visible.has(edge.via) ? edge : { ...edge, via: undefined });
  const vias = (edges: readonly { readonly via?: string | undefined }[]): readonly string[] =>
    edges.flatMap(({ via }) => via ?? []);

  return {
    stamps: reader.stamps,

    async neighbours(query) {
      const filter = await resolveFilter();
      if (filter.everything) return reader.neighbours(query);
      if (!(await seen(filter, [query.urn])).has(query.urn)) return { neighbours: [], total: 0 };
      const read = (start: number, count: number) => reader.neighbours({ ...query, start, count });
      const first = await read(0, neighboursFirst);
      const further =
        first.total > neighboursFirst
          ? (await read(neighboursFirst, neighboursMax - neighboursFirst)).neighbours
          : [];
      const neighbours = [...first.neighbours, ...further];
      const urns = neighbours.map(({ urn }) => urn);
      const visible = await seen(filter, [...urns, ...vias(neighbours)]);
      const own = neighbours.filter(({ urn }) => visible.has(urn));
      const page = own.slice(query.start, query.start + query.count);
      return { neighbours: page.map((one) => without(one, visible)), total: own.length };
    },

    async follow(urns, steps, options) {
      const filter = await resolveFilter();
      if (filter.everything) return reader.follow(urns, steps, options);
      const from = await seen(filter, urns);
      const { edges, complete } = await reader.follow(
        urns.filter((urn) => from.has(urn)),
        steps,
        options,
      );
      const visible = await seen(filter, [...edges.map(({ to }) => to), ...vias(edges)]);
      const own = edges.filter(({ to }) => visible.has(to));
      return { edges: own.map((edge) => without(edge, visible)), complete };
    },
  };
}

function seenSearch(
  { states, search }: ReadPorts,
  resolveFilter: ResolveFilter,
): ReadPorts["search"] {
  /** Urns of visible entities that the condition does not match. */
  async function seenBesides(
    { condition, toCheck, isVisible }: AccessFilter,
    { entityTypes }: Typed,
  ) {
    const seen: string[] = [];
    if (toCheck === undefined) return seen;
    let asked = 0;
    for (let after: Cursor | undefined; ; ) {
      const { hits } = await search.search({
        entityTypes,
        expression: { kind: "all" },
        facets: [],
        uncounted: true,
        urnsOnly: true,
        after,
        condition: everyOf([toCheck, { kind: "not", not: condition }]),
        sort: [{ field: "urn", order: "ASCENDING" }],
        start: 0,
        count: perhapsPage,
      });
      const found = await states.read(hits.map(({ document }) => document.urn));
      for (const state of found) if (isVisible(state)) seen.push(state.urn);
      after = hits.at(-1)?.cursor;
      if (after === undefined || hits.length < perhapsPage) return seen;
      asked += hits.length;
      if (asked >= perhapsMax) throw tooMany();
    }
  }

  /** The additional condition on the documents of a scope; undefined: none. */
  async function seenOf(scope: Typed): Promise<Condition | undefined> {
    const filter = await resolveFilter();
    if (filter.everything) return undefined;
    const values = await seenBesides(filter, scope);
    return values.length === 0
      ? filter.condition
      : anyOf([filter.condition, { kind: "equal", field: "urn", values }]);
  }

  async function filtered<T extends Scope>(scope: T): Promise<T> {
    const own = await seenOf(scope);
    if (own === undefined) return scope;
    const both: readonly Condition[] =
      scope.condition === undefined ? [own] : [scope.condition, own];
    return { ...scope, condition: everyOf(both) };
  }

  return {
    async search(query) {
      const { toCheck } = await resolveFilter();
      // Suggestions need further searches, each of which would check those entities again.
      const asked = toCheck === undefined ? query : { ...query, nearWordsOf: undefined };
      return search.search(await filtered(asked));
    },
    folders: async (query) => search.folders(await filtered(query)),
    async documents(urns) {
      const found = await search.documents(urns);
      const filter = await resolveFilter();
      if (filter.everything) return found;
      const { condition, toCheck, isVisible } = filter;
      const asked = found.filter(
        (one) => one && !holds(condition, one) && toCheck && holds(toCheck, one),
      );
      const read = await states.read(asked.flatMap((one) => one?.urn ?? []));
      const besides = new Set(read.filter((state) => isVisible(state)).map(({ urn }) => urn));
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
    `the search would have to check the visibility of more than ${perhapsMax} entities`,
    {
      hint: "Search fewer entity types, or write the policies without owner types and memberships",
    },
  );
