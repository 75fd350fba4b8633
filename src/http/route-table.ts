/**
 * All endpoints, and how a request finds its own: by resource and action, key or ids, never by matching
 * a key against patterns. The router gets the endpoint's plain path; requests without an endpoint get
 * a path that no endpoint has.
 */
import type { SignIn } from "../auth/sign-in/sign-in.ts";
import { ownValue } from "../lib/own-value.ts";
import type { McpEndpoint } from "../mcp/mcp-server.ts";
import type { EntityOutline } from "./docs/docs-model.ts";
import type { RequestAddress } from "./request/target.ts";
import { openApiRoutes } from "./routes/openapi/openapi.ts";
import { auditRoutes } from "./routes/operations/audit.ts";
import { knownParametersOnly } from "./routes/operations/operation-forms.ts";
import { operationRoutes, operationsResource } from "./routes/operations/operations.ts";
import { statusRoutes } from "./routes/operations/status.ts";
import { aspectRoutes, aspectsResource } from "./routes/restli/aspects.ts";
import { browseRoutes } from "./routes/restli/browse.ts";
import { deleteRoutes } from "./routes/restli/delete.ts";
import { entitiesResource, entityRoutes } from "./routes/restli/entities.ts";
import { entitiesV2Resource, entityV2Routes } from "./routes/restli/entities-v2.ts";
import {
  entitiesVersionedResource,
  entityVersionedRoutes,
} from "./routes/restli/entities-versioned.ts";
import { platformResource, platformRoutes } from "./routes/restli/platform.ts";
import { relationshipRoutes, relationshipsResource } from "./routes/restli/relationships.ts";
import { runsResource, runsRoutes } from "./routes/restli/runs.ts";
import { searchRoutes } from "./routes/restli/search.ts";
import { searchLineageRoutes } from "./routes/restli/search-lineage.ts";
import { usageStatsResource, usageStatsRoutes } from "./routes/restli/usage-stats.ts";
import { authRoutes } from "./routes/service/auth.ts";
import { changesRoutes } from "./routes/service/changes.ts";
import { type EventsOptions, eventsRoutes } from "./routes/service/events.ts";
import { type GraphqlOptions, graphqlRoutes } from "./routes/service/graphql.ts";
import { mcpRoutes } from "./routes/service/mcp.ts";
import {
  type SchemaRegistryOptions,
  schemaRegistryRoutes,
} from "./routes/service/schema-registry.ts";
import { type ServicePagesOptions, servicePages } from "./routes/service/service-pages.ts";
import { timelineRoutes } from "./routes/service/timeline.ts";
import type { Endpoint, Resource } from "./schemas/endpoint.ts";

export interface RouteTable {
  readonly endpoints: readonly Endpoint[];
  readonly resources: readonly Resource[];
  /** Endpoints that only the browser application uses; the documentation does not list them. */
  readonly web?: readonly Endpoint[];
}

interface RouteOptions extends ServicePagesOptions {
  /** Absent without GraphQL. */
  readonly graphql?: GraphqlOptions | undefined;
  /** Absent without MCP. */
  readonly mcp?: McpEndpoint | undefined;
  /** Entity types of the model and their aspects. */
  readonly entities?: readonly EntityOutline[] | undefined;
  /** Namespace of the urns. */
  readonly urnNamespace: string;
  /** Absent without a schema registry. */
  readonly schemaRegistry?: SchemaRegistryOptions | undefined;
  /** Absent when events cannot be polled. */
  readonly events?: EventsOptions | undefined;
  /** Absent without users that sign in. */
  readonly signIn?: SignIn | undefined;
}

export const createRouteTable = (options: RouteOptions): RouteTable => ({
  resources: [
    aspectsResource,
    entitiesResource,
    entitiesV2Resource,
    entitiesVersionedResource,
    relationshipsResource,
    usageStatsResource,
    platformResource,
    operationsResource,
    runsResource,
  ],
  endpoints: [
    ...aspectRoutes,
    ...entityRoutes,
    ...deleteRoutes.map(knownParametersOnly),
    ...searchRoutes,
    ...searchLineageRoutes,
    ...browseRoutes,
    ...entityV2Routes,
    ...entityVersionedRoutes,
    ...relationshipRoutes,
    ...runsRoutes.map((row) => (row.writes === true ? knownParametersOnly(row) : row)),
    ...usageStatsRoutes,
    ...platformRoutes,
    ...[...operationRoutes, ...auditRoutes, ...statusRoutes].map(knownParametersOnly),
    ...changesRoutes,
    ...timelineRoutes,
    ...(options.events === undefined ? [] : eventsRoutes(options.events)),
    ...openApiRoutes(options.entities ?? [], options.urnNamespace),
    ...(options.schemaRegistry === undefined ? [] : schemaRegistryRoutes(options.schemaRegistry)),
    ...(options.graphql === undefined ? [] : graphqlRoutes(options.graphql)),
    ...(options.mcp === undefined ? [] : mcpRoutes(options.mcp)),
    ...(options.signIn === undefined ? [] : authRoutes(options.signIn)),
    ...servicePages(options),
  ],
});

