/** /relationships: the neighbours of an entity, and its lineage. */
import type { Catalog } from "../../../catalog/catalog.ts";
import { namesIn } from "../../request/parameters.ts";
import {
  type ApiResponse,
  actionOf,
  type Endpoint,
  objectWith,
  type Parameter,
  type Resource,
  valueResponse,
} from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";
import * as schemas from "../../schemas/schemas.ts";

export const relationshipsResource: Resource = {
  name: "relationships",
  implementation: "lineage.Relationships",
  about:
    "The graph that aspects state: owners, tags, parts, lineage. Reads include every write that was answered before.",
};

const urn: Parameter = query.string("urn", "The entity; an unknown urn has no relationships", {
  required: true,
});

const direction: Parameter = query.string(
  "direction",
  "`OUTGOING`: edges from the entity. `INCOMING`: edges to the entity. `UNDIRECTED`: both",
  { required: true, values: ["INCOMING", "OUTGOING", "UNDIRECTED"] },
);

const start: Parameter = query.long("start", "Number of relationships to skip. 0 when absent");

const count = (standard: number): Parameter =>
  query.long("count", `At most so many, and never more than 10,000. ${standard} when absent`);

const getRelationships: Endpoint = {
  method: "GET",
  kind: "get",
  path: "/relationships",
  name: "getRelationships",
  parameters: [
    urn,
    direction,
    query.strings(
      "types",
      "Names of relationships, as the model has them: once, repeated, with commas, or `List(a,b)`. A name that no edge has is answered with none",
      { required: true },
    ),
    start,
    count(100),
  ],
  reads: "relationships",
  handle({ parameters }, { catalog }) {
    const query = parameters as Query & { types: readonly string[] };
    const page = catalog.listRelationships({ ...query, types: namesIn(query.types) });
    return page instanceof Promise ? page.then(shown) : shown(page);
  },
};

type Page = Awaited<ReturnType<Catalog["listRelationships"]>>;

/** Cached by page: the catalog returns the same object until the graph changes. */
const responses = new WeakMap<Page, ApiResponse>();

function shown(page: Page): ApiResponse {
  let response = responses.get(page);
  if (response === undefined) {
    const { relationships, ...counts } = page;
    const json = JSON.stringify({
      ...counts,
      relationships: relationships.map(({ type, urn: entity }) => ({ type, entity })),
      entities: relationships.map(({ urn: entity }) => entity),
    });
    response = { json };
    responses.set(page, response);
  }
  return response;
}

type Query = {
  readonly urn: string;
  readonly direction: string;
  readonly start?: number;
  readonly count?: number;
};

const deleteRelationships: Endpoint = {
  method: "DELETE",
  kind: "delete",
  path: "/relationships",
  name: "deleteRelationships",
  parameters: [urn],
  writes: true,
  async handle({ parameters, caller }, { catalog }) {
    const { position } = await catalog.forgetRelationships(String(parameters.urn), caller);
    return { position };
  },
};

const getLineage: Endpoint = {
  ...actionOf("/relationships"),
  name: "getLineage",
  body: objectWith(["urn", "direction"], {
    urn: schemas.urn,
    direction: {
      type: "string",
      enum: ["UPSTREAM", "DOWNSTREAM"],
      description: "`UPSTREAM`: sources of the entity. `DOWNSTREAM`: entities that depend on it",
    },
    start: { type: "integer", minimum: 0, description: "0 when absent" },
    count: { type: "integer", minimum: 0, description: "100 when absent, 10,000 at most" },
    maxHops: {
      type: "integer",
      minimum: 1,
      description: "Maximum number of hops from the entity: 1 when absent",
    },
    ...schemas.lineageTimes,
  }),
  reads: "relationships",
  async handle({ body }, { catalog }) {
    return valueResponse(await catalog.getLineage(body as Query & { maxHops?: number }));
  },
};

/** The same neighbours, for newer clients of DataHub. */
const getRelatedEntities: Endpoint = {
  method: "GET",
  kind: "page",
  path: "/openapi/relationships/v1",
  name: "getRelatedEntities",
  parameters: [
    urn,
    direction,
    query.strings(
      "relationshipTypes",
      "Names of relationships: once, repeated, or separated by commas",
      { required: true },
    ),
    start,
    count(200),
  ],
  reads: "relationships",
  async handle({ parameters }, { catalog }) {
    const { relationshipTypes, ...query } = parameters as Query & {
      relationshipTypes: readonly string[];
    };
    const types = namesIn(relationshipTypes);
    const page = await catalog.listRelationships({ count: 200, ...query, types });
    const { relationships, ...counts } = page;
    const entities = relationships.map(({ type, ...end }) => ({ relationshipType: type, ...end }));
    return { json: JSON.stringify({ ...counts, entities }) };
  },
};

export const relationshipRoutes: readonly Endpoint[] = [
  getRelationships,
  deleteRelationships,
  getLineage,
  getRelatedEntities,
];
