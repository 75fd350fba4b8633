/**
 * Rejects requests that a page of another origin sends, and shares responses with configured origins (CORS).
 *
 * A browser adds cookies to the requests of any page, and reaches a service on loopback for any page. Neither
 * may act for a page of another origin, also not for one on another port of the same machine. A page cannot
 * change `Origin` or `Sec-Fetch-Site`, and other clients do not send them. A page can send a bearer token only
 * if its user gave it one, so that such a request is accepted from every origin.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import { CatalogError } from "../../core/errors.ts";

/** Browsers add other schemes by themselves. */
const BEARER = /^Bearer +\S/i;
const READS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Throws `forbidden` for a request of a page whose origin is neither the service's own nor in `allowed`.
 * OPTIONS is accepted from every origin: it returns methods alone, and a page of another origin cannot read it.
 */
export function checkOrigin(
  { headers, method = "GET" }: Pick<IncomingMessage, "headers" | "method">,
  allowed: ReadonlySet<string>,
): void {
  const { origin, authorization } = headers;
  const foreign =
    origin === undefined
      ? headers["sec-fetch-site"] === "cross-site" && !READS.has(method)
      : method !== "OPTIONS" && !allowed.has(origin) && !isOwnOrigin(origin, headers);
  if (!foreign || (authorization !== undefined && BEARER.test(authorization))) return;
  const page = origin === undefined ? "another site" : `the origin "${origin.slice(0, 120)}"`;
  throw new CatalogError("forbidden", `a page of ${page} may not use this service`, {
    hint: "Send Authorization: Bearer <token>, or start the service with --cors-origin <origin>. A proxy that ends TLS must forward Host and send X-Forwarded-Proto: https",
  });
}

/** True if the client reached the service, or the proxy before it, over TLS. */
export const isHttps = (headers: Pick<IncomingMessage["headers"], string>): boolean =>
  String(headers["x-forwarded-proto"] ?? "")
    .split(",", 1)[0]
    ?.trim()
    .toLowerCase() === "https";

/** True if the origin is the scheme and the host that the request was sent to. */
export function isOwnOrigin(origin: string, headers: IncomingHttpHeaders): boolean {
  const { host } = headers;
  if (host === undefined) return false;
  const https = isHttps(headers);
  const defaultPort = https ? ":443" : ":80";
  const authority = host.toLowerCase();
  const named = authority.endsWith(defaultPort)
    ? authority.slice(0, -defaultPort.length)
    : authority;
  return origin === `${https ? "https" : "http"}://${named}`;
}

/** Response headers that a page may read beside those that every page may. */
const exposedHeaders = [
  ...["X-Annals-Position", "X-Annals-Stale", "ETag", "Location", "Retry-After", "WWW-Authenticate"],
  ...["traceparent", "X-RestLi-Error-Response", "X-RestLi-Protocol-Version"],
].join(", ");
const preflightSeconds = 600;

/**
 * Lets pages of these origins read responses, and answers their preflight requests, which carry no token. A
 * preflight allows what it asks for: the request itself is then accepted or rejected with a readable error.
 */
export function shareWithOrigins(app: FastifyInstance, allowed: ReadonlySet<string>): void {
  if (allowed.size === 0) return;
  app.addHook("onRequest", (request, reply, done) => {
    const { origin, "access-control-request-method": asked } = request.headers;
    reply.header("vary", "Origin");
    if (origin === undefined || !allowed.has(origin)) {
      done();
      return;
    }
    reply.header("access-control-allow-origin", origin);
    if (request.method !== "OPTIONS" || asked === undefined) {
      reply.header("access-control-expose-headers", exposedHeaders);
      done();
      return;
    }
    const { "access-control-request-headers": names } = request.headers;
    if (names !== undefined) reply.header("access-control-allow-headers", names);
    reply
      .code(204)
      .header("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
      .header("access-control-max-age", String(preflightSeconds))
      .send();
  });
}
