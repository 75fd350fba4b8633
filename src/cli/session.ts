/**
 * The common frame of commands that send requests to a running service: their flags, the client, the
 * output format, and the end by a signal.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { type AnnalsClient, createAnnalsClient } from "../client/client.ts";
import { defaultOf, variableOf } from "../config/settings.ts";
import { type Connection, connectionOf, reach } from "./connection.ts";
import { type OutputFormat, outputFormats, printResult, type Result } from "./output.ts";
import { interrupted } from "./signals.ts";
import { quiet, type Terminal } from "./terminal.ts";

export interface Session {
  readonly client: AnnalsClient;
  readonly connection: Connection;
  readonly terminal: Terminal;
  readonly output: OutputFormat;
  /** Aborts at the first signal to stop. */
  readonly signal: AbortSignal;
  print(result: Result): Promise<void>;
}

export interface CommonFlags {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly output: OutputFormat;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** The options that every one of these commands has, in a group of their own at the end of the help. */
export function addCommonFlags(command: Command): void {
  const options = [
    serverOption(),
    new Option(
      "--token-file <file>",
      `file with the access token to send (${variableOf("tokenFile")})`,
    ),
    new Option("--output <format>", "format of the output").choices(outputFormats).default("table"),
    new Option("--json", "short for --output json").default(false),
    new Option(
      "--quiet",
      "print the result alone: no messages about the work, no progress",
    ).default(false),
  ];
  for (const option of options) command.addOption(option.helpGroup("Connection and output:"));
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

export const outputOf = ({ json, output }: Pick<CommonFlags, "json" | "output">): OutputFormat =>
  json ? "json" : output;

/** Connects, after the service has answered. Throws CatalogError when it does not. */
export async function openSession(flags: CommonFlags, terminal: Terminal): Promise<Session> {
  const connection = connectionOf(flags);
  const { server, token } = connection;
  const signal = interrupted();
  await reach(server, signal);
  const spoken = flags.quiet ? quiet(terminal) : terminal;
  const client = createAnnalsClient({
    ...{ address: server, token, signal },
    onRetry: (reason) => spoken.tell(`waiting for ${server} (${reason})`),
  });
  const output = outputOf(flags);
  return {
    ...{ client, connection, output, signal, terminal: spoken },
    print: (result) => printResult(result, { terminal: spoken, output }),
  };
}
