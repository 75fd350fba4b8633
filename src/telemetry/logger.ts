/**
 * The service's log of itself: JSON lines on stderr, so that stdout holds what a command was asked
 * for. Written synchronously: the last lines before a crash are the ones that matter, and nothing
 * is logged per request at the default level.
 *
 * error: data may be wrong or the service is down; warn: recovered but unexpected; info: the state
 * changed; debug: the rest.
 */
import pino from "pino";

export type Logger = pino.Logger;

export function createLogger(level: pino.LevelWithSilent): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
