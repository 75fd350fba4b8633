/**
 * The HTTP server: each request becomes one catalog call.
 *
 * The target is parsed, and the router gets the path of the endpoint (route-table.ts). Protocol,
 * caller, key and parameters are read (request/parse-request.ts), then the body is validated and the endpoint's
 * handler runs. reply.ts sends all errors in one form.
 */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { AuditTrail } from "../auth/audit.ts";
import type { SignIn } from "../auth/sign-in/sign-in.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { JsonLimits } from "../core/json-text.ts";
import type { Operations } from "../jobs/operations.ts";
import type { McpEndpoint } from "../mcp/mcp-server.ts";
import type { EntityOutline } from "./docs/docs-model.ts";
import { createDocsPage } from "./docs/docs-page.ts";
import { openApiDocument } from "./docs/openapi.ts";
import { auditRequests, noteAudited } from "./hooks/audit.ts";
import { decodedBody, hasBody } from "./hooks/compressed-bodies.ts";
import { compressResponses } from "./hooks/compressed-responses.ts";
import { type EndedTokens, endWithTokens } from "./hooks/ended-tokens.ts";
import { checkHost, type HostRule } from "./hooks/host-check.ts";
import {
  type LargeBodies,
  type LargeBody,
  largeBytes,
  ReadBodyHolder,
  transferable,
} from "./hooks/large-bodies.ts";
import {
  countRequests,
  type ServerMetrics,
  type ServerTraces,
  traceRequests,
} from "./hooks/metrics.ts";
import { checkOrigin, shareWithOrigins } from "./hooks/origin-check.ts";
import { createHeldBodies, heldBytesMax } from "./request/body/body-memory-limit.ts";
import { createLazyBodyCompiler, noCompilers } from "./request/body/body-schemas.ts";
import {
  type BodyForm,
  jsonContentTypes,
  parseJsonBody,
  unreadableContentType,
} from "./request/body/json-body.ts";
import { type Access, identify } from "./request/caller/authenticate.ts";
import { ForgedActor } from "./request/caller/caller.ts";
import { applySession } from "./request/caller/session.ts";
import { createEntityPaths } from "./request/entity-paths.ts";
import {
  allowedAt,
  beginNotes,
  noteAddress,
  type RequestRules,
  type RequestState,
  receive,
  refuseUnrouted,
} from "./request/parse-request.ts";
import { parseTarget } from "./request/target.ts";
import { answerClientError, refuseExpectation } from "./response/client-error.ts";
import { answerAt } from "./response/consistency-headers.ts";
import { createFixedText, type FixedText } from "./response/fixed-text.ts";
import { watchUnfinished } from "./response/incomplete-requests.ts";
import { createReplies, type Replies, type ServerLog } from "./response/reply.ts";
import {
  createStreams,
  type StreamLimits,
  type Streams,
  streamLimits,
} from "./response/streams.ts";
import { createRoutePlan, createRouteTable, NOWHERE, routerPath } from "./route-table.ts";
import type { EventsOptions } from "./routes/service/events.ts";
import type { GraphqlOptions } from "./routes/service/graphql.ts";
import type { SchemaRegistryOptions } from "./routes/service/schema-registry.ts";
import {
  type Answer,
  type Ask,
  type Backing,
  type Endpoint,
  endpointId,
  noneStale,
} from "./schemas/endpoint.ts";
import { refuseUnserved } from "./served-endpoints.ts";
import { sessionRoutes } from "./web/session-routes.ts";
import { type WebApp, webRoutes } from "./web/web-routes.ts";

