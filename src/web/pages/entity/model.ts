/** The model of an entity type and the schemas of aspects, as the registry of the service lists it. */
import { queryOptions } from "@tanstack/react-query";
import { read } from "../../api/http.ts";
import { at, isObject, type JsonObject, listAt, textAt } from "../../api/json.ts";

interface RelationshipModel {
  /** Type of the edges. */
  readonly name: string;
  /** From the root of the aspect: `*` is each item of a list or value of a map, `$key` each key. */
  readonly path: readonly string[];
}

export interface AspectModel {
  readonly name: string;
  readonly timeseries: boolean;
  readonly relationships: readonly RelationshipModel[];
}

/** The aspects of an entity type, the key aspect first. */
export const modelQuery = (type: string) =>
  queryOptions({
    queryKey: ["model", type],
    queryFn: () => readModel(type),
    staleTime: Number.POSITIVE_INFINITY,
  });

async function readModel(type: string): Promise<readonly AspectModel[]> {
  const path = `/openapi/v1/registry/models/entity/specifications/${encodeURIComponent(type)}`;
  const value = await read<unknown>(path);
  return [at(value, "keyAspectSpec"), ...listAt(value, "aspectSpecs")].map((aspect) => ({
    name: textAt(aspect, "aspectAnnotation", "name") ?? "",
    timeseries: at(aspect, "timeseries") === true,
    relationships: listAt(aspect, "relationshipFieldSpecs").map((one) => ({
      name: textAt(one, "relationshipAnnotation", "name") ?? "",
      path: (textAt(one, "path") ?? "").split("/").slice(1),
    })),
  }));
}

/** The JSON Schema of an aspect. */
export const aspectSchemaQuery = (aspect: string) =>
  queryOptions({
    queryKey: ["aspect-schema", aspect],
    queryFn: () => readAspectSchema(aspect),
    staleTime: Number.POSITIVE_INFINITY,
  });

async function readAspectSchema(aspect: string): Promise<JsonObject> {
  const path = `/openapi/v1/registry/models/aspect/specifications/${encodeURIComponent(aspect)}`;
  const schema = at(await read<unknown>(path), "schema");
  return isObject(schema) ? schema : {};
}
