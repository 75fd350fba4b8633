/**
 * /openapi/v1/registry/models: which entity types and aspects there are, for clients that ask
 * first.
 */
import { CatalogError } from "../../../core/errors.ts";
import { nearest } from "../../../lib/did-you-mean.ts";
import type { EntityOutline } from "../../docs/docs-model.ts";
import { atLeast } from "../../request/parameters.ts";
import type { ApiResponse, Endpoint, Parameter } from "../../schemas/endpoint.ts";
import { inPath, query } from "../../schemas/query-parameters.ts";

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
      parameters: paging,
      handle: ({ parameters }) => pageOf(all, parameters),
    },
    {
      method: "GET",
      kind: "page",
      group: "OpenAPI",
      path: `${base}/entity/specifications/{entity}`,
      name: "readEntitySpecification",
      parameters: [inPath("entity", "Its name")],
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
      parameters: [inPath("aspect", "Its name")],
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
