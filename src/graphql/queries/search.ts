/** Search fields: each runs one search of the catalog with the caller's permissions. */
import type {
  LineageHit,
  LineageSearchRequest,
  PageRequest,
  SearchFacet,
  SearchFlags,
  SearchHit,
  SearchRequest,
} from "../../catalog/catalog.ts";
import { CatalogError } from "../../core/errors.ts";
import type { Criterion, Filter } from "../../core/query/filter.ts";
import type { InputArgs, Viewer } from "../context.ts";
import type { Maybe } from "../maybe.ts";
import { given } from "../mutations/changes.ts";
import { shownType } from "../schema/entity-types.ts";
import { searchedTypes, walkedTypes } from "./default-search-types.ts";
import { viewOf, withinView } from "./discovery/views.ts";
import { entityOf } from "./entity-source.ts";
import { displayNameOf } from "./entity-values.ts";
import type { PageInput, Sort } from "./pages.ts";

export interface SearchInput {
  readonly types?: Maybe<readonly string[]>;
  readonly query?: Maybe<string>;
  readonly count?: Maybe<number>;
  readonly filters?: Maybe<readonly object[]>;
  readonly orFilters?: Maybe<readonly { readonly and?: Maybe<readonly object[]> }[]>;
  readonly viewUrn?: Maybe<string>;
  readonly searchFlags?: Maybe<object>;
  readonly sortInput?: Maybe<{
    readonly sortCriteria?: Maybe<readonly Sort[]>;
    readonly sortCriterion?: Maybe<Sort>;
  }>;
}

export function filterOf({
  filters,
  orFilters,
}: Pick<SearchInput, "filters" | "orFilters">): Filter | undefined {
  const all = (filters ?? []).map((one) => given(one) as Criterion);
  if (orFilters === null || orFilters === undefined || orFilters.length === 0) {
    return all.length === 0 ? undefined : { or: [{ and: all }] };
  }
  return {
    or: orFilters.map(({ and }) => ({
      and: [...all, ...(and ?? []).map((one) => given(one) as Criterion)],
    })),
  };
}

/** The request of a search, within its view. */
export async function requestOf(asked: SearchInput, viewer: Viewer): Promise<SearchRequest> {
  const { entityTypes } = viewer;
  const { sortCriteria, sortCriterion } = asked.sortInput ?? {};
  const sorts = sortCriteria ?? (sortCriterion ? [sortCriterion] : []);
  const request = {
    entities: (asked.types ?? []).map((member) => entityTypes.find(member) ?? member),
    usualEntities: searchedTypes(entityTypes),
    input: asked.query ?? "*",
    filter: filterOf(asked),
    sort: sorts.map(({ field, sortOrder }) => ({ field, order: sortOrder })),
    flags: flagsOf(asked, entityTypes),
    moreFacets: await propertyFacets(asked, viewer),
  };
  return withinView(request, await viewOf(asked.viewUrn, viewer));
}

interface SearchFlagsInput {
  readonly includeStructuredPropertyFacets?: Maybe<boolean>;
}

const propertyFacetsMax = 100;

/** On request, the facets of the structured properties that are shown as filters of searches. */
async function propertyFacets(
  { searchFlags }: SearchInput,
  { catalog }: Viewer,
): Promise<readonly string[]> {
  const { includeStructuredPropertyFacets }: SearchFlagsInput = searchFlags ?? {};
  if (includeStructuredPropertyFacets !== true) return [];
  const shown = { or: [{ and: [{ field: "showInSearchFilters", value: "true" }] }] };
  const request = { entities: ["structuredProperty"], filter: shown };
  const { hits } = await catalog.search(request, { start: 0, count: propertyFacetsMax });
  return hits.map(({ urn }) => `${PROPERTIES}${urn.split(":").slice(3).join(":")}`);
}

interface GroupingInput {
  readonly groupingCriteria?: Maybe<
    readonly {
      readonly baseEntityType?: Maybe<string>;
      readonly groupingEntityType: string;
    }[]
  >;
}

