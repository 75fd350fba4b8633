/**
 * The HTTP server: each request becomes one catalog call.
 *
 * The target is parsed, and the router gets the path of the endpoint (route-table.ts). Protocol,
 * caller, key and parameters are read (request/parse-request.ts), then the body is validated and the endpoint's
 * handler runs. send-response.ts sends all errors in one form.
 */
import { randomBytes } from "node:crypto";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { AuditTrail } from "../auth/audit.ts";
import type { SignIn } from "../auth/sign-in/sign-in.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { JsonLimits } from "../core/json-text.ts";
import type { Operations } from "../jobs/operations.ts";
import type { McpEndpoint } from "../mcp/mcp-server.ts";
import { addEndpoint, identified } from "./add-endpoint.ts";
import { attempt, type Done } from "./attempt.ts";
import type { EntityOutline } from "./docs/docs-model.ts";
import { createDocsPage } from "./docs/docs-page.ts";
import { openApiDocument } from "./docs/openapi.ts";
import { auditRequests } from "./hooks/audit.ts";
import { decodedBody, hasBody } from "./hooks/compressed-bodies.ts";
import { compressResponses } from "./hooks/compressed-responses.ts";
import { endWithTokens } from "./hooks/ended-tokens.ts";
import { checkHost, type HostRule } from "./hooks/host-check.ts";
import type { LargeBodies } from "./hooks/large-bodies.ts";
import {
  limitLargeResponses,
  type ResponseLimits,
  responseLimits,
} from "./hooks/large-responses.ts";
import {
  countRequests,
  type ServerMetrics,
  type ServerTraces,
  traceRequests,
} from "./hooks/metrics.ts";
import { shareWithOrigins } from "./hooks/origin-check.ts";
import { createHeldBodies, heldBytesMax } from "./request/body/body-memory-limit.ts";
import { addBodyParsers } from "./request/body/body-parsers.ts";
import { createLazyBodyCompiler, noCompilers } from "./request/body/body-schemas.ts";
import type { Access } from "./request/caller/authenticate.ts";
import { createEntityPaths } from "./request/entity-paths.ts";
import {
  allowedAt,
  noteAddress,
  type RequestRules,
  rejectNotFound,
  startRequest,
} from "./request/parse-request.ts";
import { parseTarget } from "./request/target.ts";
import { rejectExpectation, sendClientError } from "./response/client-error.ts";
import { createFixedText, type FixedText } from "./response/fixed-text.ts";
import { watchUnfinished } from "./response/incomplete-requests.ts";
import { createResponses, type ServerLog } from "./response/send-response.ts";
import { createStreams, type StreamLimits, streamLimits } from "./response/streams.ts";
import { createRoutePlan, createRouteTable, NOT_FOUND_PATH } from "./route-table.ts";
import type { EventsOptions } from "./routes/service/events.ts";
import type { GraphqlOptions } from "./routes/service/graphql.ts";
import type { SchemaRegistryOptions } from "./routes/service/schema-registry.ts";
import { type ApiContext, noneStale } from "./schemas/endpoint.ts";
import { sessionRoutes } from "./web/session-routes.ts";
import { type WebApp, webRoutes } from "./web/web-routes.ts";

export interface HttpServerConfig {
  /** Largest request body. */
  readonly bodyBytesMax: number;
  /** Bytes of the bodies of all requests in flight; 32 MiB when absent. */
  readonly heldBytesMax?: number | undefined;
  /** Limits of responses that clients have not read yet; the defaults when absent. */
  readonly responseLimits?: Partial<ResponseLimits> | undefined;
  /** Limits of JSON bodies that this thread parses; the defaults when absent. */
  readonly jsonLimits?: JsonLimits | undefined;
  /** True on loopback without token authentication: the actor header is trusted. */
  readonly actorHeaderTrusted: boolean;
  /** True if policies decide about writes. */
  readonly writeAuthorization: boolean;
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

interface HttpServerOptions {
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
  readonly proposals?: ApiContext["proposals"] | undefined;
  readonly streamLimits?: StreamLimits | undefined;
  /** Views that were built with another model; absent: none. */
  readonly stale?: ApiContext["stale"] | undefined;
  /** The catalog of a user; absent: the same catalog for all. */
  readonly catalogFor?: ((actor: string | undefined) => Catalog) | undefined;
  /** The audit trail; absent without one. */
  readonly audit?: Pick<AuditTrail, "record"> | undefined;
  /** Tracing; absent without it. */
  readonly traces?: ServerTraces | undefined;
  /** Epoch milliseconds. */
  readonly now?: () => number;
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
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
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
  const responses = createResponses(config, logger, access);
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
      sendClientError(error, socket, { recordPrefix: config.recordPrefix, headerBytesMax }),
    frameworkErrors: responses.fail,
    schemaController: noCompilers,
    rewriteUrl: (request) => {
      const address = parseTarget(request.url ?? "/", resources);
      noteAddress(request, address);
      return plan(address, request.method);
    },
  });

  app.server.on("checkExpectation", (request, response) =>
    rejectExpectation(request, response, config),
  );
  const unfinished = watchUnfinished(app.server);
  const streams = createStreams(options.streamLimits ?? streamLimits, (fault) =>
    logger.error({ err: fault }, "a feed failed"),
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
  app.decorateRequest("state", null);
  if (options.traces !== undefined) traceRequests(app, options.traces);
  if (metrics !== undefined) countRequests(app, metrics);
  if (options.audit !== undefined) auditRequests(app, options.audit);
  app.setErrorHandler(responses.fail);
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
  limitLargeResponses(app, { ...responseLimits, ...config.responseLimits });
  for (const endpoint of [...table.endpoints, ...table.web]) {
    addEndpoint(app, endpoint, {
      context: { catalog, operations, proposals, metrics: metricsText, stale, now },
      catalogFor: options.catalogFor,
      responses,
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
  const handleNotFound = (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    const state = startRequest(request.raw, undefined);
    request.state = state;
    let allowed: string | undefined;
    const checkFound = () => {
      if (request.method === "OPTIONS") allowed = allowedAt(request.raw, table);
      if (allowed === undefined) throw rejectNotFound(request.raw, state, rules);
    };
    identified(request, undefined, { access, origins, sessions }, checkFound, (error) => {
      if (allowed === undefined) done(error);
      else responses.allow(reply, allowed, state.protocol);
    });
  };
  // Unsupported methods and actions are rejected before their body is read.
  app.all(NOT_FOUND_PATH, {
    onRequest: (request, reply, done) => handleNotFound(request, reply, done as Done),
    handler: () => undefined,
  });
  app.setNotFoundHandler((request, reply) =>
    handleNotFound(request, reply, (error) => reply.send(error)),
  );
  return app;
}

/** The error that ends responses to this Authorization header; undefined while its token is valid. */
const endOf = async (token: string, { authentication, admitsMetrics }: Access) =>
  admitsMetrics?.(token) ? undefined : authentication.endOf(token);

/** Unique among the nodes of one log: a random prefix and a counter. */
function requestIds(): () => string {
  const prefix = randomBytes(4).toString("hex");
  let count = 0;
  return () => {
    count++;
    return `${prefix}-${count.toString(36)}`;
  };
}
