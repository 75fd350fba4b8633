/**
 * Sessions of the browser application. The cookie holds the access token, so a session has the rights, the expiry
 * and the revocation of its token, on every node. No session is stored.
 *
 * A browser adds the cookie to requests by itself. So a request that changes something also needs the CSRF token in
 * a header, which only a page of this origin can read, and the origin of this service.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { CatalogError } from "../../../core/errors.ts";
import { createHostRule } from "../../hooks/host-check.ts";
import { isHttps, isOwnOrigin } from "../../hooks/origin-check.ts";

const CSRF_HEADER = "x-csrf-token";
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const PORT = /:(\d{1,5})$/;
const isLoopbackHost = createHostRule({ loopback: true, allowed: [] });

/** Browsers share cookies between the ports of a host, so the name contains the port. */
function cookieName(host: string | undefined): string {
  const port = PORT.exec(host ?? "")?.[1];
  return port === undefined ? "annals_session" : `annals_session_${port}`;
}

/** The token in a Cookie header; undefined without one. */
export function sessionToken(cookies: string | undefined, host: string | undefined) {
  if (cookies === undefined) return undefined;
  const start = `${cookieName(host)}=`;
  const cookie = cookies
    .split(";")
    .map((text) => text.trim())
    .find((text) => text.startsWith(start));
  if (cookie === undefined) return undefined;
  try {
    return decodeURIComponent(cookie.slice(start.length)) || undefined;
  } catch {
    return undefined;
  }
}

/** The Set-Cookie header of a session; with an empty token it ends the session. */
export function sessionCookie(
  { token, seconds }: { readonly token: string; readonly seconds: number | undefined },
  headers: IncomingHttpHeaders,
): string {
  const secure = isHttps(headers) || !isLoopbackHost?.(headers.host ?? "");
  return [
    `${cookieName(headers.host)}=${encodeURIComponent(token)}`,
    "Path=/",
    "HttpOnly",
    "SameSite=Strict",
    ...(secure ? ["Secure"] : []),
    ...(seconds === undefined ? [] : [`Max-Age=${seconds}`]),
  ].join("; ");
}

/** Derived from the access token by a hash, from which the access token cannot be derived. */
export const csrfToken = (token: string): string =>
  createHash("sha256").update("annals csrf ").update(token).digest("base64url");

/**
 * Makes the session of a request without an Authorization header its bearer token. Throws `forbidden` for a
 * request that changes something without the CSRF token of the session, or from another origin.
 */
export function applySession({ headers, method = "GET" }: IncomingMessage): void {
  if (headers.authorization !== undefined) return;
  const token = sessionToken(headers.cookie, headers.host);
  if (token === undefined) return;
  if (!SAFE_METHODS.has(method)) checkForgery(token, headers);
  headers.authorization = `Bearer ${token}`;
}

function checkForgery(token: string, headers: IncomingHttpHeaders): void {
  const { origin, [CSRF_HEADER]: sent = "" } = headers;
  if (origin === undefined || !isOwnOrigin(origin, headers)) {
    throw new CatalogError("forbidden", "a session needs the Origin header of this service", {
      hint: "Send Authorization: Bearer <token> outside of browsers. A proxy that ends TLS must forward Host and send X-Forwarded-Proto: https",
    });
  }
  const expected = Buffer.from(csrfToken(token));
  const given = Buffer.from(String(sent));
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new CatalogError("forbidden", "the request lacks the CSRF token of its session", {
    hint: "GET /ui/session returns csrfToken; send it as X-CSRF-Token",
  });
}
