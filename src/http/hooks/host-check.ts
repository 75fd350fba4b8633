/**
 * Checks the host that a request names. A page of another site can resolve its own name to this machine
 * (DNS rebinding), and could then read all responses that need no token. So a service that listens on
 * loopback accepts only names of the loopback interface and configured names.
 */
import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { CatalogError } from "../../core/errors.ts";

/** Returns true if the service accepts an authority (`name`, `name:port`, `[::1]:port`). */
export type HostRule = (authority: string) => boolean;

/** Group 1: a name or an address, in brackets if it is IPv6, without a dot at its end. Then the port. */
const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[^\s:/?#@[\]\\]{1,255}?)\.?(?::\d{0,5})?$/;
/** Beginning of a target in absolute form (RFC 9112 §3.2.2). */
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Returns undefined, which accepts every name, for a bind to another address without `allowed` names.
 * Names of the loopback interface are always accepted, because no other site can have them.
 */
export function createHostRule(options: {
  readonly loopback: boolean;
  /** Names or addresses without a port. */
  readonly allowed: readonly string[];
}): HostRule | undefined {
  if (!options.loopback && options.allowed.length === 0) return undefined;
  const names = new Set(["localhost", "[::1]", ...options.allowed.map(normalized)]);
  // Most requests name the same host as the previous one.
  let last: string | undefined;
  const allows = (authority: string): boolean => {
    const name = AUTHORITY.exec(authority.toLowerCase())?.[1];
    if (name === undefined) return false;
    return names.has(name) || (name.startsWith("127.") && isIP(name) === 4);
  };
  return (authority) => {
    if (authority === last) return true;
    if (!allows(authority)) return false;
    last = authority;
    return true;
  };
}

/** A configured name in the form of an authority. */
function normalized(name: string): string {
  const lower = name.toLowerCase();
  return isIP(lower) === 6 ? `[${lower}]` : lower.replace(/\.$/, "");
}

const rejected = new WeakSet<Socket>();

/** True after an ambiguous request on the connection: later bytes on it get no response. */
export const isRejected = (socket: Socket): boolean => rejected.has(socket);

/** A request whose end or target a proxy may read differently. Its connection closes after the response. */
export class AmbiguousRequest extends CatalogError {
  constructor(socket: Socket, message: string, hint: string) {
    super("malformed", message, { hint });
    rejected.add(socket);
  }
}

/** Throws `misdirected` for a name that the rule rejects, `malformed` for an ambiguous request. */
export function checkHost(request: IncomingMessage, target: string, rule: HostRule | undefined) {
  const { host, "transfer-encoding": coding } = request.headers;
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    throw new AmbiguousRequest(
      request.socket,
      `Transfer-Encoding "${coding.slice(0, 60)}" is not supported`,
      "Send the body with Content-Length or Transfer-Encoding: chunked",
    );
  }
  if (host === undefined) {
    if (request.httpVersion !== "1.1") return;
    throw new CatalogError("malformed", "the request has no Host header", {
      hint: "HTTP/1.1 requires one: Host: <name of the service>",
    });
  }
  if (countOf(request.rawHeaders) > 1) {
    throw new AmbiguousRequest(
      request.socket,
      "the request has more than one Host header",
      "Send exactly one",
    );
  }
  if (rule === undefined) return;
  const absolute = target.startsWith("/") ? undefined : ABSOLUTE.exec(target)?.[1];
  for (const authority of absolute === undefined ? [host] : [absolute, host]) {
    if (!rule(authority)) throw misdirected(authority);
  }
}

function countOf(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}

const misdirected = (authority: string): CatalogError =>
  new CatalogError(
    "misdirected",
    `the service does not answer to the host "${authority.slice(0, 120)}"`,
    {
      hint: "Use localhost, 127.0.0.1 or [::1], or start the service with --allowed-host <name>",
    },
  );
