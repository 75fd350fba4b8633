/**
 * `annals serve`: runs the service until a signal stops it. stdout has the address; in the text
 * format of the log, also the lines for a person (start-message.ts).
 *
 * SIGINT or SIGTERM: no new requests, those in flight finish, exit code 0. Another signal, or the
 * shutdown timeout: exit code 1 at once; the log holds everything that was acknowledged even then.
 */
import { localUrl } from "../../config/addresses.ts";
import type { Config } from "../../config/config.ts";
import { collectGarbage } from "../../lib/collect-garbage.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { describeFailure, type ExitCode, exitCodes } from "../failure.ts";
import type { ProcessOperations } from "../operations.ts";
import { onSignals } from "../terminal/signals.ts";
import { startMessage } from "../terminal/start-message.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** How long a start may take before a line reports that it continues. */
const SILENCE_MS = 4_000;
/** When the garbage of the start is collected. */
const GARBAGE_AFTER_MS = 1_000;

export async function serve(
  config: Config,
  parts: {
    readonly operations: ProcessOperations;
    readonly terminal: Terminal;
    readonly logger: Logger;
    /** A person reads the output. */
    readonly forPeople: boolean;
  },
): Promise<ExitCode> {
  const { operations, terminal, logger, forPeople } = parts;
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: error }, "stopping at a fault");
    process.exit(exitCodes.failed);
  });
  const stopped = firstSignal(config, logger);
  const stopReports = reportWaiting(logger);
  const service = await operations
    .openService(config, {
      logger,
      onMadeToken(file) {
        // The path of the token, never the token; logged once, at every level of the log.
        const always = logger.child({}, { level: "info" });
        always.info({ file, made: true }, "the root user's first token is in this file");
      },
    })
    .finally(stopReports);
  const address = localUrl(service.address());
  await terminal.print(`annals is ready at ${address}`);
  if (forPeople) await terminal.print(startMessage(config, address));
  logger.info({ address: service.address(), data: config.data }, "ready");
  collectStartGarbage();
  await stopped;
  try {
    await service.close();
  } catch (error) {
    logger.error({ err: error }, "could not close");
    terminal.note(describeFailure(error));
    return exitCodes.failed;
  }
  logger.info("stopped");
  return exitCodes.done;
}

/** Logs every few seconds that the catalog is being opened. Returns a function that ends the reports. */
function reportWaiting(logger: Logger): () => void {
  const begun = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - begun) / 1_000);
    logger.info({ seconds }, "opening the catalog");
  }, SILENCE_MS);
  return () => clearInterval(timer);
}

/** A start leaves some 20 MB of garbage. Collecting it earlier would delay the first requests. */
function collectStartGarbage(): void {
  setTimeout(collectGarbage, GARBAGE_AFTER_MS).unref();
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