export interface HttpServerConfig {
  /** Largest request body. */
  readonly bodyBytesMax: number;
  /** Bytes of the bodies of all requests in flight; 64 MiB when absent. */
  readonly heldBytesMax?: number | undefined;
  /** Limits of JSON bodies that this thread parses; the defaults when absent. */
  readonly jsonLimits?: JsonLimits | undefined;
  /** True on loopback without token authentication: the actor header is trusted. */
  readonly actorHeaderTrusted: boolean;
  /** `li` */
  readonly urnNamespace: string;
  /** `com.linkedin` */
  readonly recordPrefix: string;
  /** Version of the service. */
  readonly version: string;
  readonly modelFingerprint: string;
  /** False: serves health and operations, but not the catalog. True when absent. */
  readonly servesApi?: boolean | undefined;
  /** The hosts that requests may name; any when absent. */
  readonly hosts?: HostRule | undefined;
  /** Origins whose pages may use the service; none when absent. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** For the documentation. */
  readonly entities: readonly EntityOutline[];
}

interface HttpDoorOptions {
  readonly catalog: Catalog;
  readonly operations: Operations;
  /** Counts requests; absent without metrics. */
  readonly metrics?: ServerMetrics | undefined;
  /** True when an Authorization header carries the admin token. */
  readonly admitsOperator: (authorization: string | undefined) => boolean;
  readonly config: HttpServerConfig;
  readonly logger: ServerLog;
  /** Authentication; absent: everyone is admitted, and only operations check tokens. */
  readonly access?: Access | undefined;
  readonly graphql?: GraphqlOptions | undefined;
  readonly mcp?: McpEndpoint | undefined;
  readonly schemaRegistry?: SchemaRegistryOptions | undefined;
  /** Reads bodies over 256 KiB; when absent, this thread reads them. */
  readonly largeBodies?: LargeBodies | undefined;
  readonly events?: EventsOptions | undefined;
  /** Absent without users that sign in. */
  readonly signIn?: SignIn | undefined;
  /** The browser application; when absent, `/` redirects to the documentation. */
  readonly web?: WebApp | undefined;
  /** Progress of reading proposals from Kafka; absent without Kafka. */
  readonly proposals?: Backing["proposals"] | undefined;
  readonly streamLimits?: StreamLimits | undefined;
  /** Views that were built with another model; absent: none. */
  readonly stale?: Backing["stale"] | undefined;
  /** The catalog of a user; absent: the same catalog for all. */
  readonly catalogFor?: ((actor: string | undefined) => Catalog) | undefined;
  /** The audit trail; absent without one. */
  readonly audit?: Pick<AuditTrail, "note"> | undefined;
  /** Tracing; absent without it. */
  readonly traces?: ServerTraces | undefined;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

declare module "fastify" {
  interface FastifyRequest {
    noted: RequestState | null;
  }
}

/** Batch reads name their urns in the target: enough for about four hundred. */
const headerBytesMax = 65_536;
/** Enough for the longest urn with every character encoded. */
const pathPartCharactersMax = 8_000;
/** Timeout for receiving a request: enough for a full body over a slow connection. */
const requestMillisMax = 120_000;
/** Interval of the check of that timeout. */
const lookMillis = 5_000;

/** Creates the server; the caller listens. Closing lets requests in flight finish. */
export function createHttpServer(options: HttpDoorOptions): FastifyInstance {
  const { catalog, operations, metrics, config, logger } = options;
  const { access, graphql, schemaRegistry, now = Date.now } = options;
  const sessions = access !== undefined && options.web !== undefined;
  const metricsText = metrics?.text ?? (async () => "");
  const { stale = () => noneStale } = options;
  const proposals = options.proposals ?? (async () => []);
  const documented = createRouteTable({
    version: config.version,
    modelFingerprint: config.modelFingerprint,
    openApi: () => {
      openApi ??= createFixedText(JSON.stringify(openApiDocument(documented, config)));
      return { json: openApi.text, fixed: openApi };
    },
    docs: (host) => docs(host),
    entities: config.entities,
    urnNamespace: config.urnNamespace,
    graphql,
    mcp: options.mcp,
    schemaRegistry,
    events: options.events,
    signIn: options.signIn,
  });
  // Built on request, because it is large and rarely used.
  let openApi: FixedText | undefined;
  const docs = createDocsPage(documented, config);
  const web = [
    ...webRoutes(options.web),
    ...(sessions ? sessionRoutes({ ...config, ...access, signIn: options.signIn }) : []),
  ];
  const table = { ...documented, web };
  const plan = createRoutePlan(table, createEntityPaths(config.entities));
  const resources = new Set(table.resources.map(({ name }) => name));
  const replies = createReplies(config, logger, access);
  const rules: RequestRules = { ...config, table, admitsOperator: options.admitsOperator };

  const app = fastify({
    // The framework would create a logger per request; the service has its own log.
    logger: false,
    genReqId: requestIds(),
    bodyLimit: config.bodyBytesMax,
    requestTimeout: requestMillisMax,
    return503OnClosing: false,
    routerOptions: { maxParamLength: pathPartCharactersMax },
    // checkHost rejects a missing Host header, with a body like that of other errors.
    http: {
      maxHeaderSize: headerBytesMax,
      requireHostHeader: false,
      connectionsCheckingInterval: lookMillis,
    },
    clientErrorHandler: (error, socket) =>
      answerClientError(error, socket, { recordPrefix: config.recordPrefix, headerBytesMax }),
    frameworkErrors: replies.fail,
    schemaController: noCompilers,
    rewriteUrl: (request) => {
      const address = parseTarget(request.url ?? "/", resources);
      noteAddress(request, address);
      return plan(address, request.method);
    },
  });

  app.server.on("checkExpectation", (request, response) =>
    refuseExpectation(request, response, config),
  );
  const unfinished = watchUnfinished(app.server);
  const streams = createStreams(options.streamLimits ?? streamLimits, (fault) =>
    logger.error({ err: fault }, "a feed broke off"),
  );
  const endedTokens =
    access && endWithTokens({ ...unfinished, endOf: (token) => endOf(token, access) });
  app.addHook("preClose", async () => {
    streams.close();
    unfinished.cut();
  });
  app.addHook("onClose", async () => endedTokens?.close());
  app.addHook("onRequest", ({ raw, originalUrl }, _, done) =>
    attempt(() => checkHost(raw, originalUrl, config.hosts), done as Done),
  );
  const origins = new Set(config.corsOrigins);
  shareWithOrigins(app, origins);
  app.decorateRequest("noted", null);
  if (options.traces !== undefined) traceRequests(app, options.traces);
  if (metrics !== undefined) countRequests(app, metrics);
  if (options.audit !== undefined) auditRequests(app, options.audit);
  app.setErrorHandler(replies.fail);
  app.setValidatorCompiler(createLazyBodyCompiler());
  addBodyParsers(app, { largeBodies: options.largeBodies, limits: config.jsonLimits });
  const held = createHeldBodies(config.heldBytesMax ?? heldBytesMax);
  app.addHook("preParsing", (request, reply, payload, done) => {
    if (request.is404 || !hasBody(request.raw)) {
      done(null, payload);
      return;
    }
    attempt(() => {
      const body = decodedBody(request.raw, reply.raw);
      held.watch(body, reply.raw, request.routeOptions.bodyLimit ?? config.bodyBytesMax);
      return body;
    }, done as Done);
  });
  compressResponses(app);
  for (const endpoint of [...table.endpoints, ...table.web]) {
    addEndpoint(app, endpoint, {
      backing: { catalog, operations, proposals, metrics: metricsText, stale, now },
      catalogFor: options.catalogFor,
      replies,
      rules,
      access,
      sessions,
      origins,
      streams,
      endedTokens,
      audit: options.audit,
      servesApi: config.servesApi ?? true,
    });
  }
  const refuse = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const noted = beginNotes(request.raw, undefined);
    request.noted = noted;
    let allowed: string | undefined;
    const unrouted = () => {
      if (request.method === "OPTIONS") allowed = allowedAt(request.raw, table);
      if (allowed === undefined) throw refuseUnrouted(request.raw, noted, rules);
    };
    identified(request, undefined, { access, origins, sessions }, unrouted, (error) => {
      if (allowed === undefined) done(error);
      else replies.allow(reply, allowed, noted.protocol);
    });
  };
  // Unsupported methods and actions are rejected before their body is read.
  app.all(NOWHERE, {
    onRequest: (request, reply, done) => refuse(request, reply, done as Done),
    handler: () => undefined,
  });
  app.setNotFoundHandler((request, reply) => refuse(request, reply, (error) => reply.send(error)));
  return app;
}

