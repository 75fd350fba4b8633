/** OpenAPI endpoints: entities of several types in one request. */
import { type Proposal, REQUEST_PATH } from "../../../catalog/catalog.ts";
import { entityTypeOf } from "../../../core/urn.ts";
import { type JsonObject, jsonObject } from "../../../lib/json.ts";
import { asOfParameters } from "../../request/as-of-parameters.ts";
import type {
  ApiContext,
  ApiRequest,
  ApiResponse,
  BodySchema,
  Endpoint,
} from "../../schemas/endpoint.ts";
import {
  createdByPatches,
  entitiesText,
  type ModelNames,
  proposalsIn,
  written,
} from "../../schemas/openapi-forms.ts";
import * as forms from "../../schemas/openapi-schemas.ts";
import { entityReads, findMembers, type Member } from "./openapi-entities.ts";
import { entityWrites, traceIdOf, write } from "./openapi-writes.ts";

/** The name of the request's list that contains the proposal. */
const nameIn = ({ entityType, [REQUEST_PATH]: path = entityType }: Proposal): string =>
  path.split("[", 1)[0] ?? entityType;

const row = { kind: "page", group: "OpenAPI" } as const;
interface Query {
  readonly async?: boolean;
  readonly systemMetadata?: boolean;
}

const byType = (items: unknown): BodySchema => ({
  type: "object",
  properties: {},
  additionalProperties: items,
  description: "Lists as of one type, by entity type",
});

/** The endpoint of an entity type, with the type taken from the urn. */
function ofUrnType(endpoint: Endpoint, name: string): Endpoint {
  const path = endpoint.path.replace("{entity}", "generic");
  return {
    ...endpoint,
    path,
    name,
    parameters: endpoint.parameters?.filter((parameter) => parameter.name !== "entity"),
    handle: (request, context) =>
      endpoint.handle(
        { ...request, path: { ...request.path, entity: entityTypeOf(request.path.urn ?? "") } },
        context,
      ),
  };
}

/** GET, HEAD and DELETE of /openapi/v3/entity/generic/{urn}. */
const genericUrnRoutes = (names: ModelNames): readonly Endpoint[] =>
  [...entityReads("v3", names), ...entityWrites("v3", names)]
    .filter(({ path }) => path === "/openapi/v3/entity/{entity}/{urn}")
    .map((endpoint) => ofUrnType(endpoint, endpoint.name.replace("ntity", "ntityOfAnyType")));

/** /openapi/v3/entity/generic: the bodies of the endpoints of one type, by entity type. */
export function genericRoutes(names: ModelNames): readonly Endpoint[] {
  const path = "/openapi/v3/entity/generic";

  const listed = ({ body }: ApiRequest, changeType: "UPSERT" | "PATCH"): readonly Proposal[] =>
    Object.entries(body as Readonly<Record<string, readonly JsonObject[]>>).flatMap(
      ([name, list]) => {
        const entityType = names.known(name, "invalid");
        return proposalsIn(list, { entityType, changeType, path: name }, names);
      },
    );

  async function many(
    request: ApiRequest,
    context: ApiContext,
    changeType: "UPSERT" | "PATCH",
  ): Promise<ApiResponse> {
    const { async = true, systemMetadata = false } = request.parameters as Query;
    const proposals = request.proposals ?? listed(request, changeType);
    if (async && changeType === "PATCH") {
      return { ...(await write(proposals, request, context)), status: 202 };
    }
    const created = await createdByPatches(proposals, context.catalog);
    const response = await write(proposals, request, context);
    const traceId = async ? traceIdOf(response) : undefined;
    const members: string[] = [];
    const byName = Map.groupBy(proposals, nameIn);
    for (const name of jsonObject(request.body) ? Object.keys(request.body) : byName.keys()) {
      const found = await written(byName.get(name) ?? [], context.catalog, names, created);
      const text = await entitiesText(found, { version: "v3", systemMetadata, traceId });
      members.push(`${JSON.stringify(name)}:${text}`);
    }
    return { ...response, ...(async && { status: 202 }), json: `{${members.join(",")}}` };
  }

  const change = { ...row, path, writes: true, conditional: true } as const;
  const parameters = [forms.asynchronous(true), forms.systemMetadata];
  return [
    ...genericUrnRoutes(names),
    {
      ...change,
      method: "POST",
      name: "upsertGenericEntities",
      parameters,
      body: byType(forms.entitiesIn),
      proposals: (request) => listed(request, "UPSERT"),
      handle: (request, context) => many(request, context, "UPSERT"),
    },
    {
      ...change,
      method: "PATCH",
      name: "patchGenericEntities",
      parameters,
      body: byType(forms.entitiesIn),
      proposals: (request) => listed(request, "PATCH"),
      handle: (request, context) => many(request, context, "PATCH"),
    },
    {
      ...row,
      method: "POST",
      path: `${path}/batchGet`,
      name: "batchGetGenericEntities",
      parameters: [forms.systemMetadata, ...asOfParameters],
      body: byType(forms.requestedEntities),
      reads: "entities",
      async handle({ body, parameters }, { catalog }) {
        const { systemMetadata = false } = parameters as Query;
        const members: string[] = [];
        for (const [name, list] of Object.entries(body as Record<string, readonly Member[]>)) {
          const entityType = names.known(name, "not_found");
          const found = await findMembers(list, { entityType, names, catalog });
          const text = await entitiesText(found, { version: "v3", systemMetadata });
          members.push(`${JSON.stringify(name)}:${text}`);
        }
        return { json: `{${members.join(",")}}` };
      },
    },
  ];
}
