/**
 * Which names a request may give to the service. A page of another site can make its own name lead to
 * this machine (DNS rebinding), and then reads what the service answers to everybody on the machine. So a
 * service that listens on loopback answers only to names of the loopback interface and to configured ones.
 */
import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import { CatalogError } from "../core/errors.ts";

/** Whether the service answers to an authority (`name`, `name:port`, `[::1]:port`). */
export type HostRule = (authority: string) => boolean;

/** A name or an address, in brackets if it is IPv6, without one dot at its end; then the port. */
const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[^\s:/?#@[\]\\]{1,255}?)\.?(?::\d{0,5})?$/;
/** How a target begins that is not a path (RFC 9112 §3.2.2). */
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Undefined: every name is answered, which is so on other binds than loopback without `allowed` names.
 * Names of the loopback interface are always allowed, as no other site can have them.
 */
export function createHostRule(options: {
  readonly loopback: boolean;
  /** Names or addresses without a port. */
  readonly allowed: readonly string[];
}): HostRule | undefined {
  if (!options.loopback && options.allowed.length === 0) return undefined;
  const names = new Set(["localhost", "[::1]", ...options.allowed.map(normalized)]);
  // Most requests name the host that the one before named.
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

/** A configured name as it stands in an authority. */
function normalized(name: string): string {
  const lower = name.toLowerCase();
  return isIP(lower) === 6 ? `[${lower}]` : lower.replace(/\.$/, "");
}

const rejected = new WeakSet<Socket>();

/** Whether an ambiguous request on the connection was answered: what follows gets no answer. */
export const isRejected = (socket: Socket): boolean => rejected.has(socket);

/** A request whose end or target others may read differently: its connection closes with the response. */
export class AmbiguousRequest extends CatalogError {
  constructor(socket: Socket, message: string, hint: string) {
    super("malformed", message, { hint });
    rejected.add(socket);
  }
}

/** Throws `misdirected` for a name that the rule does not allow, `malformed` for an unclear request. */
export function checkHost(request: IncomingMessage, target: string, rule: HostRule | undefined) {
  const { host, "transfer-encoding": coding } = request.headers;
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    throw new AmbiguousRequest(
      request.socket,
      `Transfer-Encoding is "${coding.slice(0, 60)}"`,
      "Send the body as it is, with Content-Length or Transfer-Encoding: chunked",
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
      "Send one",
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
