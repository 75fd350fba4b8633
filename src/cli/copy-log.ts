/**
 * `annals copy-log`: copies the log into another store. No service may have a data directory that it
 * reads or writes; nodes that write to a log in a server may go on while that is copied.
 */
import type { Config } from "../config/config.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import type { Operations } from "./operations.ts";
import type { Terminal } from "./terminal.ts";

export async function copyLog(
  config: Config,
  to: string,
  { operations, terminal }: { operations: Operations; terminal: Terminal },
): Promise<ExitCode> {
  const bar = terminal.startBar("copying {bar} {percentage}% | position {value} of {total}");
  try {
    const { copied, there } = await operations.copyLog(config, {
      to,
      onProgress: (position, head) => bar.update(position, head),
    });
    bar.stop();
    const known = there > 0 ? `; ${there} were there` : "";
    await terminal.print(`${copied} records copied${known}`);
    return exitCodes.done;
  } finally {
    bar.stop();
  }
}
