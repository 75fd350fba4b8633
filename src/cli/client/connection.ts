/**
 * Which service a command sends its requests to, and with which token. Flags come first, then the
 * environment, then the file of `annals login`, then what a service with the same settings listens on.
 */
import { localUrl } from "../../config/addresses.ts";
import { type Config, type Flags, isSet, readConfig } from "../../config/config.ts";
import { readLogin } from "../../config/login.ts";
import { CatalogError } from "../../core/errors.ts";
import { noAnswer } from "./connection-error.ts";
import { operatorTokenOf, tokenIn } from "./token-file.ts";

export interface ServerConnection {
  /** Without a slash at the end. */
  readonly server: string;
  readonly token: string | undefined;
}

interface ConnectionFlags {
  readonly server?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** Throws CatalogError `invalid` for settings, a token file or a login file that cannot be used. */
export function connectionOf({ server, tokenFile }: ConnectionFlags): ServerConnection {
  const flags: Flags = { ...(server && { server }), ...(tokenFile && { tokenFile }) };
  const config = readConfig(flags);
  const login = readLogin();
  const named = config.server.replace(/\/+$/, "");
  const isLocal = login === undefined || isSet("host") || isSet("port");
  const address = named !== "" ? named : isLocal ? addressOf(config) : login.server;
  // A token goes to the service that it was stored for, never to another one.
  const stored = login?.server === address ? login.token : undefined;
  return { server: address, token: tokenOf(config) ?? stored };
}

/**
 * The same for operations: without a token of their own they use the admin token of the data
 * directory, unless the service is that of `annals login`.
 */
export function operatorConnectionOf(
  flags: ConnectionFlags & Pick<Flags, "data" | "operatorTokenFile">,
): { readonly server: string; readonly token: string } {
  const { data, operatorTokenFile, ...common } = flags;
  const { server, token } = connectionOf(common);
  const settings = { ...(data && { data }), ...(operatorTokenFile && { operatorTokenFile }) };
  const isNamed = Object.keys(settings).length > 0 && common.tokenFile === undefined;
  if (token !== undefined && !isNamed) return { server, token };
  return { server, token: operatorTokenOf(readConfig(settings)) };
}

/** The token that flags or the environment name. */
function tokenOf({ tokenFile, token }: Config): string | undefined {
  if (tokenFile !== "") return tokenIn(tokenFile, "Name another file with --token-file");
  return token === "" ? undefined : token.trim();
}

/** Where a service with these settings can be reached from here. */
const addressOf = ({ host, port }: Pick<Config, "host" | "port">): string =>
  localUrl(`http://${host.includes(":") ? `[${host}]` : host}:${port}`);

/** Time for the first response: a service that is not reachable is reported within five seconds. */
export const reachMsMax = 3_000;

/** Throws CatalogError `unavailable` without a response in time; otherwise as requireCatalog does. */
export async function reach(server: string, signal?: AbortSignal): Promise<void> {
  const limit = AbortSignal.timeout(reachMsMax);
  const response = await fetch(`${server}/config`, {
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  }).catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw noAnswer(server, limit.aborted ? new Error(`no response in ${reachMsMax} ms`) : cause);
  });
  await requireCatalog(server, response);
}

/**
 * Throws CatalogError unless the response to `GET /config` is that of a catalog: `unauthenticated` for
 * status 401 (a proxy or the service rejects the token), otherwise `invalid`.
 */
export async function requireCatalog(server: string, response: Response): Promise<void> {
  const body: unknown = await response.json().catch(() => undefined);
  const config = typeof body === "object" && body !== null ? body : {};
  if (response.ok && "noCode" in config && config.noCode === "true") return;
  const found = `status ${response.status}`;
  if (response.status === 401) {
    throw rejectedToken(server, "message" in config ? String(config.message) : found);
  }
  throw new CatalogError(
    "invalid",
    `there is no catalog at ${server}: GET ${server}/config gives ${found}`,
    { hint: "Name the address that the service printed, with --server" },
  );
}

export const rejectedToken = (server: string, reason: string): CatalogError =>
  new CatalogError("unauthenticated", `${server} rejected the request: ${reason}`, {
    hint: "Name a file with an access token with --token-file",
  });
