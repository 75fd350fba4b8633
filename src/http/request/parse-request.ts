/**
 * Request parsing before the body: protocol, caller, key and parameters. The request object holds the
 * result, so that every later response can use it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { CatalogError } from "../../core/errors.ts";
import type { Position } from "../../core/position.ts";
import type { FixedText } from "../response/fixed-text.ts";
import { explainNotFound, methodsAt, type NotFoundRules } from "../response/not-found.ts";
import type { RouteTable } from "../route-table.ts";
import type { ApiRequest, Endpoint } from "../schemas/endpoint.ts";
import { takesJson } from "./accept.ts";
import { rejectAsOf } from "./as-of-parameters.ts";
import { type CallerRules, readCaller } from "./caller/caller.ts";
import { readConditions } from "./condition-headers.ts";
import { readParameters, rejectUnknown } from "./parameters.ts";
import { decodeOnce } from "./percent.ts";
import { type Protocol, readProtocol } from "./protocol.ts";
import { parseQuery } from "./query.ts";
import type { RequestAddress } from "./target.ts";

export interface RequestState {
  /** Undefined when no endpoint accepts the request. */
  readonly endpoint: Endpoint | undefined;
  /** Undefined for paths outside the rest.li resources. */
  readonly protocol: Protocol | undefined;
  /** The user of the request's token. */
  subject?: string | undefined;
  apiRequest: ApiRequest | undefined;
  notFound: NotFoundRules | undefined;
  /** Of a read: the position of a not_found response. */
  shown?: Position;
  /** The error that rejected the request. */
  failure?: CatalogError;
  /** The fixed text of its response. */
  fixed?: FixedText | undefined;
  /** The response is a stream without an end. */
  streamed?: boolean;
  /** The response; absent until an endpoint is found. */
  response?: ServerResponse;
  /** Aborts a stream or a wait of the response; absent until its endpoint asks for the signal. */
  ending?: AbortController;
}

export interface RequestRules extends CallerRules {
  /** True when an Authorization header carries the admin token. */
  readonly admitsOperator: (authorization: string | undefined) => boolean;
  readonly table: RouteTable;
  readonly recordPrefix: string;
}

const addressMark = Symbol("address");
type Addressed = IncomingMessage & { [addressMark]?: RequestAddress };

/** Stores the address on the raw request, before the framework creates its own request. */
export function noteAddress(request: IncomingMessage, address: RequestAddress): void {
  (request as Addressed)[addressMark] = address;
}

const addressOf = (request: IncomingMessage): RequestAddress =>
  (request as Addressed)[addressMark] ?? { path: request.url ?? "/", rawQuery: "" };

/** The target as sent; `url` holds the router's path. */
const targetOf = (request: IncomingMessage): string =>
  (request as { originalUrl?: string }).originalUrl ?? request.url ?? "/";

export function startRequest(
  request: IncomingMessage,
  endpoint: Endpoint | undefined,
): RequestState {
  const protocol =
    addressOf(request).resource === undefined ? undefined : readProtocol(request.headers);
  return { endpoint, protocol, apiRequest: undefined, notFound: undefined };
}

/**
 * Reads everything except the body. The token's user is known already (caller/authenticate.ts). Throws
 * `unauthenticated`, `malformed` or `forbidden`.
 */
