/** Autocompletion, browsing of folders, and the folders of an entity. */
import type { SearchFlags } from "../../../catalog/catalog.ts";
import type { Filter } from "../../../core/query/filter.ts";
import {
  actionOf,
  complete,
  type Endpoint,
  integer,
  objectWith,
  text,
  valueResponse,
} from "../../schemas/endpoint.ts";
import * as schemas from "../../schemas/schemas.ts";
import * as search from "../../schemas/search-schemas.ts";
import { type SearchBody, searchRequestOf } from "./search.ts";

interface Narrowed {
  readonly entity: string;
  readonly filter?: Filter;
  readonly searchFlags?: SearchFlags;
}

const autocomplete: Endpoint = {
  ...actionOf("/entities"),
  name: "autocomplete",
  body: objectWith(["entity", "query", "limit"], {
    entity: search.entityType,
    query: text("Text that was typed so far"),
    field: text("Complete values of this field only"),
    filter: schemas.filter,
    start: integer("Number of suggesting entities to skip; 0 when absent"),
    limit: integer("Maximum number of suggestions: 1,000 at most"),
    searchFlags: search.searchFlags,
  }),
  reads: "search",
  async handle({ body }, { catalog }) {
    const { searchFlags: flags, ...request } = body as Narrowed & {
      readonly query: string;
      readonly field?: string;
      readonly start?: number;
      readonly limit: number;
    };
    const { suggestions, entities, position } = await catalog.autocomplete({ ...request, flags });
    const found = entities.map((urn) => ({ urn }));
    const value = { query: request.query, suggestions, entities: found };
    return valueResponse(value, position);
  },
};

const browse: Endpoint = {
  ...actionOf("/entities"),
  name: "browse",
  body: objectWith(["entity", "path", "start", "limit"], {
    entity: search.entityType,
    path: text('The folder: `/prod/postgres`; the root is ""'),
    filter: schemas.filter,
    start: search.start,
    limit: integer("Maximum number of folders and entities"),
    searchFlags: search.searchFlags,
  }),
  reads: "search",
  async handle({ body }, { catalog }) {
    const { searchFlags: flags, ...request } = body as Narrowed & {
      readonly path: string;
      readonly start: number;
      readonly limit: number;
    };
    const page = await catalog.browse({ ...request, flags });
    const { from, pageSize, numEntities, numGroups, path, totalNumEntities, position } = page;
    const value = {
      from,
      pageSize,
      numEntities,
      numGroups,
      numElements: numGroups + numEntities,
      groups: page.groups,
      metadata: { path, totalNumEntities, groups: page.groups },
      entities: page.entities.map((urn) => ({ name: urn, urn })),
    };
    return valueResponse(value, position);
  },
};

const browseV2: Endpoint = {
  ...actionOf("/entities"),
  name: "browseV2",
  body: objectWith(["path", "start", "count"], {
    entity: search.entityType,
    entities: search.entityTypes,
    path: {
      type: ["string", "array"],
      items: { type: "string" },
      description: "Ids of folders from the outermost one, as a list or as text with ␟ before each",
    },
    input: search.input,
    filter: schemas.filter,
    searchFlags: search.searchFlags,
    start: search.start,
    count: search.count,
  }),
  reads: "search",
  async handle({ body }, { catalog }) {
    const { path, start, count } = body as SearchBody & { readonly path: string | string[] };
    const joined = typeof path === "string" ? path : path.map((id) => `␟${id}`).join("");
    const request = searchRequestOf(body as SearchBody);
    const page = await catalog.browseV2({ ...request, path: joined, start, count });
    const { path: shownPath, totalNumEntities, position, ...rest } = page;
    const value = { ...rest, metadata: { path: shownPath, totalNumEntities } };
    return valueResponse(value, position);
  },
};

const getBrowsePaths: Endpoint = {
  ...actionOf("/entities"),
  name: "getBrowsePaths",
  body: complete({ urn: schemas.urn }),
  reads: "entities",
  async handle({ body }, { catalog }) {
    const { urn } = body as { readonly urn: string };
    return valueResponse(await catalog.getBrowsePaths(urn));
  },
};

export const browseRoutes: readonly Endpoint[] = [autocomplete, browse, browseV2, getBrowsePaths];
