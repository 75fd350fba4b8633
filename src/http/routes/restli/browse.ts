/** Autocompletion, browsing of folders, and the folders of an entity. */
import type { SearchFlags } from "../../../catalog/catalog.ts";
import type { Filter } from "../../../core/query/filter.ts";
import { complete, type Endpoint, objectWith, valueSchema } from "../../schemas/endpoint.ts";
import * as schemas from "../../schemas/schemas.ts";
import * as search from "../../schemas/search-schemas.ts";
import { type SearchBody, searchErrors, searchRequestOf } from "./search.ts";

interface Narrowed {
  readonly entity: string;
  readonly filter?: Filter;
  readonly searchFlags?: SearchFlags;
}

const autocomplete: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "autocomplete",
  summary: "Complete a search term",
  about:
    "Entities that have all the words, the last one perhaps only begun, in the fields that the model marks for it; best first. `suggestions` are the texts by which they were found, each once; the best entity of each is among `entities`.",
  body: objectWith(["entity", "query", "limit"], {
    entity: search.entityType,
    query: { type: "string", description: "Text that was typed so far" },
    field: { type: "string", description: "Complete values of this field only" },
    filter: schemas.filter,
    start: {
      type: "integer",
      description: "Number of suggesting entities to skip; 0 when absent",
    },
    limit: { type: "integer", description: "Maximum number of suggestions: 1,000 at most" },
    searchFlags: search.searchFlags,
  }),
  response: valueSchema(
    complete({
      query: { type: "string", description: "The requested query" },
      suggestions: { type: "array", items: { type: "string" } },
      entities: {
        type: "array",
        items: complete({ urn: schemas.urn }),
      },
    }),
  ),
  reads: "search",
  errors: searchErrors,
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
    return { json: JSON.stringify({ value }), position };
  },
};

const browse: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "browse",
  summary: "Browse the folders of browsePaths",
  about:
    "The folders in a folder, then the entities that lie in it; a page may have both. Counts are of entities in a folder and below.",
  body: objectWith(["entity", "path", "start", "limit"], {
    entity: search.entityType,
    path: { type: "string", description: 'The folder: `/prod/postgres`; the root is ""' },
    filter: schemas.filter,
    start: search.start,
    limit: { type: "integer", description: "Maximum number of folders and entities" },
    searchFlags: search.searchFlags,
  }),
  response: valueSchema(
    objectWith(
      ["from", "pageSize", "numEntities", "numGroups", "numElements", "groups", "metadata"],
      {
        from: { type: "integer" },
        pageSize: { type: "integer" },
        numGroups: { type: "integer", description: "Number of folders" },
        numEntities: { type: "integer", description: "Number of entities directly in the folder" },
        numElements: { type: "integer", description: "Sum of the two" },
        groups: { type: "array", items: { type: "object" } },
        metadata: {
          type: "object",
          properties: {
            path: { type: "string" },
            totalNumEntities: {
              type: "integer",
              description: "Number of entities in folders below it",
            },
            groups: {
              type: "array",
              items: { type: "object" },
              description: "The same as `count`",
            },
          },
        },
        entities: {
          type: "array",
          items: { type: "object", properties: { name: schemas.urn, urn: schemas.urn } },
        },
      },
    ),
  ),
  reads: "search",
  errors: searchErrors,
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
    return { json: JSON.stringify({ value }), position };
  },
};

const browseV2: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "browseV2",
  summary: "Browse the folders of browsePathsV2",
  about:
    "The subfolders of a folder, with the entity of each that is one. To find the entities in a folder, search with its path as a filter on `browsePathV2`.",
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
  response: valueSchema(
    complete({
      start: { type: "integer" },
      count: { type: "integer" },
      total: { type: "integer", description: "Number of folders" },
      groups: {
        type: "array",
        items: objectWith(["name", "count", "hasSubGroups"], {
          name: { type: "string" },
          count: { type: "integer" },
          hasSubGroups: { type: "boolean" },
          entity: schemas.urn,
        }),
      },
      metadata: { type: "object" },
    }),
  ),
  reads: "search",
  errors: searchErrors,
  async handle({ body }, { catalog }) {
    const { path, start, count } = body as SearchBody & { readonly path: string | string[] };
    const joined = typeof path === "string" ? path : path.map((id) => `␟${id}`).join("");
    const request = searchRequestOf(body as SearchBody);
    const page = await catalog.browseV2({ ...request, path: joined, start, count });
    const { path: shownPath, totalNumEntities, position, ...rest } = page;
    const value = { ...rest, metadata: { path: shownPath, totalNumEntities } };
    return { json: JSON.stringify({ value }), position };
  },
};

const getBrowsePaths: Endpoint = {
  method: "POST",
  kind: "action",
  path: "/entities",
  name: "getBrowsePaths",
  summary: "List the folders of an entity",
  body: complete({ urn: schemas.urn }),
  response: valueSchema({ type: "array", items: { type: "string" } }),
  reads: "entities",
  errors: [
    { code: "malformed", when: "the urn is missing or does not parse" },
    { code: "not_found", when: "the entity type is unknown" },
  ],
  async handle({ body }, { catalog }) {
    const { urn } = body as { readonly urn: string };
    return { json: JSON.stringify({ value: await catalog.getBrowsePaths(urn) }) };
  },
};

export const browseRoutes: readonly Endpoint[] = [autocomplete, browse, browseV2, getBrowsePaths];
