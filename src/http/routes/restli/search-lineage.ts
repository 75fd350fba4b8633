/** Impact analysis: searches in the lineage of an entity. */
import type { LineageSearchRequest } from "../../../catalog/catalog.ts";
import { lineageResponse } from "../../response/search-responses.ts";
import { type Endpoint, objectWith, valueSchema } from "../../schemas/endpoint.ts";
import * as schemas from "../../schemas/schemas.ts";
import * as search from "../../schemas/search-schemas.ts";
import { acrossRequestOf, type SearchBody } from "./search.ts";

interface LineageBody extends SearchBody {
  readonly urn: string;
  readonly direction: string;
  readonly maxHops?: number;
  readonly startTimeMillis?: number;
  readonly endTimeMillis?: number;
  readonly scrollId?: string;
}

function requestOf(body: unknown): LineageSearchRequest {
  const { urn, direction, maxHops, startTimeMillis, endTimeMillis } = body as LineageBody;
  const times = { startTimeMillis, endTimeMillis };
  return { ...acrossRequestOf(body as SearchBody), urn, direction, maxHops, ...times };
}

const where = {
  urn: schemas.urn,
  direction: {
    type: "string",
    enum: ["UPSTREAM", "DOWNSTREAM"],
    description: "`UPSTREAM`: sources of the entity. `DOWNSTREAM`: entities that depend on it",
  },
  entities: search.entityTypes,
  input: search.input,
  maxHops: {
    type: "integer",
    minimum: 1,
    description: "Maximum number of hops from the entity: 1,000 when absent",
  },
  ...search.searchMembers,
  ...schemas.lineageTimes,
};

const lineageErrors = [
  {
    code: "malformed",
    when: "a parameter is missing or of the wrong type, the urn does not parse, or the query or filter is not valid",
  },
  { code: "invalid", when: "an entity type is unknown" },
  {
    code: "unavailable",
    when: "a view did not reach the requested position in time",
  },
] as const;

const searchAcrossLineage: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "searchAcrossLineage",
  summary: "Search the upstream or downstream entities of an entity",
  about:
    "Nearest first, unless words are looked for or a sort is asked. `degree` is a field of filters here (1, 2, 3+), and a facet. A walk ends after 1,000 hops, 100,000 entities, 250,000 edges or 5 seconds, and then says `isPartial`.",
  body: objectWith(["urn", "direction", "start", "count"], {
    ...where,
    start: search.start,
    count: search.count,
  }),
  response: valueSchema(search.lineageSearchResult),
  reads: ["relationships", "search"],
  errors: lineageErrors,
  async handle({ body }, { catalog }) {
    const { start, count } = body as LineageBody;
    return lineageResponse(await catalog.searchLineage(requestOf(body), { start, count }));
  },
};

const scrollAcrossLineage: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "scrollAcrossLineage",
  summary: "Scroll through all upstream or downstream entities of an entity",
  about:
    "Like `searchAcrossLineage`, page by page: each response has the `scrollId` of the next page.",
  body: objectWith(["urn", "direction", "count"], {
    ...where,
    ...search.scrolling,
    count: search.count,
  }),
  response: valueSchema(search.lineageScrollResult),
  reads: ["relationships", "search"],
  errors: lineageErrors,
  async handle({ body }, { catalog }) {
    const { scrollId, count } = body as LineageBody;
    return lineageResponse(await catalog.scrollLineage(requestOf(body), { scrollId, count }));
  },
};

export const searchLineageRoutes: readonly Endpoint[] = [searchAcrossLineage, scrollAcrossLineage];
