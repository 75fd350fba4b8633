/**
 * `annals serve`: runs the service until a signal stops it.
 *
 * SIGINT or SIGTERM: no new requests, those in flight finish, exit code 0. Another signal, or the
 * shutdown timeout: exit code 1 at once; the log holds everything that was acknowledged even then.
 */
import type { Config } from "../config/config.ts";
import type { Logger } from "../telemetry/logger.ts";
import { describeFailure, type ExitCode, exitCodes } from "./failure.ts";
import type { Operations } from "./operations.ts";
import { onSignals } from "./signals.ts";
import type { Terminal } from "./terminal.ts";

export async function serve(
  config: Config,
  { operations, terminal, logger }: { operations: Operations; terminal: Terminal; logger: Logger },
): Promise<ExitCode> {
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: error }, "stopping at a fault");
    process.exit(exitCodes.failed);
  });
  const stopped = firstSignal(config, logger);
  const service = await operations.openService(config, {
    logger,
    onMadeToken(file) {
      // Its place, never its value; said once, and so whatever else is left unsaid.
      const always = logger.child({}, { level: "info" });
      always.info({ file, made: true }, "the root user's first token is in this file");
    },
  });
  await terminal.print(`annals is ready at ${service.address()}`);
  logger.info({ address: service.address(), data: config.data }, "ready");
  collectStartGarbage();
  await stopped;
  try {
    await service.close();
  } catch (error) {
    logger.error({ err: error }, "could not close");
    terminal.tell(describeFailure(error));
    return exitCodes.failed;
  }
  logger.info("stopped");
  return exitCodes.done;
}

/**
 * A start leaves some 20 MB behind that nobody needs. V8 gives them back by itself after a while
 * without work; with --expose-gc, as `npm start` has it, at once.
 */
function collectStartGarbage(): void {
  void globalThis.gc?.({ type: "major", flavor: "last-resort", execution: "async" });
}

/** Resolves at the first signal; from then on the process ends by force if it does not by itself. */
function firstSignal(config: Config, logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    const force = (reason: string): never => {
      logger.error({ reason }, "stopped by force; requests in flight were cut off");
      process.exit(exitCodes.failed);
    };
    onSignals((signal) => {
      logger.info({ signal }, "stopping; requests in flight finish");
      // Not a reason to stay alive, but in force as long as anything else is.
      setTimeout(force, config.shutdownTimeoutSeconds * 1000, "timeout").unref();
      resolve();
    }, force);
  });
}
