/**
 * Errors of requests that no endpoint accepts: DataHub's message, and the available methods. OPTIONS
 * returns these as well.
 */
import { CatalogError } from "../../core/errors.ts";
import type { RequestAddress } from "../request/target.ts";
import { hasKey, isPathOf, type RouteTable, resourceOf } from "../route-table.ts";
import type { Endpoint, Resource } from "../schemas/endpoint.ts";
import { errorFormAt } from "./errors.ts";

export interface NotFoundRules {
  readonly error: CatalogError;
  /** Overrides the status of the error. */
  readonly status?: number;
  /** Methods of the path, for the Allow header. */
  readonly allow?: string;
  /** The error form of the path. */
  readonly errorForm?: Endpoint["errorForm"];
}

interface UnroutedRequest {
  readonly address: RequestAddress;
  readonly method: string;
  /** As sent. */
  readonly target: string;
  /** X-RestLi-Method, empty when absent. */
  readonly restliMethod: string;
}

export function explainNotFound(
  request: UnroutedRequest,
  table: RouteTable,
  recordPrefix: string,
): NotFoundRules {
  const { address, method } = request;
  const resource = table.resources.find(({ name }) => name === address.resource);
  if (resource !== undefined && method !== "OPTIONS") {
    return { error: notFoundResource(request, resource, table.endpoints, recordPrefix) };
  }
  const path = shown(address.path);
  const methods = methodsAt(address, table);
  const errorForm = errorFormAt(address.path);
  if (methods.length === 0) {
    return {
      errorForm,
      error: new CatalogError("not_found", `the path "${path}" does not exist`, {
        hint: "GET /restli/docs lists all paths",
      }),
    };
  }
  const allow = methods.join(", ");
  const keeps = errorForm === "registry" && method === "DELETE";
  return {
    error: new CatalogError("malformed", `${method} is not allowed for "${path}"`, {
      hint: keeps ? SCHEMAS_STAY : `Use ${methods.join(" or ")}`,
    }),
    status: 405,
    allow,
    errorForm,
  };
}

/** Methods of the endpoints of the path, whatever the query; empty for an unknown path. */
export function methodsAt(
  address: RequestAddress,
  { endpoints, web = [] }: RouteTable,
): readonly string[] {
  const { resource, rawKey, path } = address;
  const isThere = (endpoint: Endpoint): boolean =>
    resource === undefined
      ? isPathOf(endpoint, path)
      : endpoint.kind !== "page" &&
        resourceOf(endpoint) === resource &&
        hasKey(endpoint) === (rawKey !== undefined);
  const offered = [...endpoints, ...web]
    .filter(isThere)
    .flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return [...new Set(offered)];
}

const SCHEMAS_STAY =
  "Schemas and their versions cannot be deleted: messages in Kafka refer to them";

function notFoundResource(
  { address, method, target, restliMethod }: UnroutedRequest,
  resource: Resource,
  endpoints: readonly Endpoint[],
  recordPrefix: string,
): CatalogError {
  const own = endpoints.filter(
    (endpoint) => endpoint.kind !== "page" && resourceOf(endpoint) === resource.name,
  );
  const offers = offersOf(resource, own);
  const uri = shown(target);
  if (address.action !== undefined && method !== "POST") {
    return new CatalogError(
      "malformed",
      `All action methods (specified via 'action' in URI) must be submitted as a POST (was ${method})`,
      { hint: offers },
    );
  }
  const known = own.some(({ kind, name }) => kind === "action" && name === address.action);
  if (address.action !== undefined && (!known || address.rawKey !== undefined)) {
    const implementation = `${recordPrefix}.metadata.resources.${resource.implementation}`;
    return new CatalogError(
      "malformed",
      `POST operation named ${shown(address.action)} not supported on resource '${implementation}' URI: '${uri}'`,
      { hint: offers },
    );
  }
  return new CatalogError(
    "malformed",
    `${method} operation not supported for URI: '${uri}' with X-RestLi-Method: '${shown(restliMethod)}'`,
    { hint: offers },
  );
}

function offersOf(resource: Resource, own: readonly Endpoint[]): string {
  const actions = own.filter(({ kind }) => kind === "action").map(({ name }) => name);
  const offers = own.flatMap(({ kind, method, path }) => {
    if (kind === "batch_get") return [`GET ${path}?ids=List(<urn>,…)`];
    return kind === "action" ? [] : [`${method} ${path.replace("{urn}", "<urn>")}`];
  });
  if (actions.length > 0) offers.push(`POST /${resource.name}?action=${actions.join("|")}`);
  return `Use ${offers.join(", or ")}`;
}

const shown = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
