/**
 * The common frame of commands that send requests to a running service: their flags, the client, the
 * output format, and the end by a signal.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type AnnalsClient, createAnnalsClient } from "../../client/client.ts";
import { defaultOf, variableOf } from "../../config/settings.ts";
import { ownCommand } from "../../lib/command-hint.ts";
import { type CommandOutput, commandOutput } from "../terminal/output.ts";
import { addOutputFlags, type OutputFlags, type OutputFormat } from "../terminal/output-flags.ts";
import { interrupted } from "../terminal/signals.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { connectionOf, reach, type ServerConnection } from "./connection.ts";

export interface Session extends CommandOutput {
  readonly client: AnnalsClient;
  readonly connection: ServerConnection;
  /** Aborts at the first signal to stop. */
  readonly signal: AbortSignal;
}

export interface CommonFlags extends OutputFlags {
  readonly server?: string;
  readonly tokenFile?: string;
}

/** The options that every one of these commands has, in a group of their own at the end of the help. */
export function addCommonFlags(command: Command, formats: readonly OutputFormat[]): void {
  const group = "Connection and output:";
  const tokenFile = `file with the access token to send (${variableOf("tokenFile")})`;
  command
    .addOption(serverOption().helpGroup(group))
    .addOption(new Option("--token-file <file>", tokenFile).helpGroup(group));
  addOutputFlags(command, formats, group);
}

export const serverOption = (): Option =>
  new Option(
    "--server <url>",
    `address of the service (default: ${variableOf("server")}, the service of annals login, or http://${defaultOf("host")}:${defaultOf("port")}; ${variableOf("host")} and ${variableOf("port")})`,
  ).argParser(serverUrl);

export function serverUrl(given: string): string {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError("It is a URL like http://127.0.0.1:8080.");
  }
  return given.replace(/\/+$/, "");
}

/** A command for messages, with the server of the session unless the command finds it without a flag. */
export function commandOnServer(command: string, { connection: { server } }: Session): string {
  const flag = connectionOf({}).server === server ? "" : ` --server ${server}`;
  return ownCommand(`${command}${flag}`);
}

/** Connects, after the service has answered. Throws CatalogError when it does not. */
export async function openSession(flags: CommonFlags, terminal: Terminal): Promise<Session> {
  const connection = connectionOf(flags);
  const { server, token } = connection;
  const signal = interrupted();
  await reach(server, signal);
  const output = commandOutput(flags, terminal);
  const client = createAnnalsClient({
    ...{ address: server, token, signal },
    onRetry: (reason) => output.terminal.note(`waiting for ${server} (${reason})`),
  });
  return { ...output, client, connection, signal };
}
