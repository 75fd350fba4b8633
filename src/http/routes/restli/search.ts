/** Searches: by words and by filters, in pages and in scrolls. */
import type { SearchFlags, SearchRequest, SortCriterion } from "../../../catalog/catalog.ts";
import type { Filter } from "../../../core/query/filter.ts";
import { searchResponse } from "../../response/search-responses.ts";
import {
  actionOf,
  type Endpoint,
  flag,
  objectWith,
  valueResponse,
} from "../../schemas/endpoint.ts";
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

const searchEntities: Endpoint = {
  ...actionOf("/entities"),
  name: "search",
  body: objectWith(["entity", "input", "start", "count"], {
    entity: search.entityType,
    input: search.input,
    ...search.searchMembers,
    start: search.start,
    count: search.count,
    fulltext: flag("Accepted and ignored: there is one search algorithm"),
  }),
  reads: "search",
  async handle({ body, wireForm }, { catalog }) {
    const { start, count } = body as SearchBody;
    const page = await catalog.search(searchRequestOf(body as SearchBody), { start, count });
    return searchResponse(page, { wireForm });
  },
};

const searchAcrossEntities: Endpoint = {
  ...actionOf("/entities"),
  name: "searchAcrossEntities",
  body: objectWith(["input", "start", "count"], {
    entities: search.entityTypes,
    input: search.input,
    ...search.searchMembers,
    start: search.start,
    count: search.count,
  }),
  reads: "search",
  async handle({ body, wireForm }, { catalog }) {
    const { start, count } = body as SearchBody;
    const page = await catalog.search(acrossRequestOf(body as SearchBody), { start, count });
    return searchResponse(page, { wireForm, across: true });
  },
};

const scrollAcrossEntities: Endpoint = {
  ...actionOf("/entities"),
  name: "scrollAcrossEntities",
  body: objectWith(["input", "count"], {
    entities: search.entityTypes,
    input: search.input,
    ...search.searchMembers,
    ...search.scrolling,
    count: search.count,
  }),
  reads: "search",
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
  ...actionOf("/entities"),
  name: "filter",
  body: {
    type: "object",
    required: ["entity", "filter", "start", "count"],
    properties: byFilter,
  },
  reads: "search",
  async handle({ body, wireForm }, { catalog }) {
    const { start, count } = body as SearchBody;
    const page = await catalog.filter(filterRequestOf(body as SearchBody), { start, count });
    return searchResponse(page, { wireForm });
  },
};

const listEntities: Endpoint = {
  ...actionOf("/entities"),
  name: "list",
  body: {
    type: "object",
    required: ["entity", "start", "count"],
    properties: byFilter,
  },
  reads: "search",
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
    return valueResponse(value, page.position);
  },
};

export const searchRoutes: readonly Endpoint[] = [
  searchEntities,
  searchAcrossEntities,
  scrollAcrossEntities,
  filterEntities,
  listEntities,
];
