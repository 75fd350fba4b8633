/** Rules that follow from the address that a service listens on. */
import { isIP } from "node:net";
import type { Config } from "./config.ts";

/** Only programs on this machine reach a loopback address. */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

/** A URL of the service that this machine can open, also where the service listens on all addresses. */
export const localUrl = (url: string): string =>
  url.replace(/^http:\/\/(0\.0\.0\.0|\[::\]):/, "http://127.0.0.1:");

/**
 * True if requests need a bearer token, as `--auth` sets it; `auto` requires one beyond loopback.
 */
export const requiresTokens = ({ auth, host }: Pick<Config, "auth" | "host">): boolean =>
  auth === "auto" ? !isLoopback(host) : auth === "on";