/** The catalog uses the model's names of entity types. */
function flagsOf({ searchFlags }: SearchInput, entityTypes: Viewer["entityTypes"]): SearchFlags {
  const flags = given(searchFlags ?? {}) as SearchFlags & { groupingSpec?: GroupingInput };
  const { groupingSpec, ...rest } = flags;
  if (!groupingSpec?.groupingCriteria) return rest;
  const named = (member: string) => entityTypes.find(member) ?? member;
  const groupingCriteria = groupingSpec.groupingCriteria.map((one) => ({
    ...(one.baseEntityType && { baseEntityType: named(one.baseEntityType) }),
    groupingEntityType: named(one.groupingEntityType),
  }));
  return { ...rest, groupingSpec: { groupingCriteria } };
}

const resultOf = ({ urn, score, matchedFields, extraFields = [] }: SearchHit) => ({
  entity: entityOf(urn),
  score,
  // A value that is a urn names an entity.
  matchedFields: matchedFields.map((field) => ({ ...field, entity: field.value })),
  insights: [],
  extraProperties: extraFields.map(({ name, values }) => ({
    name,
    value: JSON.stringify(values.length === 1 ? values[0] : values),
  })),
});

/** The entity named by a facet value, if its type exists. */
function namedBy(value: string, { entityTypes }: Viewer) {
  if (!/^urn:[^␞]+$/.test(value)) return null;
  const entity = entityOf(value);
  return entityTypes.find(entity.type) === undefined ? null : entity;
}

/** The facets, and that of entity types also by its older name. */
export function facetsOf(found: readonly SearchFacet[], viewer: Viewer) {
  const types = found.find(({ name }) => name === TYPE);
  const facets = types === undefined ? found : [...found, { ...types, name: OLDER_TYPE }];
  return facets.map(({ name, displayName, values }) => ({
    field: name,
    displayName,
    entity: name.startsWith(PROPERTIES) ? propertyOf(name, viewer) : null,
    aggregations: values.map(({ value, count }) => {
      const entity = namedBy(value.split(SEPARATOR).at(-1) ?? value, viewer);
      return {
        value: holdsTypes(name) ? withMember(value) : value,
        ...{ count, entity },
        displayName: async () => entity && displayNameOf(await viewer.loader.load(entity.urn)),
      };
    }),
  }));
}

export const TYPE = "_entityType";
export const OLDER_TYPE = "entity";
/** Separates the values of a facet on two fields. */
const SEPARATOR = "␞";
const PROPERTIES = "structuredProperties.";

const holdsTypes = (facet: string): boolean =>
  facet === TYPE || facet === OLDER_TYPE || facet.startsWith(`${TYPE}${SEPARATOR}`);

/** The entity type in a facet's value, as a member of the enum. */
const withMember = (value: string): string => {
  const [type = "", ...rest] = value.split(SEPARATOR);
  return [shownType(type), ...rest].join(SEPARATOR);
};

const propertyOf = (facet: string, { namespace }: Viewer) =>
  entityOf(`urn:${namespace}:structuredProperty:${facet.slice(PROPERTIES.length)}`);

const COUNT = 10;

/** Excludes drafts, and documents that are shown only with their asset. */
const shownDocuments: Filter = {
  or: [
    {
      and: [
        { field: "state", value: "UNPUBLISHED", negated: true },
        { field: "showInGlobalContext", value: "false", negated: true },
      ],
    },
  ],
};

/** The request within `shownDocuments`, if it searches documents. */
export function withoutDrafts(request: SearchRequest): SearchRequest {
  const { entities = [], usualEntities = [] } = request;
  const types = entities.length > 0 ? entities : usualEntities;
  if (!types.includes("document")) return request;
  return { ...request, within: shownDocuments };
}

const pageOf = ({ start, count }: PageInput): PageRequest => ({
  ...{ start: start ?? 0, count: count ?? COUNT },
});

export interface ScrollInput extends SearchInput {
  readonly scrollId?: Maybe<string>;
}

const scrollOf = ({ scrollId, count }: ScrollInput) => ({
  ...{ scrollId: scrollId ?? undefined, count: count ?? COUNT },
});

/** The members that the results of all searches and scrolls have. */
const resultsOf = <Hit, Shown>(
  page: {
    readonly hits: readonly Hit[];
    readonly total: number;
    readonly facets: readonly SearchFacet[];
  },
  shown: (hit: Hit) => Shown,
  viewer: Viewer,
) => ({
  count: page.hits.length,
  total: page.total,
  searchResults: page.hits.map(shown),
  facets: facetsOf(page.facets, viewer),
});

type Change = (request: SearchRequest) => SearchRequest;
const unchanged: Change = (request) => request;

