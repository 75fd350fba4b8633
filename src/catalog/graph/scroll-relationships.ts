/**
 * Scrolls over all edges of the graph, or over those between selected ends.
 *
 * The graph reads edges by entity, so the scroll goes from entity to entity at one end (the
 * anchors): named urns, or those found by a search, by urn. Filters on the other end are applied
 * edge by edge. A page ends when it is full or when enough anchors were read; its scroll id
 * contains the anchor and the number of its edges returned so far.
 */
import type { EntityState } from "../../core/entity-state.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Criterion, Filter } from "../../core/query/filter.ts";
import { entityTypeOf, type UrnLimits } from "../../core/urn.ts";
import { type Model, unknownEntityType } from "../../model/model.ts";
import type { GraphReader, Neighbour, Stamps } from "../../views/graph/graph.ts";
import { holds } from "../../views/search/evaluate.ts";
import { type Condition, cursorOfUrn, type SearchDocument } from "../../views/search/search.ts";
import type { Catalog, EndFilter, FoundRelationship, RelationshipScroll } from "../catalog.ts";
import { withoutSoftDeleted } from "../read/soft-deleted.ts";
import { createSearchFields } from "../search/filter/fields.ts";
import { createFilterCompiler } from "../search/filter/filter.ts";
import type { SearchCatalog } from "../search/requests.ts";
import { readScrollId, writeScrollId } from "../search/scroll-id.ts";
import type { LineageSteps } from "./lineage.ts";
import { createLinkedUrns } from "./linked-urns.ts";
import { atLeast, lineageDirections, oneOf } from "./relationships.ts";

const countDefault = 10;
const countMax = 1_000;
/** Anchors per page: a few dozen milliseconds. */
const anchorsMax = 1_000;
/** Anchors per search. */
const foundMax = 200;
/** Edges of one anchor per read. */
const edgesMax = 500;

