/**
 * `annals rebuild`: grows views again from the log: those of a data directory on which no service
 * runs, or those of a running service, as a job of it.
 */
import type { Config } from "../config/config.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type ExitCode, exitCodes } from "./failure.ts";
import { watchJob } from "./jobs.ts";
import type { Operations } from "./operations.ts";
import type { OperatorClient } from "./operator-client.ts";
import type { Terminal } from "./terminal.ts";

export async function rebuild(
  config: Config,
  views: readonly string[],
  {
    operations,
    terminal,
    logger,
    signal,
  }: { operations: Operations; terminal: Terminal; logger: Logger; signal: AbortSignal },
): Promise<ExitCode> {
  const start = performance.now();
  const bar = terminal.startBar("rebuilding {bar} {percentage}% | position {value} of {total}");
  try {
    const rebuilt = await operations.rebuild(config, {
      views,
      logger,
      signal,
      onProgress: (position, head) => bar.update(position, head),
    });
    bar.stop();
    const seconds = (performance.now() - start) / 1000;
    for (const { view, records } of rebuilt) {
      await terminal.print(`${view}: rebuilt from ${records} records in ${seconds.toFixed(1)} s`);
    }
    return exitCodes.done;
  } finally {
    bar.stop();
  }
}

export async function rebuildRunning(
  views: readonly string[],
  { client, terminal }: { readonly client: OperatorClient; readonly terminal: Terminal },
): Promise<ExitCode> {
  const body = views.length === 0 ? {} : { views };
  const id = await client.act<string>("rebuildViews", body);
  terminal.tell(`job ${id} of the service rebuilds the views; it goes on without this command`);
  return watchJob(id, { client, terminal, json: false });
}
