/** Searches: by words and by filters, in pages and in scrolls. */
import type { SearchFlags, SearchRequest, SortCriterion } from "../../../catalog/catalog.ts";
import type { Filter } from "../../../core/query/filter.ts";
import { searchResponse } from "../../response/search-responses.ts";
import { type Endpoint, objectWith, valueSchema } from "../../schemas/endpoint.ts";
import * as schemas from "../../schemas/schemas.ts";
import * as search from "../../schemas/search-schemas.ts";

/** As requests have it. */
export interface SearchBody {
  readonly entity?: string;
  readonly entities?: readonly string[];
  readonly input?: string;
  readonly filter?: Filter;
  readonly sort?: SortCriterion;
  readonly sortCriteria?: readonly SortCriterion[];
  readonly searchFlags?: SearchFlags;
  readonly start: number;
  readonly count: number;
}

export function searchRequestOf(body: SearchBody): SearchRequest {
  const { entity, entities, input, filter, sort, sortCriteria = [], searchFlags: flags } = body;
  return {
    entities: entity === undefined ? entities : [entity],
    input,
    filter,
    sort: sort === undefined ? sortCriteria : [...sortCriteria, sort],
    flags,
  };
}

/** In several types: `entity` is another action's member. */
export const acrossRequestOf = (body: SearchBody): SearchRequest =>
  searchRequestOf({ ...body, entity: undefined });

/** By a filter alone: `input` is another action's member. */
const filterRequestOf = (body: SearchBody): SearchRequest =>
  searchRequestOf({ ...body, input: undefined });

export const searchErrors = [
  {
    code: "malformed",
    when: "a parameter is missing or of the wrong type; `start` or `count` is negative, or `start` beyond 10,000; the query is too long; the filter names an unknown field, or a value of the wrong type",
  },
  { code: "invalid", when: "the entity type is unknown" },
  { code: "unavailable", when: "the search view did not reach the requested position in time" },
] as const;

const queryAbout =
  'All words of a query must match. `"…"` is a phrase, `name:orders` a value of a field, `tags:urn:li:tag:gold` a urn. AND, OR, NOT, brackets, `order*`, `rows:>5` and `_exists_:tags` work as in other search engines. All other text is read as words.';

const searchEntities: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "search",
  summary: "Search the entities of a type",
  about: `${queryAbout} Best first: exact before beginnings, names before descriptions. Soft-deleted entities are left out.`,
  body: objectWith(["entity", "input", "start", "count"], {
    entity: search.entityType,
    input: search.input,
    ...search.searchMembers,
    start: search.start,
    count: search.count,
    fulltext: {
      type: "boolean",
      description: "Accepted and ignored: there is one search algorithm",
    },
  }),
  response: valueSchema(search.searchResult),
  reads: "search",
  errors: searchErrors,
  async handle({ body, wireForm }, { catalog }) {
    const { start, count } = body as SearchBody;
    const page = await catalog.search(searchRequestOf(body as SearchBody), { start, count });
    return searchResponse(page, { wireForm });
  },
};

const searchAcrossEntities: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "searchAcrossEntities",
  summary: "Search entities of several types",
  about: "Like `search`, in the named entity types, or in all.",
  body: objectWith(["input", "start", "count"], {
    entities: search.entityTypes,
    input: search.input,
    ...search.searchMembers,
    start: search.start,
    count: search.count,
  }),
  response: valueSchema(search.searchResult),
  reads: "search",
  errors: searchErrors,
  async handle({ body, wireForm }, { catalog }) {
    const { start, count } = body as SearchBody;
    const page = await catalog.search(acrossRequestOf(body as SearchBody), { start, count });
    return searchResponse(page, { wireForm, across: true });
  },
};

const scrollAcrossEntities: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "scrollAcrossEntities",
  summary: "Scroll through a whole result",
  about:
    "As `searchAcrossEntities`, page by page: send the `scrollId` of a response for the next page; the last page has none. Writes between two pages neither repeat nor hide entities that existed before. The rest of the request must stay the same.",
  body: objectWith(["input", "count"], {
    entities: search.entityTypes,
    input: search.input,
    ...search.searchMembers,
    ...search.scrolling,
    count: search.count,
  }),
  response: valueSchema(search.scrollResult),
  reads: "search",
  errors: searchErrors,
  async handle({ body, wireForm }, { catalog }) {
    const { scrollId, count } = body as SearchBody & { readonly scrollId?: string };
    const page = await catalog.scroll(acrossRequestOf(body as SearchBody), { scrollId, count });
    return searchResponse(page, { wireForm, across: true });
  },
};

const byFilter = {
  entity: search.entityType,
  ...search.searchMembers,
  start: search.start,
  count: search.count,
};

const filterEntities: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "filter",
  summary: "Find the entities that match a filter",
  about: "Sorted by urn when the request has no sort order.",
  body: {
    type: "object",
    required: ["entity", "filter", "start", "count"],
    properties: byFilter,
  },
  response: valueSchema(search.searchResult),
  reads: "search",
  errors: searchErrors,
  async handle({ body, wireForm }, { catalog }) {
    const { start, count } = body as SearchBody;
    const page = await catalog.filter(filterRequestOf(body as SearchBody), { start, count });
    return searchResponse(page, { wireForm });
  },
};

const listEntities: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "list",
  summary: "List the urns of entities that match a filter",
  about:
    "Sorted by urn when the request has no sort order. Without a filter, all entities that are not soft-deleted.",
  body: {
    type: "object",
    required: ["entity", "start", "count"],
    properties: byFilter,
  },
  response: valueSchema(schemas.urnPage("The count that was applied")),
  reads: "search",
  errors: searchErrors,
  async handle({ body }, { catalog }) {
    const { start, count } = body as SearchBody;
    const request = filterRequestOf(body as SearchBody);
    const flags = { ...request.flags, skipAggregates: true };
    const page = await catalog.filter({ ...request, flags }, { start, count });
    const value = {
      entities: page.hits.map(({ urn }) => urn),
      start: page.from,
      count: page.pageSize,
      total: page.total,
    };
    return { json: JSON.stringify({ value }), position: page.position };
  },
};

export const searchRoutes: readonly Endpoint[] = [
  searchEntities,
  searchAcrossEntities,
  scrollAcrossEntities,
  filterEntities,
  listEntities,
];
