/** Lists of entities of some types, each one search with its own filter, order and page size. */
import { type PrivilegeAlternatives, toManageUsers } from "../../../auth/policies/privileges.ts";
import type { SearchRequest, SortCriterion } from "../../../catalog/catalog.ts";
import type { Criterion } from "../../../core/query/filter.ts";
import type { InputArgs, Resolver, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { rejectWithout } from "../access/privilege-checks.ts";
import { withCriteria } from "../discovery/views.ts";
import type { SearchPageInput, Sort } from "../pages.ts";
import { filterOf, type SearchInput } from "../search.ts";

/** The members that the inputs of lists share, and those that some have. */
interface ListInput extends SearchPageInput, Pick<SearchInput, "filters" | "orFilters"> {
  readonly parentDomain?: Maybe<string>;
  readonly viewType?: Maybe<string>;
  readonly source?: Maybe<string>;
  readonly datasetUrn?: Maybe<string>;
  readonly resourceUrn?: Maybe<string>;
  readonly sortInput?: Maybe<{ readonly sortCriterion: Sort }>;
}

interface List {
  /** Entity type, by its name in the model. */
  readonly type: string;
  /** Member of the result that holds the entities. */
  readonly member: string;
  /** Page size when the input has none. */
  readonly count: number;
  readonly sort?: SortCriterion;
  readonly criteria?: (input: ListInput, viewer: Viewer) => readonly Criterion[];
  /** Entities that match these criteria are listed in addition to those that match the input's filter. */
  readonly others?: (input: ListInput) => readonly Criterion[];
  readonly needs?: PrivilegeAlternatives;
  /** True: `count` of the result is the size of the page, not the requested size. */
  readonly sized?: boolean;
}

const latest = (field: string): SortCriterion => ({ field, order: "DESCENDING" });

const isNot = (field: string, value: string): Criterion => ({ field, value, negated: true });

/** The criterion, when there is a value. */
const equal = (field: string, value: Maybe<string>): readonly Criterion[] =>
  value ? [{ field, value }] : [];

/** Service accounts: users of programs. */
export const serviceAccount: Criterion = { field: "typeNames", value: "SERVICE_ACCOUNT" };

const noServiceAccount: Criterion = { ...serviceAccount, negated: true };

const lists: Readonly<Record<string, List>> = {
  listDomains: {
    ...{ type: "domain", member: "domains", count: 20, sort: latest("createdTime") },
    criteria: ({ parentDomain }) =>
      parentDomain ? equal("parentDomain", parentDomain) : [isNot("hasParentDomain", "true")],
  },
  getRootGlossaryNodes: {
    ...{ type: "glossaryNode", member: "nodes", count: 20, sized: true },
    criteria: () => [isNot("hasParentNode", "true")],
  },
  getRootGlossaryTerms: {
    ...{ type: "glossaryTerm", member: "terms", count: 20, sized: true },
    criteria: () => [isNot("hasParentNode", "true")],
  },
  getRootMetrics: {
    ...{ type: "metric", member: "metrics", count: 25 },
    sort: { field: "name", order: "ASCENDING" },
    criteria: () => [isNot("hasParentMetric", "true")],
  },
  getSemanticModels: {
    ...{ type: "semanticModel", member: "semanticModels", count: 25 },
    sort: { field: "name", order: "ASCENDING" },
  },
  listOwnershipTypes: {
    ...{ type: "ownershipType", member: "ownershipTypes", count: 20, sort: latest("createdAt") },
  },
  listBusinessAttributes: { type: "businessAttribute", member: "businessAttributes", count: 20 },
  listQueries: {
    ...{ type: "query", member: "queries", count: 100, sort: latest("createdAt"), sized: true },
    criteria: ({ source, datasetUrn }) => [
      ...equal("source", source),
      ...equal("entities", datasetUrn),
    ],
  },
  listMyViews: {
    ...{ type: "dataHubView", member: "views", count: 20, sort: latest("createdAt") },
    criteria: ({ viewType }, { actor = "" }) => [
      { field: "createdBy", value: actor },
      ...equal("type", viewType),
    ],
  },
  listGlobalViews: {
    ...{ type: "dataHubView", member: "views", count: 20, sort: latest("createdAt") },
    criteria: () => equal("type", "GLOBAL"),
  },
  listPosts: {
    ...{ type: "post", member: "posts", count: 20, sort: latest("lastModified") },
    others: ({ resourceUrn }) => equal("target", resourceUrn),
  },
  listTests: {
    ...{ type: "test", member: "tests", count: 20, needs: [["MANAGE_TESTS"], ["VIEW_TESTS"]] },
  },
  listUsers: {
    ...{ type: "corpuser", member: "users", count: 20 },
    criteria: () => [noServiceAccount],
  },
  listGroups: {
    ...{ type: "corpGroup", member: "groups", count: 20, sort: latest("createdTime") },
    needs: toManageUsers,
  },
  listRoles: {
    ...{ type: "dataHubRole", member: "roles", count: 20 },
    sort: { field: "name", order: "ASCENDING" },
  },
};

/** A page of a list: the urns, which the schema's type makes entities. */
async function listed(list: List, input: ListInput, viewer: Viewer) {
  if (list.needs !== undefined) await rejectWithout(viewer, list.needs);
  const start = input.start ?? 0;
  const count = input.count ?? list.count;
  const { sortCriterion } = input.sortInput ?? {};
  const own = sortCriterion && { field: sortCriterion.field, order: sortCriterion.sortOrder };
  const found = await searchUrns(
    {
      entities: [list.type],
      input: input.query ?? "*",
      filter: filterWith(list, input, viewer),
      sort: [own ?? list.sort ?? []].flat(),
    },
    { start, count },
    viewer,
  );
  return {
    start,
    count: list.sized === true ? found.urns.length : count,
    total: found.total,
    [list.member]: found.urns,
  };
}

function filterWith(list: List, input: ListInput, viewer: Viewer) {
  const filter = withCriteria(filterOf(input), list.criteria?.(input, viewer) ?? []);
  const others = list.others?.(input) ?? [];
  if (others.length === 0) return filter;
  return filter === undefined
    ? { or: [{ and: others }] }
    : { or: [...(filter.or ?? []), { and: others }] };
}

/** The urns of a page of a search, without facets and matches. */
export async function searchUrns(
  request: SearchRequest,
  page: { readonly start: number; readonly count: number },
  { catalog }: Viewer,
): Promise<{ readonly urns: readonly string[]; readonly total: number }> {
  const flags = { skipAggregates: true, skipHighlighting: true, ...request.flags };
  const { hits, total } = await catalog.search({ ...request, flags }, page);
  return { urns: hits.map(({ urn }) => urn), total };
}

export const listQueries: Readonly<Record<string, Resolver>> = Object.fromEntries(
  Object.entries(lists).map(([name, list]) => [
    name,
    ({ input }: InputArgs<ListInput>, viewer: Viewer) => listed(list, input, viewer),
  ]),
);
