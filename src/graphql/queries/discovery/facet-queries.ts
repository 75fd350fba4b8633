/** Queries that are answered by counts: facets, entities by type, quick filters, recommendations. */
import type { SearchFacet } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import type { InputArgs, Viewer } from "../../context.ts";
import type { Maybe } from "../../maybe.ts";
import { shownType } from "../../schema/entity-types.ts";
import { searchedTypes } from "../default-search-types.ts";
import { namedBy } from "../entity-source.ts";
import { searchUrns } from "../lists/search-lists.ts";
import {
  facetsOf,
  OLDER_TYPE,
  requestOf,
  type SearchInput,
  TYPE,
  withoutDrafts,
} from "../search.ts";
import { viewOf, withinView } from "./views.ts";

interface AggregateInput extends SearchInput {
  readonly facets?: Maybe<readonly Maybe<string>[]>;
}

async function aggregateAcrossEntities({ input }: InputArgs<AggregateInput>, viewer: Viewer) {
  const names = input.facets?.filter((name) => typeof name === "string");
  const read = names?.map((name) => (name === OLDER_TYPE ? TYPE : name));
  const request = { ...(await requestOf(input, viewer)), ...(read && { facets: read }) };
  const { facets } = await viewer.catalog.search(request, { start: 0, count: 0 });
  const asked = names && new Set<string>(names);
  return { facets: facetsOf(facets, viewer).filter(({ field }) => asked?.has(field) ?? true) };
}

type Values = SearchFacet["values"];

/** The values of some facets over all entities that searches find, within a view. */
async function countsOf(
  names: readonly string[],
  { types, viewUrn }: { readonly types?: readonly string[]; readonly viewUrn?: Maybe<string> },
  viewer: Viewer,
): Promise<ReadonlyMap<string, Values>> {
  const request = {
    entities: types ?? [],
    usualEntities: searchedTypes(viewer.entityTypes),
    facets: names,
    flags: { maxAggValues: 100 },
  };
  const within = withinView(request, await viewOf(viewUrn, viewer));
  const { facets } = await viewer.catalog.search(within, { start: 0, count: 0 });
  return new Map(facets.map(({ name, values }) => [name, values]));
}

interface CountInput {
  readonly types?: Maybe<readonly string[]>;
  readonly viewUrn?: Maybe<string>;
}

async function getEntityCounts({ input }: { input?: Maybe<CountInput> }, viewer: Viewer) {
  const { entityTypes } = viewer;
  const members = input?.types ?? searchedTypes(entityTypes).map(shownType);
  const types = members.flatMap((member) => entityTypes.find(member) ?? []);
  const found = await countsOf(["_entityType"], { types, viewUrn: input?.viewUrn }, viewer);
  const counts = new Map(found.get("_entityType")?.map(({ value, count }) => [value, count]));
  return {
    counts: types.map((type) => ({ entityType: shownType(type), count: counts.get(type) ?? 0 })),
  };
}

const platformsMax = 5;
const sourceTypes = [
  ...["dataset", "dashboard", "dataFlow", "dataJob", "chart", "container", "mlModel"],
  ...["mlModelGroup", "mlFeature", "mlFeatureTable", "mlPrimaryKey"],
];
const sourceTypesMax = 3;
const otherTypes = ["domain", "glossaryTerm", "corpGroup", "corpuser"];
const otherTypesMax = 2;

async function getQuickFilters(
  { input }: InputArgs<{ readonly viewUrn?: Maybe<string> }>,
  viewer: Viewer,
) {
  const found = await countsOf(["platform", "_entityType"], input, viewer);
  const platforms = (found.get("platform") ?? []).slice(0, platformsMax).map(({ value }) => value);
  const present = new Set(
    found.get("_entityType")?.flatMap(({ value, count }) => (count > 0 ? [value] : [])),
  );
  const typesOf = (types: readonly string[], max: number) =>
    types.filter((type) => present.has(type)).slice(0, max);
  const types = [...typesOf(sourceTypes, sourceTypesMax), ...typesOf(otherTypes, otherTypesMax)];
  return {
    quickFilters: [
      ...platforms.sort().map((value) => ({ field: "platform", value, entity: namedBy(value) })),
      ...types.map((type) => ({ field: "_entityType", value: shownType(type), entity: null })),
    ],
  };
}

interface Module {
  readonly title: string;
  readonly moduleId: string;
  readonly renderType: string;
  readonly scenarios: readonly string[];
  readonly max: number;
}

