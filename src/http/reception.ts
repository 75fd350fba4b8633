/**
 * What a request says before its body is read: protocol, caller, key and parameters. It is noted
 * on the request, so that an answer given at any later point knows how to speak.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { CatalogError } from "../core/errors.ts";
import type { Position } from "../core/position.ts";
import { takesJson } from "./accept.ts";
import type { Address } from "./address.ts";
import { type CallerRules, readCaller } from "./caller.ts";
import { readConditions } from "./conditions.ts";
import type { Ask, Endpoint } from "./endpoint.ts";
import type { FixedText } from "./fixed-text.ts";
import { refuseMoment } from "./moments.ts";
import { readParameters } from "./parameters.ts";
import { decodeOnce } from "./percent.ts";
import { type Protocol, readProtocol } from "./protocol.ts";
import { parseQuery } from "./query.ts";
import type { RouteTable } from "./route-table.ts";
import { explainUnrouted, methodsAt, type Unrouted } from "./unrouted.ts";

export interface Noted {
  /** Undefined where no endpoint takes the request. */
  readonly endpoint: Endpoint | undefined;
  /** Undefined for paths outside the resources: they have none. */
  readonly protocol: Protocol | undefined;
  /** For whom the token of the request acts. */
  subject?: string | undefined;
  ask: Ask | undefined;
  unrouted: Unrouted | undefined;
  /** Of a read: the position that what is not there is not there at. */
  shown?: Position;
  /** What it was refused with, or failed. */
  failure?: CatalogError;
  /** The fixed text of its response. */
  fixed?: FixedText | undefined;
  /** Its answer has no end of its own. */
  streamed?: boolean;
  /** The response; absent until an endpoint is found. */
  response?: ServerResponse;
  /** Aborts a stream or a wait of the response; absent until its endpoint asks for the signal. */
  ending?: AbortController;
}

export interface ReceptionRules extends CallerRules {
  /** Whether an Authorization header shows the operator's token. */
  readonly admitsOperator: (authorization: string | undefined) => boolean;
  readonly table: RouteTable;
  readonly recordPrefix: string;
}

const addressMark = Symbol("address");
type Addressed = IncomingMessage & { [addressMark]?: Address };

/** Notes the address on the raw request: it is known before there is any other. */
export function noteAddress(request: IncomingMessage, address: Address): void {
  (request as Addressed)[addressMark] = address;
}

const addressOf = (request: IncomingMessage): Address =>
  (request as Addressed)[addressMark] ?? { path: request.url ?? "/", rawQuery: "" };

/** The target as it was sent; the router's own has replaced it in `url`. */
const targetOf = (request: IncomingMessage): string =>
  (request as { originalUrl?: string }).originalUrl ?? request.url ?? "/";

export function beginNotes(request: IncomingMessage, endpoint: Endpoint | undefined): Noted {
  const protocol =
    addressOf(request).resource === undefined ? undefined : readProtocol(request.headers);
  return { endpoint, protocol, ask: undefined, unrouted: undefined };
}

/**
 * Reads all but the body, for whom the token of the request acts (identify.ts). Throws
 * `unauthenticated`, `malformed` or `forbidden`.
 */
export function receive(
  request: IncomingMessage,
  noted: Noted,
  rules: ReceptionRules,
  subject?: string | undefined,
): Ask {
  const { endpoint, protocol } = noted;
  const { headers } = request;
  const host = headers.host;
  if (endpoint?.access === "operator" && subject === undefined) admitOperator(request, rules);
  if (endpoint === undefined || protocol === undefined) {
    const { rawQuery } = addressOf(request);
    if (endpoint !== undefined) refuseMoment(endpoint, rawQuery);
    // Clients of these doors write blanks as forms do.
    const plusIsBlank = endpoint?.path.startsWith("/openapi/") === true;
    const query = parseQuery(rawQuery, plusIsBlank);
    const parameters = readParameters(query, endpoint?.parameters, headers);
    const reads = endpoint === undefined || endpoint.method === "GET" || endpoint.method === "HEAD";
    // Who reads an open page is nobody's business.
    const anyone = endpoint === undefined || (reads && endpoint.open === true);
    const caller = anyone ? {} : readCaller(request, rules, subject);
    const { accept } = headers;
    const changes = endpoint?.writes === true || endpoint?.conditional === true;
    const conditions = changes ? readConditions(headers, endpoint) : undefined;
    const asked = { parameters, conditions, host, accept };
    return { ...NO_KEY, ...asked, body: undefined, caller, dialect: "interface" };
  }
  if (protocol.fault !== undefined) throw protocol.fault;
  if (!takesJson(headers.accept)) throw unacceptable(headers.accept ?? "", noted);
  const method = headers["x-restli-method"];
  if (method !== undefined && String(method).toUpperCase() !== endpoint.kind.toUpperCase()) {
    throw refuseUnrouted(request, noted, rules);
  }
  const { rawKey, rawQuery, action } = addressOf(request);
  refuseMoment(endpoint, rawQuery);
  // What stands before this service may have looked at another one.
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
    dialect: protocol.dialect,
    host,
  };
}

function unacceptable(accept: string, noted: Noted): CatalogError {
  const shown = accept.length > 80 ? `${accept.slice(0, 80)}…` : accept;
  const error = new CatalogError("malformed", `the answer is JSON, and "${shown}" is accepted`, {
    hint: "Send Accept: application/json, or none",
  });
  noted.unrouted = { error, status: 406 };
  return error;
}

const ACTION = "action=";

const NO_KEY = { key: "", path: {} } as const;

const AUTHORIZATION = /^authorization$/i;

/** Several headers might be told apart by others that read the request: none of them counts. */
function admitOperator(request: IncomingMessage, rules: ReceptionRules): void {
  const { authorization } = request.headers;
  const given = request.rawHeaders.filter((name, i) => i % 2 === 0 && AUTHORIZATION.test(name));
  if (given.length === 1 && rules.admitsOperator(authorization)) return;
  throw new CatalogError(
    "unauthenticated",
    authorization === undefined
      ? "the operations ask for the operator's token"
      : "the Authorization header does not show the operator's token",
    {
      hint: "Send Authorization: Bearer and the token; its file is operator.token in the data directory, unless --operator-token-file names another",
    },
  );
}

/** The address, with the path of a page as the router sees it: a urn in it is one segment. */
function placeOf(request: IncomingMessage): Address {
  const address = addressOf(request);
  if (address.resource !== undefined || !address.path.startsWith("/")) return address;
  return { ...address, path: request.url?.split("?", 1)[0] ?? address.path };
}

/** What may be asked where the request asks, for the Allow header; undefined where nothing is. */
export function allowedAt(request: IncomingMessage, table: RouteTable): string | undefined {
  const methods = methodsAt(placeOf(request), table);
  return methods.length === 0 ? undefined : [...methods, "OPTIONS"].join(", ");
}

/** Why no endpoint takes the request; noted, too, for what the answer needs beside it. */
export function refuseUnrouted(
  request: IncomingMessage,
  noted: Noted,
  rules: Pick<ReceptionRules, "table" | "recordPrefix">,
): CatalogError {
  noted.unrouted = explainUnrouted(
    {
      address: placeOf(request),
      method: request.method ?? "GET",
      target: targetOf(request),
      restliMethod: String(request.headers["x-restli-method"] ?? ""),
    },
    rules.table,
    rules.recordPrefix,
  );
  return noted.protocol?.fault ?? noted.unrouted.error;
}
