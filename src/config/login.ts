/**
 * The file that `annals login` writes: the address of a service and an access token for it, in
 * `$XDG_CONFIG_HOME/annals/config.json`, by default `~/.config/annals/config.json`, mode 0600.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CatalogError } from "../core/errors.ts";
import type { Environment } from "./config.ts";

interface Login {
  /** Address of the service, without a slash at the end. */
  readonly server: string;
  /** Sent to this server alone. Absent: the service asks for no token. */
  readonly token?: string | undefined;
}

export function loginFile(environment: Environment = process.env): string {
  const folder = environment.XDG_CONFIG_HOME;
  // The XDG specification ignores relative paths.
  const base = folder?.startsWith("/") ? folder : join(environment.HOME ?? homedir(), ".config");
  return join(base, "annals", "config.json");
}

/** Undefined without a file. Throws CatalogError `invalid` for a file of another form. */
export function readLogin(file = loginFile()): Login | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CatalogError("invalid", `"${file}" cannot be read: ${(cause as Error).message}`);
  }
  const login = parsed(text);
  if (login !== undefined) return login;
  throw new CatalogError("invalid", `"${file}" is not {"server": "<url>", "token": "<token>"}`, {
    hint: "Log in again with annals login, or remove the file",
  });
}

export function writeLogin(login: Login, file = loginFile()): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const staging = `${file}.new`;
  rmSync(staging, { force: true });
  writeFileSync(staging, `${JSON.stringify(login, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
  chmodSync(staging, 0o600);
  renameSync(staging, file);
}

function parsed(text: string): Login | undefined {
  try {
    const { server, token } = JSON.parse(text);
    const fits = typeof server === "string" && ["string", "undefined"].includes(typeof token);
    return fits ? { server, token } : undefined;
  } catch {
    return undefined;
  }
}
