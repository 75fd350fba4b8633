/**
 * The log of the process: lines on stderr, so that stdout holds only the output of a command.
 * Written synchronously, because the last lines before a crash matter most, and requests log nothing
 * at the default level.
 *
 * error: data may be wrong or the service is down; warn: recovered but unexpected; info: the state
 * changed; debug: the rest.
 */
import pino from "pino";
import { readableLine } from "./readable-line.ts";

export type Logger = pino.Logger;

/** JSON lines for programs, text for people. */
export type LogFormat = "json" | "text";

/** `lines`: takes each line with its end; stderr when absent. */
export function createLogger(
  level: pino.LevelWithSilent,
  format: LogFormat = "json",
  lines: pino.DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === "json" ? lines : { write: (line) => void lines.write(readableLine(line)) },
  );
}
