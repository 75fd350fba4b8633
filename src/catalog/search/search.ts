/**
 * Search: resolves a request's query, entity types, filter, order, facets and page. Soft-deleted
 * entities, entities in hiding lifecycle stages and versions that are not the latest are omitted
 * unless the request includes them.
 */
import { CatalogError } from "../../core/errors.ts";
import { isLaterSlice } from "../../core/query/slice-options.ts";
import { nearest } from "../../lib/did-you-mean.ts";
import {
  type Condition,
  type Cursor,
  hitsMax,
  type Scope,
  type SearchDocument,
  type SearchReader,
  type SearchResult,
  type SortBy,
} from "../../views/search/search.ts";
import { inTimeSlices } from "../time-slices.ts";
import type { QueryReader, ReadQuery, SearchWords } from "./expression.ts";
import { type FacetPlan, planFacets } from "./facets.ts";
import { anyOf, everyOf, NOTHING } from "./filter/conditions.ts";
import type { SearchFields } from "./filter/fields.ts";
import type { CompiledFilter, FilterCompiler, ForeignCriterion } from "./filter/filter.ts";
import { unknownField } from "./filter/filter.ts";
import type { FieldsOf } from "./filter/property-fields.ts";
import type { HiddenStages } from "./hidden-stages.ts";
import { createMatches, NO_MATCHES } from "./highlight.ts";
import type {
  PageRequest,
  ScrollPage,
  ScrollRequest,
  SearchCatalog,
  SearchFlags,
  SearchHit,
  SearchPage,
  SearchRequest,
  SortCriterion,
} from "./requests.ts";
import { readScrollId, writeScrollId } from "./scroll-id.ts";
import type { AskAgain } from "./selected-facet-values.ts";
import { planSuggestions } from "./suggest/suggestions.ts";

/** Dependencies of all kinds of searches. */
export interface SearchTools {
  readonly reader: Pick<SearchReader, "search" | "folders" | "documents">;
  readonly fields: SearchFields;
  /** Resolves the fields of a request that names structured properties. */
  readonly fieldsOf: FieldsOf;
  readonly readQuery: QueryReader;
  readonly words: SearchWords;
  readonly filters: FilterCompiler;
  readonly hiddenStages: HiddenStages;
}

/** Maximum start of a page; a scroll has no limit. */
const startMax = 10_000;
/** Default page size, also if the request exceeds the maximum. */
const countDefault = 5_000;
const sortsMax = 10;

/** A compiled request: the query to the store, and the reading of its result. */
export interface SearchPlan {
  readonly scope: Scope;
  readonly sort: readonly SortBy[];
  readonly facets: FacetPlan;
  readonly everything: boolean;
  /** Hits need only the urns of their documents. */
  readonly urnsOnly: boolean;
  /** Works in time slices, because computing the matches of a wide table takes long. */
  readonly hitsOf: (result: SearchResult) => Promise<readonly SearchHit[]>;
}

interface PlanOptions {
  /** Omits the default facets: only those of the filter and those named are counted. */
  readonly withoutDefaultFacets?: boolean;
  /** A condition in addition to the filter. */
  readonly within?: Condition;
  readonly foreign?: ForeignCriterion;
}

/** Throws `malformed` or `invalid` for an invalid request. */
export async function planSearch(
  tools: SearchTools,
  request: SearchRequest,
  options: PlanOptions = {},
): Promise<SearchPlan> {
  const { readQuery, filters } = tools;
  const { flags = {} } = request;
  const named = typesNamed(request.entities, tools.fields);
  const entityTypes = entityTypesOf(request, tools.fields);
  const fields = await tools.fieldsOf(request);
  const query = readQuery(request.input ?? "", fields);
  const filter = await filters.compile(request.filter, { fields, foreign: options.foreign });
  const within = await filters.compile(request.within, { fields, foreign: options.foreign });
  const visible = await visibleByDefault(tools, { entityTypes, query, filter, flags });
  const conditions = [filter.condition, within.condition, visible, options.within];
  const scope: Scope = {
    entityTypes,
    expression: query.expression,
    condition: everyOf(conditions.filter((one) => one !== undefined)),
  };
  const matchesOf = createMatches(query, flags, tools.words);
  const extraOf = createExtraFields(flags.fetchExtraFields, fields);
  return {
    scope,
    sort: sortOf(request.sort ?? [], fields),
    facets: planFacets(fields, {
      entityTypes,
      typesNamed: named.length > 0,
      flags,
      wanted: filter.wanted,
      withoutDefaults: options.withoutDefaultFacets === true,
      names: request.facets,
      more: request.moreFacets ?? [],
    }),
    everything: query.everything,
    urnsOnly: matchesOf === undefined && extraOf === undefined,
    hitsOf: ({ hits }) =>
      inTimeSlices(hits, ({ document, score }) => ({
        ...{ urn: document.urn, score },
        ...(matchesOf?.(document) ?? NO_MATCHES),
        ...extraOf?.(document),
      })),
  };
}

