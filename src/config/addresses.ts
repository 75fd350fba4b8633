/** Rules that follow from the address that a service listens on. */
import { isIP } from "node:net";
import type { Config } from "./config.ts";

/** Only programs on this machine reach a loopback address. */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

/**
 * True if requests need a bearer token, as `--auth` sets it; `auto` requires one beyond loopback.
 */
export const requiresTokens = ({ auth, host }: Pick<Config, "auth" | "host">): boolean =>
  auth === "auto" ? !isLoopback(host) : auth === "on";