/** A page of a search with its facets. */
export async function searched(asked: SearchInput & PageInput, viewer: Viewer, change = unchanged) {
  const request = change(await requestOf(asked, viewer));
  const page = await viewer.catalog.search(request, pageOf(asked));
  const suggestions = page.suggestions ?? [];
  return { start: page.from, ...resultsOf(page, resultOf, viewer), suggestions };
}

/** A page of a scroll. */
export async function scrolled(asked: ScrollInput, viewer: Viewer, change = unchanged) {
  const request = change(await requestOf(asked, viewer));
  const page = await viewer.catalog.scroll(request, scrollOf(asked));
  return { nextScrollId: page.scrollId ?? null, ...resultsOf(page, resultOf, viewer) };
}

interface TimeWindow {
  readonly startTimeMillis?: Maybe<number>;
  readonly endTimeMillis?: Maybe<number>;
}

interface LineageFlags extends TimeWindow {
  readonly entitiesExploredPerHopLimit?: Maybe<number>;
  readonly ignoreAsHops?: Maybe<
    readonly { readonly entityType: string; readonly platforms?: Maybe<readonly string[]> }[]
  >;
}

interface LineageSearchInput extends SearchInput, TimeWindow {
  readonly urn?: Maybe<string>;
  readonly direction: string;
  /** Their window replaces the arguments, which are older. */
  readonly lineageFlags?: Maybe<LineageFlags>;
}

/** Throws `malformed` without a urn: the schema allows null, as DataHub's does. */
function givenUrn(urn: Maybe<string>): string {
  if (urn) return urn;
  throw new CatalogError("malformed", "urn is missing", { hint: "Send the urn of an entity" });
}

async function lineageRequestOf(
  asked: LineageSearchInput,
  viewer: Viewer,
): Promise<LineageSearchRequest> {
  const { entityTypes } = viewer;
  const flags = asked.lineageFlags ?? {};
  return {
    ...(await requestOf(asked, viewer)),
    usualEntities: walkedTypes(entityTypes),
    urn: givenUrn(asked.urn),
    direction: asked.direction,
    startTimeMillis: flags.startTimeMillis ?? asked.startTimeMillis ?? undefined,
    endTimeMillis: flags.endTimeMillis ?? asked.endTimeMillis ?? undefined,
    neighboursMax: Math.max(0, flags.entitiesExploredPerHopLimit ?? 0),
    ignoreAsHops: flags.ignoreAsHops?.map(({ entityType, platforms }) => ({
      entityType: entityTypes.find(entityType) ?? entityType,
      platforms: platforms ?? undefined,
    })),
  };
}

const reachedOf = (hit: LineageHit) => ({
  ...hit,
  entity: entityOf(hit.urn),
  degrees: [hit.degree],
  paths: hit.paths.map((path) => ({ path: path.map(entityOf) })),
});

export const searching = {
  async searchAcrossLineage({ input }: InputArgs<LineageSearchInput & PageInput>, viewer: Viewer) {
    const request = await lineageRequestOf(input, viewer);
    const page = await viewer.catalog.searchLineage(request, pageOf(input));
    const results = resultsOf(page, reachedOf, viewer);
    return { start: page.from, ...results, isPartial: page.partial };
  },

  async scrollAcrossLineage(
    { input }: InputArgs<LineageSearchInput & ScrollInput>,
    viewer: Viewer,
  ) {
    const request = await lineageRequestOf(input, viewer);
    const page = await viewer.catalog.scrollLineage(request, scrollOf(input));
    const results = resultsOf(page, reachedOf, viewer);
    return { nextScrollId: page.scrollId ?? null, ...results, isPartial: page.partial };
  },

  async search({ input }: InputArgs<SearchInput & { readonly type: string }>, viewer: Viewer) {
    const { facets, ...found } = await searched({ ...input, types: [input.type] }, viewer);
    // As over REST, only searches across types have the older name.
    return { ...found, facets: facets.filter(({ field }) => field !== OLDER_TYPE) };
  },

  searchAcrossEntities: ({ input }: InputArgs<SearchInput>, viewer: Viewer) =>
    searched(input, viewer, withoutDrafts),

  scrollAcrossEntities: ({ input }: InputArgs<ScrollInput>, viewer: Viewer) =>
    scrolled(input, viewer, withoutDrafts),
};