/** The error that ends responses to this Authorization header; undefined while its token is valid. */
const endOf = async (token: string, { authentication, admitsMetrics }: Access) =>
  admitsMetrics?.(token) ? undefined : authentication.endOf(token);

interface ServerContext {
  readonly backing: Backing;
  readonly catalogFor: HttpDoorOptions["catalogFor"];
  readonly replies: Replies;
  readonly rules: RequestRules;
  readonly access: Access | undefined;
  /** True if cookies of sessions are accepted. */
  readonly sessions: boolean;
  readonly origins: ReadonlySet<string>;
  readonly streams: Streams;
  readonly endedTokens: EndedTokens | undefined;
  readonly audit: Pick<AuditTrail, "note"> | undefined;
  readonly servesApi: boolean;
}

function addEndpoint(app: FastifyInstance, endpoint: Endpoint, around: ServerContext): void {
  const { catalogFor, replies, rules, streams } = around;
  const { prepare, body, bodyBytesMax } = endpoint;
  app.route({
    method: endpoint.method,
    url: routerPath(endpoint),
    ...(body === undefined ? {} : { schema: { body } }),
    ...(bodyBytesMax !== undefined && { bodyLimit: bodyBytesMax }),
    onRequest: (request, reply, done) => {
      const noted = beginNotes(request.raw, endpoint);
      request.noted = noted;
      noted.response = reply.raw;
      around.endedTokens?.watch(reply, noted);
      // The framework calls no parser for a request without body and content type.
      if (body !== undefined) request.body = body.type === "array" ? [] : {};
      const begin = (subject: string | undefined): void => {
        refuseUnserved(endpoint, around.servesApi);
        noted.subject = subject;
        noted.ask = receive(request.raw, noted, rules, subject);
      };
      identified(request, endpoint, around, begin, done as Done);
    },
    ...(prepare !== undefined && {
      preValidation: (request, _, done) =>
        attempt(() => {
          if (request.body instanceof ReadBodyHolder) return;
          prepare(request.body as Record<string, unknown>);
        }, done as Done),
    }),
    handler: (request, reply) => {
      const noted = request.noted as RequestState;
      const ask = noted.ask as Ask;
      const { headers } = request;
      const path = endpoint.kind === "page" ? (request.params as Ask["path"]) : ask.path;
      const ending = () => endingOf(noted, reply.raw);
      const { body: sent } = request;
      const asked = { ...ask, body: sent, path, signal: () => ending().signal };
      if (sent instanceof ReadBodyHolder) Object.assign(asked, sent.read);
      const backing =
        catalogFor === undefined
          ? around.backing
          : { ...around.backing, catalog: catalogFor(ask.caller.actor) };
      const succeed = (answer: Answer): ReturnType<Replies["succeed"]> => {
        if (answer.audited !== undefined) noteAudited(around.audit, answer.audited, request);
        return replies.succeed(reply, answer, endpoint, noted.protocol);
      };
      const answer = answerAt(endpoint, asked, { backing, headers, noted });
      // A synchronous answer is sent without a promise.
      if (!(answer instanceof Promise) && answer.stream === undefined) {
        reply.send(succeed(answer));
        return;
      }
      return (async (): Promise<unknown> => {
        const ready = await answer;
        // The response has failed meanwhile: its token has ended.
        if (reply.sent) return reply;
        const body = succeed(ready);
        if (ready.stream === undefined || request.method === "HEAD") return body;
        noted.streamed = true;
        const name = ask.caller.actor ?? request.socket.remoteAddress ?? "";
        return streams.send(ready.stream, reply, { name, ending: ending() });
      })();
    },
  });
}