interface Dependencies {
  readonly model: Model;
  readonly namespace: string;
  readonly urnLimits: UrnLimits;
  readonly reader: Pick<GraphReader, "neighbours" | "stamps">;
  readonly states: { read(urns: readonly string[]): Promise<readonly EntityState[]> };
  readonly search: Pick<SearchCatalog, "scroll" | "filter">;
  readonly steps: LineageSteps;
  readonly relationshipTypes: readonly string[];
  /** Waits until the graph has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
}

type Pass = "OUTGOING" | "INCOMING";

const edgeField = (type: string) => (name: string) => ({
  ...{ name, type, suggested: false, queried: false },
});

/** The fields of edges that a filter may use, by DataHub's names. */
const edgeFields = createSearchFields({
  fields: {
    edge: [
      ...["relationshipType", "source.entityType", "destination.entityType"].map(
        edgeField("KEYWORD"),
      ),
      ...["source.urn", "destination.urn", "via", "createdActor", "updatedActor"].map(
        edgeField("URN"),
      ),
      ...["createdOn", "updatedOn"].map(edgeField("DATETIME")),
    ],
  },
  facets: [],
});

interface Plan {
  readonly types: readonly string[];
  /** Directions in which the edges of an anchor are read. */
  readonly passes: readonly Pass[];
  /** Named anchors; undefined: those that a search with `own` finds. */
  readonly anchors: readonly string[] | undefined;
  readonly own: EndFilter;
  readonly other: EndFilter;
  /** Urns of the other end, if they are named. */
  readonly among?: ReadonlySet<string> | undefined;
  /** Anchors whose edges are requested in both directions. */
  readonly around: ReadonlySet<string>;
  readonly query: RelationshipScroll;
}

/** Cursor of a page: the anchor that it ended in, a pass of it, and the number of its edges returned. */
interface ScrollCursor {
  /** Its urn, or its index among named ones. */
  readonly anchor: string | number;
  readonly pass: number;
  readonly returned: number;
}

type EdgeFound = FoundRelationship & { readonly via: string | undefined };

const valuesOf = (
  { type, source, destination, via }: EdgeFound,
  stamps: Stamps | undefined,
): SearchDocument["values"] => ({
  relationshipType: [type],
  "source.urn": [source],
  "source.entityType": [entityTypeOf(source)],
  "destination.urn": [destination],
  "destination.entityType": [entityTypeOf(destination)],
  ...(via !== undefined && { via: [via] }),
  ...(stamps !== undefined && {
    createdOn: [stamps.createdOn],
    createdActor: [stamps.createdActor],
    updatedOn: [stamps.updatedOn],
    updatedActor: [stamps.updatedActor],
  }),
});

const BEGINNING: ScrollCursor = { anchor: "", pass: 0, returned: 0 };

export function createRelationshipScroll(
  dependencies: Dependencies,
): Pick<Catalog, "scrollRelationships"> {
  const { model, reader, states, search, steps, namespace, urnLimits } = dependencies;
  const linkedUrns = createLinkedUrns(dependencies);
  const filters = createFilterCompiler({ namespace, expand: async (urns) => urns });

  /** The edges that match the condition. */
  async function fulfilling(
    condition: Condition | undefined,
    edges: readonly EdgeFound[],
  ): Promise<readonly EdgeFound[]> {
    if (condition === undefined || edges.length === 0) return edges;
    const stamps = await reader.stamps(edges);
    return edges.filter((edge, i) => holds(condition, { values: valuesOf(edge, stamps[i]) }));
  }

  async function planOf(query: RelationshipScroll): Promise<Plan> {
    const types = query.types?.length ? query.types : dependencies.relationshipTypes;
    const source = await endOf(query.source);
    const destination = await endOf(query.destination);
    if (query.around?.length) {
      const { urns: anchors } = await endOf({ urns: query.around });
      const around = new Set(anchors);
      return {
        types,
        passes: ["OUTGOING", "INCOMING"],
        anchors,
        own: {},
        other: {},
        around,
        query,
      };
    }
    const fromSource =
      source.urns !== undefined ||
      (destination.urns === undefined && !onlySecond(source, destination));
    const [own, other] = fromSource ? [source, destination] : [destination, source];
    const among = other.urns && new Set(other.urns);
    const passes = [fromSource ? "OUTGOING" : "INCOMING"] as const;
    return { types, passes, anchors: own.urns, own, other, among, around: new Set(), query };
  }

  /** Normalizes names; a filter on urns only becomes a list of urns. */
  async function endOf(end: EndFilter = {}): Promise<EndFilter> {
    const types = end.types?.map((name) => {
      const entity = model.findEntity(name);
      if (entity === undefined) throw unknownEntityType(model, name, "invalid");
      return entity.name;
    });
    const named = end.urns ?? urnsIn(end.filter);
    const urns = named && (await linkedUrns.all(named, urnLimits));
    return {
      types: types?.length ? types : undefined,
      urns,
      filter: urns === undefined ? end.filter : undefined,
    };
  }

  /** The anchors from one on ("": all), each with its name in a cursor. */
  async function* anchorsFrom(
    { anchors, own, query }: Plan,
    from: ScrollCursor["anchor"],
  ): AsyncGenerator<readonly [anchor: ScrollCursor["anchor"], urn: string]> {
    if (anchors !== undefined) {
      yield* anchors.slice(Number(from)).map((urn, n) => [Number(from) + n, urn] as const);
      return;
    }
    const flags = {
      skipAggregates: true,
      skipHighlighting: true,
      includeHiddenLifecycleStages: true,
      includeSoftDeleted: query.includeSoftDeleted,
    };
    const request = { entities: own.types, filter: own.filter, flags };
    let found = from === "" ? [] : [String(from)];
    for (let more = true; ; ) {
      const after = found.at(-1);
      // The search may lack the latest soft deletions.
      const shown = query.includeSoftDeleted ? found : await withoutSoftDeleted(found, states);
      for (const urn of shown) yield [urn, urn];
      if (!more) return;
      const page = await search.scroll(request, {
        after: after === undefined ? undefined : cursorOfUrn(after),
        count: foundMax,
        uncounted: true,
      });
      found = page.hits.map(({ urn }) => urn);
      more = page.scrollId !== undefined;
    }
  }

  /** The other ends that the request selects. */
  async function accepted(urns: readonly string[], plan: Plan): Promise<ReadonlySet<string>> {
    const { other, among, query } = plan;
    let left = [...new Set(urns)].filter(
      (urn) => other.types?.includes(entityTypeOf(urn)) !== false && among?.has(urn) !== false,
    );
    if (query.includeSoftDeleted !== true) left = await withoutSoftDeleted(left, states);
    if (other.filter === undefined || left.length === 0) return new Set(left);
    const flags = {
      skipHighlighting: true,
      includeSoftDeleted: true,
      includeHiddenLifecycleStages: true,
    };
    const filter = withUrns(other.filter, left);
    const page = await search.filter({ filter, flags }, { start: 0, count: left.length });
    return new Set(page.hits.map(({ urn }) => urn));
  }

  function edgeOf(anchor: string, pass: Pass, { type, urn }: Neighbour): FoundRelationship {
    const [source, destination] = pass === "OUTGOING" ? [anchor, urn] : [urn, anchor];
    const leads = (direction: keyof LineageSteps) =>
      steps[direction]
        .get(entityTypeOf(source))
        ?.some(
          (step) =>
            step.direction === "OUTGOING" &&
            step.type === type &&
            step.to.has(entityTypeOf(destination)),
        ) === true;
    const upstream = leads("UPSTREAM") ? "destination" : leads("DOWNSTREAM") ? "source" : undefined;
    return { type, source, destination, upstream };
  }

  function wanted({ query, around }: Plan, edge: FoundRelationship, pass: Pass): boolean {
    // Of two anchors the edge is returned where it begins.
    if (pass === "INCOMING" && around.has(edge.source)) return false;
    if (query.lineage !== true) return true;
    if (edge.upstream === undefined) return false;
    if (query.direction === undefined || around.size === 0) return true;
    const end = query.direction === "UPSTREAM" ? otherEnd(edge.upstream) : edge.upstream;
    return around.has(edge[end]);
  }

  return {
    async scrollRelationships(query) {
      const plan = await planOf(query);
      if (query.direction !== undefined) oneOf("direction", query.direction, lineageDirections);
      const count = Math.min(atLeast("count", query.count ?? countDefault, 1), countMax);
      // The parameters that determine the edges; `count` may change from page to page.
      const { scrollId, count: _, ...request } = query;
      const at = scrollId ? cursorIn(readScrollId(scrollId, request)) : BEGINNING;
      const { condition } = await filters.compile(query.edges, { fields: edgeFields });
      await dependencies.caughtUp();
      const found: FoundRelationship[] = [];

      let looked = 0;
      for await (const [anchor, urn] of anchorsFrom(plan, at.anchor)) {
        let { pass, returned } = anchor === at.anchor ? at : BEGINNING;
        while (pass < plan.passes.length) {
          if (found.length >= count || looked >= anchorsMax) {
            const cursor = [anchor, pass, returned];
            return { relationships: found, scrollId: writeScrollId(cursor, request) };
          }
          looked++;
          const direction = plan.passes[pass] ?? "OUTGOING";
          const { neighbours, total } = await reader.neighbours({
            ...{ urn, direction, types: plan.types, start: returned, count: edgesMax },
          });
          const others = await accepted(
            neighbours.map((one) => one.urn),
            plan,
          );
          const edges = neighbours.map((one) => ({
            ...edgeOf(urn, direction, one),
            via: one.via,
          }));
          const candidates = edges.filter(
            (edge, i) => others.has(neighbours[i]?.urn ?? "") && wanted(plan, edge, direction),
          );
          const shown = new Set(await fulfilling(condition, candidates));
          for (const edge of edges) {
            if (found.length >= count) break;
            returned++;
            if (shown.has(edge)) found.push(edge);
          }
          if (returned >= total || neighbours.length === 0) [pass, returned] = [pass + 1, 0];
        }
      }
      return { relationships: found };
    },
  };
}

const otherEnd = (end: "source" | "destination") => (end === "source" ? "destination" : "source");

/**
 * True if a search determines the second end and the first is unrestricted. Types alone are no
 * search, because an edge may end at an entity that does not exist.
 */
const onlySecond = (first: EndFilter, second: EndFilter): boolean =>
  first.types === undefined && first.filter === undefined && second.filter !== undefined;

const partsOf = (filter: Filter): readonly { readonly and?: readonly Criterion[] | undefined }[] =>
  filter.or ?? [{ and: filter.criteria ?? [] }];

function urnsIn(filter: Filter | undefined): readonly string[] | undefined {
  const [part, ...others] = filter === undefined ? [] : partsOf(filter);
  const [criterion, ...more] = part?.and ?? [];
  if (criterion?.field !== "urn" || others.length + more.length > 0) return undefined;
  const { condition = "EQUAL", negated, value, values = [] } = criterion;
  if (negated === true || !/^(?:EQUAL|IN)$/.test(condition)) return undefined;
  return value === undefined || value === "" ? values : [...values, value];
}

const withUrns = (filter: Filter, urns: readonly string[]): Filter => ({
  or: partsOf(filter).map(({ and = [] }) => ({ and: [...and, { field: "urn", values: urns }] })),
});

function cursorIn(cursor: readonly unknown[]): ScrollCursor {
  const [anchor, ...numbers] = cursor;
  const [pass = 0, returned = 0] = numbers.map(Number);
  const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
  const isAnchor = typeof anchor === "string" || isCount(anchor);
  if (isAnchor && cursor.length === 3 && isCount(pass) && isCount(returned))
    return { anchor: anchor as string | number, pass, returned };
  throw new CatalogError("malformed", "the scroll id does not belong to this request", {
    hint: "Send the previous response's scrollId with an otherwise unchanged request, or omit it to start over",
  });
}
