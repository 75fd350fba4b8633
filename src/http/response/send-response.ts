/** Responses: results of endpoints, and errors. JSON texts are sent unchanged. */
import type { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { CatalogError } from "../../core/errors.ts";
import { AmbiguousRequest } from "../hooks/host-check.ts";
import { smallMax } from "../hooks/large-responses.ts";
import { type Access, rejectionFor } from "../request/caller/authenticate.ts";
import { errorHeaderOf, type Protocol } from "../request/protocol.ts";
import type { ApiResponse, Endpoint, FileBody } from "../schemas/endpoint.ts";
import { entityTagOf, matchesTag } from "./entity-tags.ts";
import { errorFormOf, type FrameworkError, failureOf, toCatalogError } from "./errors.ts";
import { REGISTRY_TYPE, registryErrorOf } from "./schema-registry-format.ts";
import { type Finding, validationErrorOf } from "./validation-message.ts";

/** Log of internal errors. */
export interface ServerLog {
  error(fields: object, message: string): void;
}

export interface Responses {
  /** Sets the headers; returns the body, undefined for none. */
  succeed(
    reply: FastifyReply,
    response: ApiResponse,
    endpoint: Endpoint,
    protocol: Protocol | undefined,
  ): string | Readable | undefined;
  /** Sends the Allow header and no body. */
  allow(reply: FastifyReply, methods: string, protocol: Protocol | undefined): void;
  /** Fastify's error handler. */
  fail(error: Error, request: FastifyRequest, reply: FastifyReply): void;
}

const JSON_TYPE = "application/json; charset=utf-8";
const CHALLENGE = 'Bearer realm="annals"';
const HTML_TYPE = "text/html; charset=utf-8";

export function createResponses(
  config: { readonly recordPrefix: string; readonly bodyBytesMax: number },
  logger: ServerLog,
  access?: Access | undefined,
): Responses {
  function failWith(fault: CatalogError, request: FastifyRequest, reply: FastifyReply): void {
    const state = request.state ?? undefined;
    const error = state === undefined ? fault : rejectionFor(fault, state, access);
    if (state !== undefined) state.failure = error;
    const notFound = state?.notFound;
    const form = state?.endpoint === undefined ? notFound?.errorForm : errorFormOf(state.endpoint);
    const { status, body, retryAfter } = failureOf(error, {
      recordPrefix: config.recordPrefix,
      status: notFound?.error === error ? notFound.status : undefined,
      missing: state?.endpoint?.missing,
      form,
    });
    speak(reply, state?.protocol);
    // Those of the response that the error replaces.
    for (const name of ["content-encoding", "content-length", "etag", "cache-control"]) {
      reply.removeHeader(name);
    }
    // The framework would close the connection while the client still sends its body, which would hide
    // the response. The rest of the body is discarded, up to the time limit of requests.
    reply.removeHeader("connection");
    if (error instanceof AmbiguousRequest) reply.header("connection", "close");
    if (notFound?.allow !== undefined) reply.header("allow", notFound.allow);
    if (error.code === "unauthenticated") reply.header("www-authenticate", CHALLENGE);
    if (retryAfter !== undefined) reply.header("retry-after", retryAfter);
    if (error.code === "not_found" && state?.shown !== undefined) {
      reply.header("x-annals-position", String(state.shown));
    }
    reply
      .code(status)
      .header(errorHeaderOf(state?.protocol?.version ?? "2.0.0"), "true")
      .header("content-type", form === "registry" ? REGISTRY_TYPE : JSON_TYPE)
      .send(JSON.stringify(form === "registry" ? registryErrorOf(error, status) : body));
  }

  return {
    succeed(reply, response, endpoint, protocol) {
      const text = write(reply, response, endpoint, protocol);
      if (response.file !== undefined) return describeFile(reply, response.file);
      return unlessMatched(reply, response, text);
    },

    allow(reply, methods, protocol) {
      speak(reply, protocol);
      reply.code(204).header("allow", methods).send();
    },

    fail(error, request, reply) {
      if (error instanceof CatalogError && error.code !== "internal") {
        failWith(error, request, reply);
        return;
      }
      const { validation } = error as { validation?: readonly Finding[] };
      const [finding] = validation ?? [];
      if (finding !== undefined) {
        failWith(validationErrorOf(request.state?.endpoint?.name ?? "", finding), request, reply);
        return;
      }
      const { headers } = request;
      const failure = toCatalogError(error as FrameworkError, {
        contentLength: headers["content-length"],
        contentType: headers["content-type"],
        bodyBytesMax: request.state?.endpoint?.bodyBytesMax ?? config.bodyBytesMax,
        requestId: request.id,
      });
      if (failure.code === "internal") {
        const { method, originalUrl } = request;
        logger.error(
          { err: error, requestId: request.id, method, url: originalUrl },
          "request failed",
        );
      }
      failWith(failure, request, reply);
    },
  };
}

/** Sets status and headers of a response; returns its body. */
function write(
  reply: FastifyReply,
  response: ApiResponse,
  endpoint: Endpoint,
  protocol: Protocol | undefined,
): string | undefined {
  speak(reply, protocol);
  const status = response.status ?? endpoint.status;
  if (status !== undefined) reply.code(status);
  if (response.headers !== undefined) reply.headers(response.headers);
  if (response.position !== undefined) {
    reply.header("x-annals-position", String(response.position));
  }
  if (response.keep === false) reply.header("cache-control", "no-store");
  if (response.json !== undefined) {
    reply.header("content-type", JSON_TYPE);
    return response.json;
  }
  if (response.stream !== undefined) {
    reply.header("content-type", response.stream.type);
    // Proxies must not buffer the stream.
    reply.header("cache-control", "no-store");
    reply.header("x-accel-buffering", "no");
    return undefined;
  }
  if (response.text !== undefined) {
    reply.header("content-type", `${endpoint.responseType ?? "text/plain"}; charset=utf-8`);
    return response.text;
  }
  if (response.contentSecurityPolicy !== undefined) {
    reply.header("content-security-policy", response.contentSecurityPolicy);
  }
  if (response.html === undefined) return undefined;
  reply.header("content-type", HTML_TYPE);
  reply.header("referrer-policy", "no-referrer");
  reply.header("x-frame-options", "DENY");
  reply.header("cross-origin-opener-policy", "same-origin");
  reply.header("cross-origin-resource-policy", "same-origin");
  reply.header("content-security-policy", response.contentSecurityPolicy ?? "default-src 'none'");
  return response.html;
}

function describeFile(reply: FastifyReply, file: FileBody): Readable {
  const { type, size, coding, varies, stream } = file;
  reply.header("content-type", type);
  reply.header("content-length", String(size));
  reply.header("cross-origin-resource-policy", "same-origin");
  if (varies) reply.header("vary", "Accept-Encoding");
  if (coding !== undefined) reply.header("content-encoding", coding);
  return stream;
}

/**
 * Adds the entity tag of a response to a read. If the client has that response already, the status becomes 304,
 * and the result is undefined.
 */
function unlessMatched(
  reply: FastifyReply,
  { keep, fixed }: ApiResponse,
  body: string | undefined,
): string | undefined {
  const { request } = reply;
  const reads = request.method === "GET" || request.method === "HEAD";
  if (!reads || keep === false || body === undefined || reply.statusCode !== 200) return body;
  if (request.state !== null) request.state.fixed = fixed;
  // A cache may keep the response, but asks for it again before each use.
  reply.header("cache-control", "private, no-cache");
  // The tag of a large text would take long to compute.
  if (fixed === undefined && body.length > smallMax) return body;
  const entityTag = fixed?.entityTag ?? entityTagOf(body);
  reply.header("etag", entityTag);
  const known = request.headers["if-none-match"];
  if (known === undefined || request.method === "HEAD" || !matchesTag(known, entityTag))
    return body;
  reply.code(304).removeHeader("content-type");
  return undefined;
}

/** Headers of every response: content type and protocol. */
function speak(reply: FastifyReply, protocol: Protocol | undefined): void {
  reply.header("x-content-type-options", "nosniff");
  if (protocol === undefined) return;
  for (const name of protocol.echo) reply.header(name, protocol.version);
}