/** Aborts when the client disconnects, when the access token ends, or after the response. */
function endingOf(noted: RequestState, response: ServerResponse): AbortController {
  if (noted.ending === undefined) {
    const ending = new AbortController();
    response.once("close", () => ending.abort());
    noted.ending = ending;
  }
  return noted.ending;
}

function addBodyParsers(app: FastifyInstance, { largeBodies, limits }: BodyReading): void {
  app.removeAllContentTypeParsers();
  const parser = { parseAs: "buffer" } as const;
  const read = (request: FastifyRequest, body: Buffer, done: Done): void => {
    if (largeBodies !== undefined && body.length > largeBytes && !request.is404) {
      const reading = largeBodies.read(largeBodyOf(request, body));
      reading.then((one) => done(null, new ReadBodyHolder(one)), done);
      return;
    }
    const parse = () => parseJsonBody(body, formOf(request), limits);
    attempt(() => (request.is404 ? undefined : parse()), done);
  };
  app.addContentTypeParser<Buffer>("application/json", parser, read);
  app.addContentTypeParser<Buffer>(jsonContentTypes, parser, read);
  // Bodies without a content type, and with unsupported ones.
  app.addContentTypeParser<Buffer>("*", parser, (request, body, done) => {
    const type = request.headers["content-type"];
    if (type === undefined || request.is404) read(request, body, done);
    else done(unreadableContentType(type));
  });
}