/** The router's path of an endpoint. */
export function routerPath(endpoint: Endpoint): string {
  if (endpoint.kind === "page")
    return endpoint.path.replace("{*}", "*").replace(/\{(\w+)\}/g, ":$1");
  const resource = resourceOf(endpoint);
  return endpoint.kind === "action"
    ? `/${resource}/action/${endpoint.name}`
    : `/${resource}/${endpoint.kind}`;
}

export const resourceOf = (endpoint: Endpoint): string => endpoint.path.split("/")[1] ?? "";

/** True when the path of a page, which may contain `{names}`, matches. */
export function isPathOf(endpoint: Endpoint, path: string): boolean {
  if (endpoint.kind !== "page") return false;
  if (!endpoint.path.includes("{")) return endpoint.path === path;
  if (endpoint.path.endsWith("{*}")) return path.startsWith(endpoint.path.slice(0, -"{*}".length));
  const parts = endpoint.path.split("/");
  const given = path.split("/");
  return (
    parts.length === given.length &&
    parts.every((part, i) => part.startsWith("{") || part === given[i])
  );
}

/** The router's path of requests without an endpoint. */
export const NOT_FOUND_PATH = "/-";
const IDS = /(?:^|&)ids(?:(?:\[|%5[Bb])\d*(?:\]|%5[Dd]))?=/;

/** The router's path of a request; outside the resources the path itself, with its query. */
export function createRoutePlan(
  table: RouteTable,
  pagePath: (path: string) => string = (path) => path,
): (address: RequestAddress, method: string | undefined) => string {
  const keyed = new Map<string, Map<string, string>>();
  const keyless = new Map<string, Map<string, string>>();
  for (const endpoint of table.endpoints.filter(({ kind }) => kind !== "page")) {
    const paths = hasKey(endpoint) ? keyed : keyless;
    const ofResource = paths.get(resourceOf(endpoint)) ?? new Map<string, string>();
    ofResource.set(endpoint.kind, routerPath(endpoint));
    paths.set(resourceOf(endpoint), ofResource);
  }
  const actions = new Map<string, Map<string, string>>();
  for (const endpoint of table.endpoints.filter(({ kind }) => kind === "action")) {
    const ofResource = actions.get(resourceOf(endpoint)) ?? new Map<string, string>();
    ofResource.set(endpoint.name, routerPath(endpoint));
    actions.set(resourceOf(endpoint), ofResource);
  }

  return (address, method) => {
    const { resource, action, rawKey, rawQuery, path } = address;
    if (resource === undefined) {
      if (!path.startsWith("/")) return NOT_FOUND_PATH;
      return rawQuery === "" ? pagePath(path) : `${pagePath(path)}?${rawQuery}`;
    }
    if (action !== undefined) {
      if (method !== "POST" || rawKey !== undefined) return NOT_FOUND_PATH;
      return actions.get(resource)?.get(action) ?? NOT_FOUND_PATH;
    }
    const plain = ownValue(PLAIN_KINDS, method ?? "");
    if (plain === undefined) return NOT_FOUND_PATH;
    const paths = (rawKey === undefined ? keyless : keyed).get(resource);
    const batch = rawKey === undefined && plain === "get" && rawQuery.includes("ids");
    return paths?.get(batch && IDS.test(rawQuery) ? "batch_get" : plain) ?? NOT_FOUND_PATH;
  };
}

const PLAIN_KINDS: Readonly<Record<string, Endpoint["kind"]>> = {
  GET: "get",
  HEAD: "get",
  DELETE: "delete",
};

/** True when the path ends with a key: `/aspects/{urn}`. */
export const hasKey = ({ path }: Endpoint): boolean => path.endsWith("}");
