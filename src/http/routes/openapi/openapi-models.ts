/**
 * /openapi/v1/registry/models: which entity types and aspects there are, for clients that ask
 * first.
 */
import { CatalogError } from "../../../core/errors.ts";
import { nearest } from "../../../lib/did-you-mean.ts";
import type { EntityOutline } from "../../docs/docs-model.ts";
import { atLeast } from "../../request/parameters.ts";
import {
  type ApiResponse,
  complete,
  type Endpoint,
  type Parameter,
} from "../../schemas/endpoint.ts";
import { query } from "../../schemas/query-parameters.ts";

const base = "/openapi/v1/registry/models";
const countDefault = 20;

const paging: readonly Parameter[] = [
  query.long("start", "0 when absent"),
  query.long("count", `${countDefault} when absent`),
];

type AspectOutline = EntityOutline["aspects"][number];

const specificationOf = ({ name, schemaVersion = 1, relationships = [] }: AspectOutline) => ({
  aspectAnnotation: { name, schemaVersion },
  relationshipFieldSpecs: relationships.map(({ path, ...relationship }) => ({
    path: `/${path.join("/")}`,
    relationshipAnnotation: {
      name: relationship.name,
      validDestinationTypes: relationship.entityTypes,
    },
  })),
});

function entityOf({ name, aspects }: EntityOutline) {
  const [key = { name: "", timeseries: false }, ...others] = aspects;
  return {
    name,
    keyAspectName: key.name,
    keyAspectSpec: specificationOf(key),
    aspectSpecs: others.map((aspect) => ({
      ...specificationOf(aspect),
      timeseries: aspect.timeseries,
    })),
  };
}

const aspectAnnotation = {
  type: "object",
  required: ["name", "schemaVersion"],
  properties: { name: { type: "string" }, schemaVersion: { type: "integer" } },
} as const;

const relationshipFieldSpecs = {
  type: "array",
  description: "Fields of the aspect that state edges",
  items: complete({
    path: {
      type: "string",
      description: "Path from the root of the aspect. `*` is each item of a list or value of a map",
    },
    relationshipAnnotation: complete({
      name: { type: "string", description: "Type of the edges" },
      validDestinationTypes: { type: "array", items: { type: "string" } },
    }),
  }),
} as const;

const specification = {
  type: "object",
  required: ["name", "keyAspectName", "keyAspectSpec", "aspectSpecs"],
  properties: {
    name: { type: "string" },
    keyAspectName: { type: "string" },
    keyAspectSpec: complete({ aspectAnnotation, relationshipFieldSpecs }),
    aspectSpecs: {
      type: "array",
      items: complete({
        aspectAnnotation,
        relationshipFieldSpecs,
        timeseries: { type: "boolean" },
      }),
    },
  },
} as const;

const aspectSpecification = {
  type: "object",
  required: ["aspectAnnotation", "relationshipFieldSpecs", "timeseries", "schema"],
  properties: {
    aspectAnnotation,
    relationshipFieldSpecs,
    timeseries: { type: "boolean" },
    schema: {
      type: "object",
      description: "JSON Schema (draft 2020-12) of the values of the aspect",
      additionalProperties: true,
    },
  },
} as const;

export function modelRoutes(entities: readonly EntityOutline[]): readonly Endpoint[] {
  const all = [...entities].sort((a, b) => (a.name < b.name ? -1 : 1));
  const aspects = new Map(
    all.flatMap((entity) => entity.aspects.map((aspect) => [aspect.name, aspect])),
  );
  return [
    {
      method: "GET",
      kind: "page",
      group: "OpenAPI",
      path: `${base}/entity/specifications`,
      name: "listEntitySpecifications",
      summary: "Entity types and their aspects, page by page",
      parameters: paging,
      response: complete({
        start: { type: "integer" },
        count: { type: "integer", description: "Number of items in this response" },
        total: { type: "integer" },
        elements: { type: "array", items: specification },
      }),
      errors: [{ code: "malformed", when: "`start` or `count` is negative" }],
      handle: ({ parameters }) => pageOf(all, parameters),
    },
    {
      method: "GET",
      kind: "page",
      group: "OpenAPI",
      path: `${base}/entity/specifications/{entity}`,
      name: "readEntitySpecification",
      summary: "The aspects of an entity type, and the edges that they state",
      parameters: [
        { name: "entity", in: "path", type: "string", required: true, about: "Its name" },
      ],
      response: specification,
      errors: [{ code: "not_found", when: "the model has no such entity type" }],
      handle({ path: { entity = "" } }) {
        const found = all.find(({ name }) => name.toLowerCase() === entity.toLowerCase());
        if (found !== undefined) return { json: JSON.stringify(entityOf(found)) };
        throw new CatalogError("not_found", `unknown entity type "${entity.slice(0, 120)}"`, {
          hint: nearest(
            entity,
            all.map(({ name }) => name),
          ),
        });
      },
    },
    {
      method: "GET",
      kind: "page",
      group: "OpenAPI",
      path: `${base}/aspect/specifications/{aspect}`,
      name: "readAspectSpecification",
      summary: "The JSON Schema of an aspect",
      about:
        "A value that fits the schema can still break rules between entities. A write drops fields that the schema does not have.",
      parameters: [
        { name: "aspect", in: "path", type: "string", required: true, about: "Its name" },
      ],
      response: aspectSpecification,
      errors: [{ code: "not_found", when: "the model has no such aspect" }],
      handle({ path: { aspect = "" } }) {
        const found = aspects.get(aspect);
        if (found !== undefined) {
          const { timeseries, schema = () => ({}) } = found;
          return {
            json: JSON.stringify({ ...specificationOf(found), timeseries, schema: schema() }),
          };
        }
        throw new CatalogError("not_found", `unknown aspect "${aspect.slice(0, 120)}"`, {
          hint: nearest(aspect, aspects.keys()),
        });
      },
    },
  ];
}

function pageOf(
  all: readonly EntityOutline[],
  { start = 0, count = countDefault }: { readonly start?: number; readonly count?: number },
): ApiResponse {
  atLeast({ start, count }, 0);
  const elements = all.slice(start, start + count).map(entityOf);
  return {
    json: JSON.stringify({ start, count: elements.length, total: all.length, elements }),
  };
}
