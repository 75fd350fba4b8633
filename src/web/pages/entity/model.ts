/** The model of an entity type, as the registry of the service lists it. */
import { queryOptions } from "@tanstack/react-query";
import { read } from "../../api/http.ts";
import { at, listAt, textAt } from "../../api/json.ts";

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
