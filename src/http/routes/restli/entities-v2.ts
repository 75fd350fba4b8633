/** /entitiesV2: entities with the latest values of their aspects, each in its envelope. */
import type { KeyOptions } from "../../../catalog/catalog.ts";
import { asOfParameters } from "../../request/as-of-parameters.ts";
import { namesIn } from "../../request/parameters.ts";
import type { ApiRequest, Endpoint, Parameter, Resource } from "../../schemas/endpoint.ts";
import { inPath, query } from "../../schemas/query-parameters.ts";

export const entitiesV2Resource: Resource = {
  name: "entitiesV2",
  implementation: "entity.EntityV2Resource",
  about: "Read entities with their aspects, stamps and system metadata.",
};

const aspects: Parameter = query.strings(
  "aspects",
  "Only these aspects: `List(ownership,status)`. All versioned aspects when absent; unknown names are ignored",
);

const alwaysIncludeKeyAspect: Parameter = query.boolean(
  "alwaysIncludeKeyAspect",
  "`true` when absent: the key aspect is always returned. `false`: only if it is stored and requested",
);

/** The requested parts of an entity, in the catalog's form. */
function shownOf(
  parameters: ApiRequest["parameters"],
): readonly [aspects: readonly string[] | undefined, options?: KeyOptions] {
  const { aspects, alwaysIncludeKeyAspect } = parameters as {
    aspects?: readonly string[];
    alwaysIncludeKeyAspect?: boolean;
  };
  const names = aspects && namesIn(aspects);
  return alwaysIncludeKeyAspect === false ? [names, { keyAlways: false }] : [names];
}

const getEntity: Endpoint = {
  method: "GET",
  kind: "get",
  path: "/entitiesV2/{urn}",
  name: "getEntity",
  parameters: [inPath("urn", "The entity"), aspects, alwaysIncludeKeyAspect, ...asOfParameters],
  reads: "entities",
  handle(request, { catalog }) {
    return catalog.getEntity(request.key, ...shownOf(request.parameters));
  },
};

const getEntities: Endpoint = {
  method: "GET",
  kind: "batch_get",
  path: "/entitiesV2",
  name: "getEntities",
  parameters: [
    query.strings("ids", "`List(<urn>,<urn>)`", { required: true }),
    aspects,
    alwaysIncludeKeyAspect,
    ...asOfParameters,
  ],
  reads: "entities",
  handle(request, { catalog }) {
    const { ids } = request.parameters as { ids: readonly string[] };
    return catalog.getEntities(ids, ...shownOf(request.parameters));
  },
};

export const entityV2Routes: readonly Endpoint[] = [getEntity, getEntities];
