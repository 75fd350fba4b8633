/** Impact analysis: searches in the lineage of an entity. */
import type { LineageSearchRequest } from "../../../catalog/catalog.ts";
import { lineageResponse } from "../../response/search-responses.ts";
import { actionOf, type Endpoint, objectWith } from "../../schemas/endpoint.ts";
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

const searchAcrossLineage: Endpoint = {
  ...actionOf("/entities"),
  name: "searchAcrossLineage",
  body: objectWith(["urn", "direction", "start", "count"], {
    ...where,
    start: search.start,
    count: search.count,
  }),
  reads: ["relationships", "search"],
  async handle({ body }, { catalog }) {
    const { start, count } = body as LineageBody;
    return lineageResponse(await catalog.searchLineage(requestOf(body), { start, count }));
  },
};

const scrollAcrossLineage: Endpoint = {
  ...actionOf("/entities"),
  name: "scrollAcrossLineage",
  body: objectWith(["urn", "direction", "count"], {
    ...where,
    ...search.scrolling,
    count: search.count,
  }),
  reads: ["relationships", "search"],
  async handle({ body }, { catalog }) {
    const { scrollId, count } = body as LineageBody;
    return lineageResponse(await catalog.scrollLineage(requestOf(body), { scrollId, count }));
  },
};

export const searchLineageRoutes: readonly Endpoint[] = [searchAcrossLineage, scrollAcrossLineage];
