/** `annals backup`: copies the data directory to a new one. A service may be running on it. */
import type { Config } from "../../config/config.ts";
import { type ExitCode, exitCodes } from "../failure.ts";
import type { ProcessOperations } from "../operations.ts";
import type { CommandOutput } from "../terminal/output.ts";
import type { Bar } from "../terminal/terminal.ts";

export async function backUp(
  config: Config,
  to: string,
  {
    operations,
    terminal,
    print,
    signal,
  }: CommandOutput & { readonly operations: ProcessOperations; readonly signal: AbortSignal },
): Promise<ExitCode> {
  const begun = performance.now();
  let shown: { readonly step: string; readonly bar: Bar } | undefined;
  try {
    const {
      position,
      bytes,
      to: target,
    } = await operations.backup(config, {
      to,
      signal,
      onProgress({ step, done, total }) {
        if (shown?.step !== step) {
          shown?.bar.stop();
          shown = { step, bar: terminal.startBar(`${step} {bar} {percentage}%`) };
        }
        shown.bar.update(done, total);
      },
    });
    shown?.bar.stop();
    const seconds = (performance.now() - begun) / 1000;
    const size = `${(bytes / 1e6).toFixed(1)} MB`;
    await print({
      value: { to: target, position, bytes, seconds },
      table: `backed up ${position} records (${size}) to "${target}" in ${seconds.toFixed(2)} s; the copy is verified`,
    });
    return exitCodes.done;
  } finally {
    shown?.bar.stop();
  }
}