export function createSearch(
  tools: SearchTools,
): Pick<SearchCatalog, "search" | "scroll" | "filter"> {
  async function page(
    request: SearchRequest,
    { start, count }: PageRequest,
    options: PlanOptions,
  ): Promise<SearchPage> {
    const plan = await planSearch(tools, request, options);
    const from = startOf(start);
    const pageSize = countOf(count);
    const { flags, input = "" } = request;
    const suggestions = flags?.getSuggestions ? planSuggestions(input, tools.words) : undefined;
    const result = await tools.reader.search({
      ...plan.scope,
      sort: plan.sort,
      start: from,
      count: pageSize,
      facets: plan.facets.queries,
      nearWordsOf: suggestions?.words,
      urnsOnly: plan.urnsOnly,
    });
    return {
      from,
      pageSize,
      total: result.total,
      hits: await plan.hitsOf(result),
      facets: await plan.facets.read(result.facets, askingAgain(tools.reader, plan.scope)),
      suggestions: await suggestions?.read(result.nearWords ?? [], countHits(request, plan)),
      position: result.position,
    };
  }

  /** Counts the hits that a request has with another query. */
  const countHits =
    (request: SearchRequest, { scope }: SearchPlan) =>
    async (input: string): Promise<number> => {
      const { expression } = tools.readQuery(input, await tools.fieldsOf({ ...request, input }));
      const page = { sort: [], start: 0, count: 0, facets: [] };
      return (await tools.reader.search({ ...scope, expression, ...page })).total;
    };

  return {
    search: (request, asked) => page(request, asked, {}),
    // Without words all scores are equal, so hits are ordered by urn.
    filter: (request, asked) => page(request, asked, { withoutDefaultFacets: true }),
    scroll: async (request, asked) => {
      const plan = await planSearch(tools, request);
      return scrollPage(tools.reader, plan, { request, asked });
    },
  };
}

export function askingAgain(reader: Pick<SearchReader, "search">, scope: Scope): AskAgain {
  return (condition, facets) => {
    const conditions = [scope.condition, condition].filter((one) => one !== undefined);
    const narrowed = { ...scope, condition: everyOf(conditions) };
    return reader.search({ ...narrowed, sort: [], start: 0, count: 0, facets });
  };
}

/** The page of a scroll, in the store's order. */
export async function scrollPage(
  reader: Pick<SearchReader, "search">,
  plan: SearchPlan,
  options: {
    readonly request: SearchRequest;
    readonly asked: ScrollRequest;
    /** Replaces counts of the reader. */
    readonly again?: AskAgain;
  },
): Promise<ScrollPage> {
  const { request, asked, again = askingAgain(reader, plan.scope) } = options;
  const { scrollId } = asked;
  const after: Cursor | undefined =
    scrollId === undefined || scrollId === "" ? asked.after : readScrollId(scrollId, request);
  const pageSize = countOf(asked.count);
  const result = await reader.search({
    ...plan.scope,
    sort: plan.sort,
    start: 0,
    count: pageSize,
    after,
    facets: plan.facets.queries,
    uncounted: asked.uncounted,
    urnsOnly: plan.urnsOnly,
  });
  const last = result.hits.at(-1);
  return {
    pageSize,
    total: result.total,
    hits: await plan.hitsOf(result),
    facets: await plan.facets.read(result.facets, again),
    position: result.position,
    ...(last !== undefined &&
      result.hits.length === pageSize && { scrollId: writeScrollId(last.cursor, request) }),
  };
}

/** Throws `malformed` with DataHub's message, which clients parse. */
export function startOf(start: number): number {
  if (start < 0) {
    throw new CatalogError("malformed", `[from] parameter cannot be negative, found [${start}]`);
  }
  if (start <= startMax) return start;
  throw new CatalogError("malformed", `start is ${start}: the maximum is ${startMax}`, {
    hint: "Use action=scrollAcrossEntities, or narrow the search with a filter",
  });
}

