/** OpenAPI endpoints: entities that a search finds, page after page. */
import type { SearchFacet, SearchRequest, SortCriterion } from "../../../catalog/catalog.ts";
import { CatalogError } from "../../../core/errors.ts";
import type { Criterion, Filter } from "../../../core/query/filter.ts";
import { isLaterSlice, type SliceOptions } from "../../../core/query/slice-options.ts";
import { atLeast } from "../../request/parameters.ts";
import type {
  ApiContext,
  ApiResponse,
  Endpoint,
  Parameter,
  Schema,
} from "../../schemas/endpoint.ts";
import {
  entitiesText,
  type ModelNames,
  namedAspects,
  type Version,
} from "../../schemas/openapi-forms.ts";
import * as forms from "../../schemas/openapi-schemas.ts";
import { query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";

/** Entities of one page: their aspects are in it. */
const countMax = 10_000;
const countDefault = 10;

/** Parameters of all pages. Other parameters of DataHub are ignored. */
export const paging: readonly Parameter[] = [
  query.long("count", `At most so many: ${countDefault} when absent, ${countMax} at most`),
  query.string("scrollId", "Scroll id of the previous page; the other parameters must be the same"),
  query.long(
    "sliceId",
    "Where several read side by side: the slice with the number 0 has everything",
  ),
  query.long("sliceMax", "Number of slices"),
];

const finding: readonly Parameter[] = [
  query.string("query", "As people type it; `*` when absent"),
  ...paging,
  query.strings("sort", "Fields to sort by; `urn` when absent"),
  query.strings("sortCriteria", "The same as `sortCriteria`, over which it takes precedence"),
  query.string("sortOrder", "`ASCENDING` when absent", { values: ["ASCENDING", "DESCENDING"] }),
  forms.includeSoftDelete,
  query.boolean("skipAggregation", "`facets` is empty; `true` when absent"),
  forms.systemMetadata,
];

interface Query {
  readonly query?: string;
  readonly count?: number;
  readonly scrollId?: string;
  readonly sliceId?: number;
  readonly sliceMax?: number;
  readonly sort?: readonly string[];
  readonly sortCriteria?: readonly string[];
  readonly sortOrder?: string;
  readonly includeSoftDelete?: boolean;
  readonly skipAggregation?: boolean;
  readonly systemMetadata?: boolean;
  readonly aspects?: readonly string[];
  readonly aspectNames?: readonly string[];
}

interface ScrollBody {
  readonly entities?: readonly string[] | null;
  /** Absent: urns alone; none: all of them. */
  readonly aspects?: readonly string[] | null;
  readonly filter?: OpenApiFilter | null;
  readonly sortCriteria?: readonly SortCriterion[] | null;
}

/** `and` holds what the rest of the interface calls `or`; that name is understood, too. */
export interface OpenApiFilter {
  readonly and?: readonly { readonly criteria?: readonly Criterion[] }[];
  readonly or?: Filter["or"];
}

const criteria: Schema = {
  type: "array",
  items: {
    ...schemas.criterion,
    properties: {
      ...(schemas.criterion.properties as Schema),
      value: { type: ["string", "null"] },
      values: { type: ["array", "null"], items: { type: "string" } },
      condition: { type: ["string", "null"] },
      negated: { type: ["boolean", "null"] },
    },
  },
};

export const openApiFilter: Schema = {
  type: ["object", "null"],
  description:
    "Any of `and` (DataHub's form), each all of its `criteria`; or `{or: [{and: […]}]}` as everywhere else",
  properties: {
    and: { type: "array", items: { type: "object", properties: { criteria } } },
    or: { type: "array", items: { type: "object", properties: { and: criteria } } },
  },
};

export function filterOf(filter: OpenApiFilter | null | undefined): Filter | undefined {
  if (filter === null || filter === undefined) return undefined;
  const parts = [
    ...(filter.and ?? []).map((one) => one.criteria),
    ...(filter.or ?? []).map((one) => one.and),
  ];
  if (parts.length === 0) return undefined;
  return { or: parts.map((and = []) => ({ and: and.map((one) => said<Criterion>(one)) })) };
}

/** Null members count as absent. */
const said = <T>(input: object): T =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null)) as T;

