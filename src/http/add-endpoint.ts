/** Routes of one endpoint: its hooks and its handler, from the request to the response. */
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AuditTrail } from "../auth/audit.ts";
import { networkOf } from "../auth/rate-limits.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { CatalogError } from "../core/errors.ts";
import { asError, attempt, type Done } from "./attempt.ts";
import { noteAudited } from "./hooks/audit.ts";
import type { EndedTokens } from "./hooks/ended-tokens.ts";
import { ReadBodyHolder } from "./hooks/large-bodies.ts";
import { checkOrigin } from "./hooks/origin-check.ts";
import { type Access, identify } from "./request/caller/authenticate.ts";
import { ForgedActor } from "./request/caller/caller.ts";
import { applySession } from "./request/caller/session.ts";
import {
  type RequestRules,
  type RequestState,
  receive,
  startRequest,
} from "./request/parse-request.ts";
import { respondAt } from "./response/consistency-headers.ts";
import type { Responses } from "./response/send-response.ts";
import type { Streams } from "./response/streams.ts";
import { routerPath } from "./route-table.ts";
import type { ApiContext, ApiRequest, ApiResponse, Endpoint } from "./schemas/endpoint.ts";

declare module "fastify" {
  interface FastifyRequest {
    state: RequestState | null;
  }
}

/** The parts of the server that every endpoint uses. */
interface ServerContext {
  readonly context: ApiContext;
  readonly catalogFor: ((actor: string | undefined) => Catalog) | undefined;
  readonly responses: Responses;
  readonly rules: RequestRules;
  readonly access: Access | undefined;
  /** True if cookies of sessions are accepted. */
  readonly sessions: boolean;
  readonly origins: ReadonlySet<string>;
  readonly streams: Streams;
  readonly endedTokens: EndedTokens | undefined;
  readonly audit: Pick<AuditTrail, "record"> | undefined;
  readonly servesApi: boolean;
}

/** Adds the route of an endpoint, which calls the catalog of the caller and sends the response. */
export function addEndpoint(app: FastifyInstance, endpoint: Endpoint, server: ServerContext): void {
  const { catalogFor, responses, rules, streams } = server;
  const { prepare, body, bodyBytesMax } = endpoint;
  app.route({
    method: endpoint.method,
    url: routerPath(endpoint),
    ...(body === undefined ? {} : { schema: { body } }),
    ...(bodyBytesMax !== undefined && { bodyLimit: bodyBytesMax }),
    onRequest: (request, reply, done) => {
      const state = startRequest(request.raw, endpoint);
      request.state = state;
      state.response = reply.raw;
      server.endedTokens?.watch(reply, state);
      // The framework calls no parser for a request without body and content type.
      if (body !== undefined) request.body = body.type === "array" ? [] : {};
      const begin = (subject: string | undefined): void => {
        rejectUnserved(endpoint, server.servesApi);
        state.subject = subject;
        state.apiRequest = receive(request.raw, state, rules, subject);
      };
      identified(request, endpoint, server, begin, done as Done);
    },
    ...(prepare !== undefined && {
      preValidation: (request, _, done) =>
        attempt(() => {
          if (request.body instanceof ReadBodyHolder) return;
          prepare(request.body as Record<string, unknown>);
        }, done as Done),
    }),
    handler: (request, reply) => {
      const state = request.state as RequestState;
      const apiRequest = state.apiRequest as ApiRequest;
      const { headers } = request;
      const path =
        endpoint.kind === "page" ? (request.params as ApiRequest["path"]) : apiRequest.path;
      const ending = () => endingOf(state, reply.raw);
      const { body: sent } = request;
      const asked = { ...apiRequest, body: sent, path, signal: () => ending().signal };
      if (sent instanceof ReadBodyHolder) Object.assign(asked, sent.read);
      const context =
        catalogFor === undefined
          ? server.context
          : { ...server.context, catalog: catalogFor(apiRequest.caller.actor) };
      const succeed = (response: ApiResponse): ReturnType<Responses["succeed"]> => {
        if (response.audited !== undefined) noteAudited(server.audit, response.audited, request);
        return responses.succeed(reply, response, endpoint, state.protocol);
      };
      const response = respondAt(endpoint, asked, { context, headers, state });
      // A synchronous response is sent without a promise.
      if (!(response instanceof Promise) && response.stream === undefined) {
        reply.send(succeed(response));
        return;
      }
      return (async (): Promise<unknown> => {
        const ready = await response;
        // The response has failed meanwhile, because its token has ended, or the client has disconnected.
        if (reply.sent || reply.raw.closed) return reply;
        const body = succeed(ready);
        if (ready.stream === undefined || request.method === "HEAD") return body;
        state.streamed = true;
        // Without a token anyone may name any actor.
        const actor = state.subject === undefined ? undefined : apiRequest.caller.actor;
        const name = actor ?? networkOf(request.socket.remoteAddress ?? "");
        return streams.send(ready.stream, reply, { name, ending: ending() });
      })();
    },
  });
}

/** Aborts when the client disconnects, when the access token ends, or after the response. */
export function endingOf(state: RequestState, response: ServerResponse): AbortController {
  if (state.ending === undefined) {
    const ending = new AbortController();
    if (response.closed) ending.abort();
    response.once("close", () => ending.abort());
    state.ending = ending;
  }
  return state.ending;
}

/** Checks session and origin, authenticates the caller, then calls `go`; mostly synchronously. */
export function identified(
  request: FastifyRequest,
  endpoint: Endpoint | undefined,
  { access, sessions, origins }: Pick<ServerContext, "access" | "sessions" | "origins">,
  go: (subject: string | undefined) => void,
  done: Done,
): void {
  const reject = (error: unknown): void => {
    if (error instanceof ForgedActor) {
      const address = request.socket.remoteAddress;
      access?.authentication.noteRejection({
        reason: "actor header",
        address,
        text: error.message,
      });
    }
    done(asError(error));
  };
  try {
    if (sessions && endpoint?.open !== true) applySession(request.raw);
    checkOrigin(request.raw, origins);
    const found = identify(request.raw, endpoint, access);
    if (found instanceof Promise) {
      found.then(go).then(() => done(null), reject);
      return;
    }
    go(found);
  } catch (error) {
    reject(error);
    return;
  }
  done(null);
}

/**
 * Throws `unavailable` for an endpoint of a role that the node does not have. Without the role `api` a node
 * serves only health, metrics, documents and operations, so that a load balancer with a wrong target
 * fails at once instead of slowing a worker.
 */
function rejectUnserved(endpoint: Endpoint, servesApi: boolean): void {
  if (servesApi || isServedByAll(endpoint)) return;
  throw new CatalogError("unavailable", "this node has not the role api", {
    hint: "Ask a node that has it: --roles names what a node does; this one answers /health, /metrics, /status and /operations",
  });
}

const isServedByAll = ({ access, group, open, path }: Endpoint): boolean =>
  access !== undefined || (group === undefined && open === true) || path === "/metrics";
