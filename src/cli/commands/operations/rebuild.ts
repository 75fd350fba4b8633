/**
 * `annals rebuild`: builds views again from the log: in a data directory on which no service runs, or
 * in a running service, as a job.
 */
import type { Config } from "../../../config/config.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import { type ExitCode, exitCodes } from "../../failure.ts";
import type { ProcessOperations } from "../../operations.ts";
import type { CommandOutput } from "../../terminal/output.ts";
import { type JobOperation, watchJob } from "./jobs.ts";

export async function rebuild(
  config: Config,
  views: readonly string[],
  {
    operations,
    terminal,
    print,
    logger,
    signal,
  }: CommandOutput & {
    readonly operations: ProcessOperations;
    readonly logger: Logger;
    readonly signal: AbortSignal;
  },
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
    const lines = rebuilt.map(
      ({ view, records }) => `${view}: rebuilt from ${records} records in ${seconds.toFixed(1)} s`,
    );
    await print({ value: { views: rebuilt, seconds }, table: lines.join("\n") });
    return exitCodes.done;
  } finally {
    bar.stop();
  }
}

export async function rebuildRunning(
  views: readonly string[],
  operation: JobOperation,
): Promise<ExitCode> {
  const body = views.length === 0 ? {} : { views };
  const id = await operation.client.act("rebuildViews", body);
  operation.terminal.note(
    `job ${id} of the service rebuilds the views; it continues without this command`,
  );
  return watchJob(id, operation);
}
