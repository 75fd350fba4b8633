/**
 * Search among the entities up- or downstream of an entity (impact analysis): the walk of the graph
 * (lineage.ts) finds the entities and their degrees, the search selects among them.
 *
 * Without a query and a sort order, the nearest come first, in the order of the walk; otherwise the
 * order is that of any search. `degree` is a field here: 1, 2, 3+.
 */
import { CatalogError } from "../../core/errors.ts";
import { type CheckedCriterion, type Filter, readFilter } from "../../core/query/filter.ts";
import { entityTypeOf } from "../../core/urn.ts";
import { createConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { appendAll, maxOf, minOf } from "../../lib/lists.ts";
import { holds } from "../../views/search/evaluate.ts";
import type {
  Condition,
  Cursor,
  Scope,
  SearchDocument,
  SearchResult,
} from "../../views/search/search.ts";
import { everyOf } from "../search/filter/conditions.ts";
import { FACET_SEPARATOR } from "../search/filter/fields.ts";
import { joinedSearch } from "../search/overlay-search.ts";
import type {
  LineageHit,
  LineagePage,
  LineageScrollPage,
  LineageSearchRequest,
  PageRequest,
  ScrollRequest,
  SearchCatalog,
  SearchFacet,
  SearchHit,
} from "../search/requests.ts";
import { readScrollId, writeScrollId } from "../search/scroll-id.ts";
import {
  askingAgain,
  countOf,
  entityTypesOf,
  planSearch,
  type SearchPlan,
  type SearchTools,
  scrollPage,
  startOf,
} from "../search/search.ts";
import type { AskAgain } from "../search/selected-facet-values.ts";
import { undeclaredColumns } from "../search/undeclared-columns.ts";
import { ignoredHops } from "./ignored-hops.ts";
import { type Reached, timesOf, type WalkLineage } from "./lineage.ts";
import { type Grouped, type GroupingForm, groupingOf } from "./lineage-grouping.ts";
import { atLeast, lineageDirections, oneOf, pathsOf } from "./relationships.ts";

/** Entities per search when the nearest come first. */
const chunkMax = 500;
/** Concurrent explorations: a large one needs some fifty megabytes until its response is sent. */
const explorationsMax = 4;
const DEGREE = "degree";

interface Dependencies {
  readonly tools: SearchTools;
  readonly walk: WalkLineage;
  readonly namespace: string;
  /** The urn in the namespace. Rejects a urn that no entity can have (linked-urns.ts). */
  readonly linkedUrn: (text: string) => Promise<string>;
  /** Waits until the graph has every acknowledged write. */
  readonly caughtUp: () => Promise<void>;
}

type LineageSearches = Pick<SearchCatalog, "searchLineage" | "scrollLineage">;

export function createLineageSearch(dependencies: Dependencies): LineageSearches {
  const { tools, walk } = dependencies;
  const { reader } = tools;
  const withSlot = createConcurrencyLimit(explorationsMax);

  async function explore(request: LineageSearchRequest, form: GroupingForm): Promise<Exploration> {
    const times = timesOf(request);
    const grouped = groupingOf(request.flags?.groupingSpec, tools.fields, form);
    const urn = await dependencies.linkedUrn(request.urn);
    const direction = oneOf("direction", request.direction, lineageDirections);
    const { maxHops } = request;
    const hopsMax = maxHops === undefined ? Infinity : atLeast("maxHops", maxHops, 1);
    const hops = Math.min(hopsMax, degreeMax(request.filter));
    const types = new Set(entityTypesOf(request, tools.fields));
    await dependencies.caughtUp();
    const neighboursMax = request.neighboursMax || undefined;
    const ignoredAsHop = ignoredHops(request.ignoreAsHops, dependencies.namespace);
    const walked = await walk({ urn, direction, hops, times, neighboursMax, ignoredAsHop });
    const { partial } = walked;
    const reached = grouped(urn, walked.reached);
    const among = reached.filter((one) => types.has(entityTypeOf(one.urn)));
    const plan = await planSearch(tools, request, {
      foreign: (criterion) => (criterion.field === DEGREE ? ofDegree(criterion, among) : undefined),
    });
    const bare = plan.everything ? await undeclaredColumns(reader, plan, among) : NONE;
    return { urn, plan, among, bare, partial };
  }

  const joined = ({ bare }: Exploration) => joinedSearch(reader, [...bare.values()]);

  /** Columns without documents match by their values. */
  const askingAmong =
    ({ plan, among, bare }: Exploration): AskAgain =>
    (condition, facets) => {
      const columns = [...bare.values()].filter(
        (column) => condition === undefined || holds(condition, column),
      );
      return askingAgain(joinedSearch(reader, columns), within(plan, among))(condition, facets);
    };

  const count = async (scope: Scope): Promise<SearchResult> =>
    reader.search({ ...scope, sort: [], start: 0, count: 0, facets: [] });

  async function facetsOf(
    exploration: Exploration,
    result: SearchResult,
  ): Promise<readonly SearchFacet[]> {
    const { plan, among, bare } = exploration;
    const read = await plan.facets.read(result.facets, askingAmong(exploration));
    const facets = read.filter(({ name }) => name !== DEGREE);
    if (plan.facets.queries.length === 0) return facets;
    const all = result.total;
    const totalOf = async (wanted: number): Promise<number> => {
      const those = among.filter(({ degree }) => degree === wanted);
      if (those.length === among.length) return all;
      const found = those.length === 0 ? 0 : (await count(within(plan, those))).total;
      return found + bareIn(those, bare);
    };
    const ofFirst = await totalOf(1);
    const ofSecond = await totalOf(2);
    const facetValue = (value: string, n: number) => ({ value, count: n, filtered: false });
    const further = facetValue("3+", all - ofFirst - ofSecond);
    const values = [facetValue("1", ofFirst), facetValue("2", ofSecond), further];
    const ordered = [...facets].sort((a, b) => placeOfFacet(a) - placeOfFacet(b));
    return [{ name: DEGREE, displayName: "Degree of Dependencies", values }, ...ordered];
  }

  /** The hits of one page, nearest first. */
  async function nearest(
    { plan, among, bare }: Exploration,
    { start, pageSize }: { readonly start: number; readonly pageSize: number },
  ): Promise<readonly SearchHit[]> {
    const hits: SearchHit[] = [];
    let skip = start;
    for (let at = 0; at < among.length && hits.length < pageSize; at += chunkMax) {
      const chunk = among.slice(at, at + chunkMax);
      const scope = within(plan, chunk);
      if (skip > 0) {
        const total = (await count(scope)).total + bareIn(chunk, bare);
        if (total <= skip) {
          skip -= total;
          continue;
        }
      }
      const result = await reader.search({
        ...scope,
        sort: [],
        start: 0,
        count: chunkMax,
        facets: [],
        urnsOnly: plan.urnsOnly,
      });
      const places = new Map(chunk.map(({ urn }, place) => [urn, place]));
      const place = ({ urn }: SearchHit): number => places.get(urn) ?? 0;
      const columns = chunk
        .filter(({ urn }) => bare.has(urn))
        .map(({ urn }) => ({ urn, score: 1, matchedFields: [] }));
      const ordered = [...(await plan.hitsOf(result)), ...columns].sort(
        (a, b) => place(a) - place(b),
      );
      appendAll(hits, ordered.slice(skip, skip + pageSize - hits.length));
      skip = 0;
    }
    return hits;
  }

  async function searchLineage(
    request: LineageSearchRequest,
    page: PageRequest,
  ): Promise<LineagePage> {
    const from = startOf(page.start);
    const pageSize = countOf(page.count);
    const exploration = await explore(request, "search");
    const { plan, among } = exploration;
    const byDistance = nearestFirst(plan);
    const result = await joined(exploration).search({
      ...within(plan, among),
      sort: plan.sort,
      start: from,
      count: byDistance ? 0 : pageSize,
      facets: plan.facets.queries,
      urnsOnly: plan.urnsOnly,
    });
    const hits = byDistance
      ? await nearest(exploration, { start: from, pageSize })
      : await plan.hitsOf(result);
    return { from, pageSize, ...(await pageOf(exploration, result, hits)) };
  }

  /** The members that every page has. */
  async function pageOf(
    exploration: Exploration,
    result: SearchResult,
    hits: readonly SearchHit[],
  ) {
    return {
      total: result.total,
      ...withPaths(exploration, hits),
      facets: await facetsOf(exploration, result),
      position: result.position,
    };
  }

  async function scrollLineage(
    request: LineageSearchRequest,
    asked: ScrollRequest,
  ): Promise<LineageScrollPage> {
    const exploration = await explore(request, "scroll");
    const { plan, among } = exploration;
    const scope = within(plan, among);
    if (!nearestFirst(plan)) {
      const page = await scrollPage(
        joined(exploration),
        { ...plan, scope },
        { request, asked, again: askingAmong(exploration) },
      );
      return { ...page, ...withPaths(exploration, page.hits) };
    }
    const { scrollId } = asked;
    const none = scrollId === undefined || scrollId === "";
    const start = none ? 0 : placeOf(readScrollId(scrollId, request));
    const pageSize = countOf(asked.count);
    const queries = plan.facets.queries;
    const result = await joined(exploration).search({
      ...scope,
      sort: [],
      start: 0,
      count: 0,
      facets: queries,
    });
    const hits = await nearest(exploration, { start, pageSize });
    const end = start + hits.length;
    return {
      pageSize,
      ...(await pageOf(exploration, result, hits)),
      ...(hits.length === pageSize && pageSize > 0 && { scrollId: writeScrollId([end], request) }),
    };
  }

  return {
    searchLineage: (request, page) => withSlot(() => searchLineage(request, page)),
    scrollLineage: (request, asked) => withSlot(() => scrollLineage(request, asked)),
  };
}

/** The first facets of lineage, in DataHub's order; one facet comes last. */
const firstFacets = [
  "_entityType",
  "platform",
  "domains",
  "tags",
  "glossaryTerms",
  "owners",
  "origin",
];
const lastFacet = `_entityType${FACET_SEPARATOR}typeNames`;

function placeOfFacet({ name }: SearchFacet): number {
  const place = firstFacets.indexOf(name);
  if (place >= 0) return place;
  return name === lastFacet ? firstFacets.length + 1 : firstFacets.length;
}

/** The entities reached by a walk, of the requested types, and the search among them. */
interface Exploration {
  /** The start. */
  readonly urn: string;
  readonly plan: SearchPlan;
  readonly among: readonly Grouped[];
  /** Columns that match without a document (search/undeclared-columns.ts). */
  readonly bare: ReadonlyMap<string, SearchDocument>;
  readonly partial: boolean;
}

const NONE: Exploration["bare"] = new Map();

const bareIn = (reached: readonly Reached[], bare: Exploration["bare"]): number =>
  bare.size === 0 ? 0 : reached.filter(({ urn }) => bare.has(urn)).length;

const nearestFirst = (plan: SearchPlan): boolean => plan.everything && plan.sort.length === 0;

const urnIn = (reached: readonly Reached[]): Condition => ({
  kind: "equal",
  field: "urn",
  values: reached.map(({ urn }) => urn),
});

const within = ({ scope }: SearchPlan, reached: readonly Reached[]): Scope => ({
  ...scope,
  condition: everyOf([urnIn(reached), ...(scope.condition === undefined ? [] : [scope.condition])]),
});

/** Partial, too, if there is no room for all paths. */
function withPaths({ urn, among, partial }: Exploration, hits: readonly SearchHit[]) {
  const wanted = new Set(hits.map((hit) => hit.urn));
  const reached = new Map(
    among.filter((one) => wanted.has(one.urn)).map((one) => [one.urn, one] as const),
  );
  const waysOf = (hit: SearchHit): readonly Reached[] => {
    const way = reached.get(hit.urn);
    return way === undefined ? [] : (way.members ?? [way]);
  };
  const ways = hits.flatMap(waysOf);
  const paths = pathsOf(urn, ways);
  let next = 0;
  const found = hits.map((hit): LineageHit => {
    const first = next;
    next += waysOf(hit).length;
    const way = reached.get(hit.urn);
    return {
      ...hit,
      degree: way?.degree ?? 0,
      paths: paths.slice(first, next),
      ignoredAsHop: way?.ignoredAsHop ?? false,
      explored: way?.explored ?? false,
      truncatedChildren: way?.truncatedChildren ?? false,
    };
  });
  return { hits: found, partial: partial || paths.length < ways.length };
}

const DEGREES = /^(\d{1,4})(\+?)$/;

/** Compiles the criterion on `degree` to one on the urns at that distance. */
function ofDegree({ condition, texts }: CheckedCriterion, reached: readonly Reached[]): Condition {
  if (condition !== "EQUAL" && condition !== "IN") {
    throw new CatalogError("malformed", `"${DEGREE}" does not support ${condition}`, {
      hint: "Use EQUAL with 1, 2 or 3+",
    });
  }
  const tests = texts.map((text) => {
    const [, least, more] = DEGREES.exec(text) ?? [];
    if (least === undefined) {
      throw new CatalogError("malformed", `"${text.slice(0, 120)}" is not a degree`, {
        hint: "Send 1, 2 or 3+",
      });
    }
    const number = Number(least);
    return (degree: number) => (more === "+" ? degree >= number : degree === number);
  });
  return urnIn(reached.filter(({ degree }) => tests.some((fits) => fits(degree))));
}

/** Maximum degree that the filter allows: the walk ends there. */
function degreeMax(filter: Filter | undefined): number {
  if (filter === undefined || filter === null) return Number.POSITIVE_INFINITY;
  const groups = readFilter(filter, { hierarchy: true });
  const furthest = groups.map((criteria) => {
    const bounds = criteria
      .filter(({ field, negated }) => field === DEGREE && !negated)
      .map(({ texts }) => maxOf(texts.map(Number)));
    return minOf([Number.POSITIVE_INFINITY, ...bounds.map((one) => (one > 0 ? one : Infinity))]);
  });
  return maxOf(furthest);
}

/** Number of hits that the scroll has returned. */
function placeOf([returned]: Cursor): number {
  return typeof returned === "number" && returned > 0 ? Math.trunc(returned) : 0;
}