interface BodyReading {
  readonly largeBodies: LargeBodies | undefined;
  readonly limits: JsonLimits | undefined;
}

function largeBodyOf(request: FastifyRequest, body: Buffer): LargeBody {
  const { endpoint, ask, response } = request.noted as RequestState;
  const { key, path, parameters } = ask as Ask;
  const { kind } = endpoint as Endpoint;
  return {
    endpoint: endpointId(endpoint as Endpoint),
    body: transferable(body),
    ask: { key, path: kind === "page" ? (request.params as Ask["path"]) : path, parameters },
    signal: endingOf(request.noted as RequestState, response as ServerResponse).signal,
  };
}

const formOf = ({ noted }: FastifyRequest): BodyForm =>
  noted?.endpoint === undefined ? "object" : (noted.endpoint.body?.type ?? "any");

type Done = (error: Error | null, value?: unknown) => void;

/** Checks session and origin, authenticates the caller, then calls `go`; mostly synchronously. */
function identified(
  request: FastifyRequest,
  endpoint: Endpoint | undefined,
  { access, sessions, origins }: Pick<ServerContext, "access" | "sessions" | "origins">,
  go: (subject: string | undefined) => void,
  done: Done,
): void {
  const refused = (error: unknown): void => {
    if (error instanceof ForgedActor) {
      const address = request.socket.remoteAddress;
      access?.authentication.noteRefusal({ reason: "actor header", address, text: error.message });
    }
    done(asError(error));
  };
  try {
    if (sessions && endpoint?.open !== true) applySession(request.raw);
    checkOrigin(request.raw, origins);
    const found = identify(request.raw, endpoint, access);
    if (found instanceof Promise) {
      found.then(go).then(() => done(null), refused);
      return;
    }
    go(found);
  } catch (error) {
    refused(error);
    return;
  }
  done(null);
}

/** Passes the result or error of the action to `done`, outside its own try. */
function attempt(action: () => unknown, done: Done): void {
  let value: unknown;
  try {
    value = action();
  } catch (error) {
    done(asError(error));
    return;
  }
  done(null, value);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

/** Unique among the nodes of one log: a random prefix and a counter. */
function requestIds(): () => string {
  const prefix = randomBytes(4).toString("hex");
  let count = 0;
  return () => {
    count++;
    return `${prefix}-${count.toString(36)}`;
  };
}