export function receive(
  request: IncomingMessage,
  state: RequestState,
  rules: RequestRules,
  subject?: string | undefined,
): ApiRequest {
  const { endpoint, protocol } = state;
  const { headers } = request;
  const host = headers.host;
  if (endpoint?.access === "operator" && subject === undefined) admitOperator(request, rules);
  if (endpoint === undefined || protocol === undefined) {
    const { rawQuery } = addressOf(request);
    if (endpoint !== undefined) rejectAsOf(endpoint, rawQuery);
    // Clients of /openapi encode blanks as forms do.
    const isOpenApi = endpoint?.path.startsWith("/openapi/") === true;
    const query = parseQuery(rawQuery, isOpenApi);
    if (isOpenApi && endpoint.method === "DELETE") rejectUnknown(query, endpoint.parameters);
    const parameters = readParameters(query, endpoint?.parameters, headers);
    const reads = endpoint === undefined || endpoint.method === "GET" || endpoint.method === "HEAD";
    // Reads of open pages have no caller.
    const anyone = endpoint === undefined || (reads && endpoint.open === true);
    const caller = anyone ? {} : readCaller(request, rules, subject);
    const { accept } = headers;
    const changes = endpoint?.writes === true || endpoint?.conditional === true;
    const conditions = changes ? readConditions(headers, endpoint) : undefined;
    const address = request.socket.remoteAddress;
    const asked = { parameters, conditions, host, accept, address };
    return { ...NO_KEY, ...asked, body: undefined, caller, wireForm: "annals" };
  }
  if (protocol.fault !== undefined) throw protocol.fault;
  if (!takesJson(headers.accept)) throw unacceptable(headers.accept ?? "", state);
  const method = headers["x-restli-method"];
  if (method !== undefined && String(method).toUpperCase() !== endpoint.kind.toUpperCase()) {
    throw rejectNotFound(request, state, rules);
  }
  const { rawKey, rawQuery, action } = addressOf(request);
  rejectAsOf(endpoint, rawQuery);
  // With two actions, a proxy may have checked the other one.
  if (action !== undefined && rawQuery.indexOf(ACTION) !== rawQuery.lastIndexOf(ACTION)) {
    parseQuery(rawQuery, protocol.plusIsBlank).one("action");
  }
  const declared = endpoint.parameters;
  return {
    key: rawKey === undefined ? "" : decodeOnce(rawKey, protocol.plusIsBlank),
    path: NO_KEY.path,
    parameters:
      declared === undefined
        ? {}
        : readParameters(parseQuery(rawQuery, protocol.plusIsBlank), declared, headers),
    body: undefined,
    caller: readCaller(request, rules, subject),
    conditions: endpoint.writes === true ? readConditions(headers, endpoint) : undefined,
    wireForm: protocol.wireForm,
    host,
  };
}

function unacceptable(accept: string, state: RequestState): CatalogError {
  const shown = accept.length > 80 ? `${accept.slice(0, 80)}…` : accept;
  const error = new CatalogError(
    "malformed",
    `Accept is "${shown}", but the response is application/json`,
    {
      hint: "Send Accept: application/json, or none",
    },
  );
  state.notFound = { error, status: 406 };
  return error;
}

const ACTION = "action=";

const NO_KEY = { key: "", path: {} } as const;

const AUTHORIZATION = /^authorization$/i;

/** Several headers could be read differently by proxies, so none is accepted. */
function admitOperator(request: IncomingMessage, rules: RequestRules): void {
  const { authorization } = request.headers;
  const given = request.rawHeaders.filter((name, i) => i % 2 === 0 && AUTHORIZATION.test(name));
  if (given.length === 1 && rules.admitsOperator(authorization)) return;
  throw new CatalogError(
    "unauthenticated",
    authorization === undefined
      ? "operations require the admin token, or an access token with the privilege"
      : "the Authorization header has neither the admin token nor a token with the privilege",
    {
      hint: "Send Authorization: Bearer <token>; the admin token is in the file operator.token of the data directory, unless --operator-token-file names another",
    },
  );
}

/** The address; for a page with the router's path, where an encoded urn is one segment. */
function requestTarget(request: IncomingMessage): RequestAddress {
  const address = addressOf(request);
  if (address.resource !== undefined || !address.path.startsWith("/")) return address;
  return { ...address, path: request.url?.split("?", 1)[0] ?? address.path };
}

/** The methods for the Allow header; undefined for an unknown path. */
export function allowedAt(request: IncomingMessage, table: RouteTable): string | undefined {
  const methods = methodsAt(requestTarget(request), table);
  return methods.length === 0 ? undefined : [...methods, "OPTIONS"].join(", ");
}

/** The error for a request without endpoint; also stores the details of its response. */
export function rejectNotFound(
  request: IncomingMessage,
  state: RequestState,
  rules: Pick<RequestRules, "table" | "recordPrefix">,
): CatalogError {
  state.notFound = explainNotFound(
    {
      address: requestTarget(request),
      method: request.method ?? "GET",
      target: targetOf(request),
      restliMethod: String(request.headers["x-restli-method"] ?? ""),
    },
    rules.table,
    rules.recordPrefix,
  );
  return state.protocol?.fault ?? state.notFound.error;
}