export function entityLists(version: Version, names: ModelNames): readonly Endpoint[] {
  const base = `/openapi/${version}/entity`;
  const suffix = version === "v3" ? "" : "V2";
  const row = { kind: "page", group: "OpenAPI", reads: "search" } as const;

  return [
    {
      ...row,
      method: "GET",
      path: `${base}/{entity}`,
      name: `listEntities${suffix}`,
      parameters: [forms.entity, ...finding, ...forms.aspects],
      handle({ path, parameters }, context) {
        const asked = parameters as Query;
        const entityType = names.entity(path.entity ?? "");
        const aspects = namedAspects(names, entityType, asked) ?? "all";
        return page({ entities: [entityType] }, { asked, aspects, version, context });
      },
    },
    {
      ...row,
      method: "POST",
      path: `${base}/scroll`,
      name: `scrollEntities${suffix}`,
      parameters: finding,
      body: {
        type: "object",
        properties: {
          entities: {
            type: ["array", "null"],
            items: { type: "string" },
            description: "Entity types; all when absent",
          },
          aspects: { type: ["array", "null"], items: { type: "string" } },
          filter: openApiFilter,
          sortCriteria: { type: ["array", "null"], items: schemas.sort },
        },
      },
      handle({ parameters, body }, context) {
        const { entities, aspects, filter, sortCriteria } = body as ScrollBody;
        const request = {
          entities: entities ?? [],
          filter: filterOf(filter),
          sort: sortCriteria ?? undefined,
        };
        const wanted = aspects === null || aspects === undefined ? [] : aspects;
        const all = aspects?.length === 0 ? "all" : wanted;
        return page(request, {
          asked: parameters as Query,
          aspects: all,
          version,
          context,
        });
      },
    },
  ];
}

interface PageOptions {
  readonly asked: Query;
  readonly aspects: readonly string[] | "all";
  readonly version: Version;
  readonly context: Pick<ApiContext, "catalog">;
}

async function page(request: SearchRequest, options: PageOptions): Promise<ApiResponse> {
  const { asked, aspects, version, context } = options;
  const member = version === "v3" ? "entities" : "results";
  if (isLaterSlice(sliceOf(asked)))
    return { json: JSON.stringify({ [member]: [], totalCount: 0, facets: [] }) };
  const { sort = [], sortCriteria = sort, systemMetadata = false } = asked;
  const order = orderOf(asked);
  const fields = sortCriteria.flatMap((one) => one.split(",")).map((field) => ({ field, order }));
  const named = request.sort?.length ? request.sort : fields;
  const found = await context.catalog.scroll(
    {
      ...request,
      input: asked.query,
      sort: named.length === 0 ? [{ field: "urn", order }] : named,
      flags: {
        skipHighlighting: true,
        skipAggregates: asked.skipAggregation ?? true,
        includeSoftDeleted: asked.includeSoftDelete ?? false,
      },
    },
    { scrollId: asked.scrollId, count: countIn(asked) },
  );
  const urns = found.hits.map(({ urn }) => urn);
  const read = await context.catalog.findEntities(urns, aspects === "all" ? undefined : aspects);
  const there = read.filter(({ exists }) => exists);
  const members = [
    ...(found.scrollId === undefined ? [] : [`"scrollId":${JSON.stringify(found.scrollId)}`]),
    `"${member}":${await entitiesText(there, { version, systemMetadata })}`,
    `"totalCount":${found.total}`,
    `"facets":${facetsText(found.facets)}`,
  ];
  return { json: `{${members.join(",")}}`, position: found.position };
}

const facetsText = (facets: readonly SearchFacet[]): string =>
  JSON.stringify(
    facets.map(({ name, displayName, values }) => ({
      name,
      displayName,
      aggregations: Object.fromEntries(values.map(({ value, count }) => [value, count])),
    })),
  );

/** The slice that a request asks for. Throws `malformed` for an invalid number of slices. */
export function sliceOf({
  sliceId: id,
  sliceMax: max,
}: Pick<Query, "sliceId" | "sliceMax">): SliceOptions | undefined {
  atLeast({ sliceMax: max }, 1);
  return id === undefined ? undefined : { id, max };
}

function orderOf({ sortOrder = "ASCENDING" }: Pick<Query, "sortOrder">): SortCriterion["order"] {
  if (sortOrder === "ASCENDING" || sortOrder === "DESCENDING") return sortOrder;
  throw new CatalogError("malformed", `sortOrder is "${sortOrder}"`, {
    hint: "Send ASCENDING or DESCENDING",
  });
}

function countIn({ count = countDefault }: Pick<Query, "count">): number {
  if (count >= 0) return Math.min(count, countMax);
  throw new CatalogError("malformed", `count is ${count}`, { hint: "Send 0 or more" });
}
