/**
 * `annals log`: prints records of the log, as JSON lines by default. Reads the data directory; a
 * service may be running on it.
 */
import type { Config } from "../../config/config.ts";
import { type ExitCode, exitCodes } from "../failure.ts";
import type { LoggedRecord, LogQuery, ProcessOperations } from "../operations.ts";
import { type CommandOutput, yamlOf } from "../terminal/output.ts";
import type { OutputFormat } from "../terminal/output-flags.ts";

export async function printLog(
  config: Config,
  query: LogQuery,
  {
    operations,
    terminal,
    output,
  }: Pick<CommandOutput, "terminal" | "output"> & { readonly operations: ProcessOperations },
): Promise<ExitCode> {
  for await (const page of operations.readLog(config, query)) {
    for (const record of page) await terminal.print(textOf(record, output));
  }
  return exitCodes.done;
}

function textOf(record: LoggedRecord, output: OutputFormat): string {
  if (output === "urns") return record.change.urn;
  const line = lineOf(record);
  return output === "yaml" ? `---\n${yamlOf(JSON.parse(line))}` : line;
}

/** The value comes last: it is the longest member, and already JSON text. */
function lineOf({ position, stream, revision, change }: LoggedRecord): string {
  const { value, ...rest } = change;
  const head = JSON.stringify({ position, stream, revision, ...rest });
  return value === undefined ? head : `${head.slice(0, -1)},"value":${value}}`;
}
