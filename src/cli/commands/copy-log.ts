/**
 * `annals copy-log`: copies the log into another store. No service may run on a data directory that it
 * reads or writes. Nodes may write to a log in a server during the copy.
 */
import type { Config } from "../../config/config.ts";
import { type ExitCode, exitCodes } from "../failure.ts";
import type { ProcessOperations } from "../operations.ts";
import type { CommandOutput } from "../terminal/output.ts";

export async function copyLog(
  config: Config,
  to: string,
  { operations, terminal, print }: CommandOutput & { readonly operations: ProcessOperations },
): Promise<ExitCode> {
  const bar = terminal.startBar("copying {bar} {percentage}% | position {value} of {total}");
  try {
    const { copied, there } = await operations.copyLog(config, {
      to,
      onProgress: (position, head) => bar.update(position, head),
    });
    bar.stop();
    const known = there > 0 ? `; ${there} were there` : "";
    await print({ value: { copied, there }, table: `${copied} records copied${known}` });
    return exitCodes.done;
  } finally {
    bar.stop();
  }
}
