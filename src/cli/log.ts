/**
 * `annals log`: the records of the log as JSON lines, for people, jq and backups. Reads the data
 * directory; a service may be running on it.
 */
import type { Config } from "../config/config.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import type { LoggedRecord, LogQuery, Operations } from "./operations.ts";
import type { Terminal } from "./terminal.ts";

export async function printLog(
  config: Config,
  query: LogQuery,
  { operations, terminal }: { operations: Operations; terminal: Terminal },
): Promise<ExitCode> {
  for await (const page of operations.readLog(config, query)) {
    for (const record of page) await terminal.print(lineOf(record));
  }
  return exitCodes.done;
}

/** Value last, spliced in as the JSON text that it is: it is the long part. */
function lineOf({ position, stream, revision, change }: LoggedRecord): string {
  const { value, ...rest } = change;
  const head = JSON.stringify({ position, stream, revision, ...rest });
  return value === undefined ? head : `${head.slice(0, -1)},"value":${value}}`;
}