interface FacetModule extends Module {
  readonly field: string;
}

interface SortedModule extends Module {
  /** Greatest first; entities without a value are left out. */
  readonly sort: string;
}

const everywhere = ["HOME", "SEARCH_RESULTS"];

const facetModules: readonly FacetModule[] = [
  {
    ...{ title: "Platforms", moduleId: "Platforms", renderType: "PLATFORM_SEARCH_LIST" },
    ...{ scenarios: ["HOME"], max: 40, field: "platform" },
  },
  {
    ...{ title: "Domains", moduleId: "Domains", renderType: "DOMAIN_SEARCH_LIST" },
    ...{ scenarios: ["HOME"], max: 10, field: "domains" },
  },
  {
    ...{ title: "Top Tags", moduleId: "TopTags", renderType: "TAG_SEARCH_LIST" },
    ...{ scenarios: everywhere, max: 10, field: "tags" },
  },
  {
    ...{ title: "Top Glossary Terms", moduleId: "TopTerms" },
    ...{ renderType: "GLOSSARY_TERM_SEARCH_LIST" },
    ...{ scenarios: everywhere, max: 10, field: "glossaryTerms" },
  },
];

const names = { renderType: "ENTITY_NAME_LIST", scenarios: ["HOME"], max: 5 };

const sortedModules: readonly SortedModule[] = [
  {
    ...{ title: "Recently Edited", moduleId: "RecentlyEditedEntities", ...names },
    sort: "lastModifiedAt",
  },
  {
    ...{ title: "Most Popular", moduleId: "HighUsageEntities", ...names },
    sort: "totalSqlQueries",
  },
];

interface RecommendationsInput {
  readonly requestContext?: Maybe<{ readonly scenario: string }>;
  readonly limit?: Maybe<number>;
  readonly viewUrn?: Maybe<string>;
}

async function listRecommendations({ input }: InputArgs<RecommendationsInput>, viewer: Viewer) {
  const { requestContext, limit, viewUrn } = input;
  if (!requestContext || typeof limit !== "number") return { modules: [] };
  const shown = ({ scenarios }: Module) => scenarios.includes(requestContext.scenario);
  const faceted = facetModules.filter(shown);
  const counts = await countsOf(
    faceted.map(({ field }) => field),
    { viewUrn },
    viewer,
  );
  const content = faceted.map((module) => ({
    ...module,
    content: (counts.get(module.field) ?? [])
      .filter(({ count, value }) => count > 0 && namedBy(value) !== null)
      .slice(0, module.max)
      .map(({ value, count }) => ({
        value,
        entity: value,
        params: {
          searchParams: { query: "", filters: [{ field: module.field, values: [value] }] },
          contentParams: { count },
        },
      })),
  }));
  const sorted = await Promise.all(
    sortedModules.filter(shown).map((module) => sortedContent(module, viewer)),
  );
  const [platforms = [], domains = [], ...rest] = content;
  const modules = [platforms, domains, ...sorted, ...rest].flat();
  return { modules: modules.filter((one) => one.content.length > 0).slice(0, limit) };
}

async function sortedContent(module: SortedModule, viewer: Viewer) {
  const { urns } = await searchUrns(
    withoutDrafts({
      usualEntities: searchedTypes(viewer.entityTypes),
      filter: { or: [{ and: [{ field: module.sort, condition: "EXISTS" }] }] },
      sort: [{ field: module.sort, order: "DESCENDING" }],
    }),
    { start: 0, count: module.max },
    viewer,
  );
  const content = urns.map((urn) => ({
    value: urn,
    entity: urn,
    params: { entityProfileParams: { urn, type: namedBy(urn)?.type } },
  }));
  return { ...module, content };
}

async function browsePaths({ input }: InputArgs<{ readonly urn: string }>, { catalog }: Viewer) {
  const paths = await catalog.getBrowsePaths(input.urn);
  return paths.map((path) => ({ path: path.split("/").filter((part) => part !== "") }));
}

const semanticSearch = () => {
  throw new CatalogError("invalid", "Semantic search is disabled in this environment", {
    hint: "Use searchAcrossEntities",
  });
};

export const discoveryQueries = {
  aggregateAcrossEntities,
  getEntityCounts,
  getQuickFilters,
  listRecommendations,
  browsePaths,
  semanticSearch,
  semanticSearchAcrossEntities: semanticSearch,
};