/** Throws `malformed` as startOf does. */
export function countOf(count: number | undefined): number {
  if (count !== undefined && count < 0) {
    throw new CatalogError("malformed", `[size] parameter cannot be negative, found [${count}]`);
  }
  return count === undefined || count > hitsMax ? countDefault : count;
}

/** The entity types that a request names; throws `invalid` for one that is not in the model. */
export function typesNamed(
  names: readonly string[] | undefined,
  fields: SearchFields,
): readonly string[] {
  const types = (names ?? []).map((name) => {
    const type = fields.entityType(name);
    if (type !== undefined) return type;
    throw new CatalogError("invalid", `unknown entity type "${name.slice(0, 120)}"`, {
      hint: nearest(name, fields.entityTypes()),
    });
  });
  return [...new Set(types)];
}

/** The named entity types, or else the default ones, or else all. */
export function entityTypesOf(
  { entities, usualEntities }: Pick<SearchRequest, "entities" | "usualEntities">,
  fields: SearchFields,
): readonly string[] {
  const named = typesNamed(entities, fields);
  if (named.length > 0) return named;
  const usual = typesNamed(usualEntities, fields);
  return usual.length > 0 ? usual : [...fields.entityTypes()];
}

/**
 * The condition that excludes entities that are hidden by default; undefined if it excludes none. It
 * omits the fields that the filter names, and those that the query names, except `removed`.
 */
export async function visibleByDefault(
  { hiddenStages }: Pick<SearchTools, "hiddenStages">,
  request: {
    readonly entityTypes: readonly string[];
    readonly query?: Pick<ReadQuery, "fields">;
    readonly filter: Pick<CompiledFilter, "fields">;
    readonly flags: SearchFlags;
  },
): Promise<Condition | undefined> {
  const { entityTypes, query, filter, flags } = request;
  if (isLaterSlice(flags.sliceOptions)) return NOTHING;
  const names = (field: string) => filter.fields.has(field) || query?.fields.has(field) === true;
  const hidden: Condition[] = [];
  if (flags.includeSoftDeleted !== true && !filter.fields.has("removed")) {
    hidden.push({ kind: "equal", field: "removed", values: [true] });
  }
  if (flags.filterNonLatestVersions !== false && !names("isLatest")) {
    hidden.push({ kind: "equal", field: "isLatest", values: [false] });
  }
  if (flags.includeHiddenLifecycleStages !== true && !names("lifecycleStage")) {
    const stages = await hiddenStages(entityTypes);
    const values =
      flags.includeDraft === true ? stages.filter((urn) => !/:draft$/i.test(urn)) : stages;
    if (values.length > 0) hidden.push({ kind: "equal", field: "lifecycleStage", values });
  }
  return hidden.length === 0 ? undefined : { kind: "not", not: anyOf(hidden) };
}

/**
 * Reads the values of fields that the request adds to hits; undefined if it adds none. Unknown names are
 * ignored.
 */
function createExtraFields(
  names: readonly string[] | undefined,
  fields: SearchFields,
): ((document: SearchDocument) => Pick<SearchHit, "extraFields">) | undefined {
  const wanted = [...new Set(names)].filter((name) => fields.find(name).length > 0);
  if (wanted.length === 0) return undefined;
  return ({ values, texts }) => {
    const textsOf = Map.groupBy(texts, ({ field }) => field);
    const extraFields = wanted.map((name) => {
      const field = fields.nameOf(name);
      // Safe lookup: `find` knows the field.
      const found = values[field] ?? (textsOf.get(field) ?? []).map(({ value }) => value);
      return { name, values: found };
    });
    return { extraFields: extraFields.filter((one) => one.values.length > 0) };
  };
}

/** Criteria on the score are ignored: the score only orders hits that all other criteria leave equal. */
const SCORES = ["_score", "score"];

function sortOf(criteria: readonly SortCriterion[], fields: SearchFields): readonly SortBy[] {
  if (criteria.length > sortsMax) {
    throw new CatalogError(
      "malformed",
      `the request is sorted by ${criteria.length} fields; at most ${sortsMax} are allowed`,
    );
  }
  return criteria.flatMap(({ field, order }) => {
    if (SCORES.includes(field)) return [];
    const [known] = fields.find(field);
    if (known === undefined) throw unknownField(field, fields);
    return [{ field: known.name, order }];
  });
}
