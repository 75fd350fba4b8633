/** The text form of a log line: time of day, level, message, fields; the stack of an error below. */

/** Column of the message. */
const LEVEL_WIDTH = 5;

/** `line` is a JSON line of the logger. The time is that of the machine's time zone. */
export function readableLine(line: string): string {
  const { time, level, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const clock = new Date(String(time)).toTimeString().slice(0, 8);
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${readableValue(value)}`);
  const head = [clock, String(level).padEnd(LEVEL_WIDTH), msg, ...shown];
  const parts = head.filter((part) => part !== undefined && part !== "").join(" ");
  return err === undefined ? `${parts}\n` : `${parts}\n${readableError(err)}\n`;
}

/** A plain word stays unchanged; JSON escapes spaces, quotes and control characters. */
function readableValue(value: unknown): string {
  return typeof value === "string" && /^[^\s\p{Cc}"=]+$/u.test(value)
    ? value
    : JSON.stringify(value);
}

/** pino writes an error as an object with its stack. */
function readableError(error: unknown): string {
  const isObject = typeof error === "object" && error !== null;
  const stack = isObject && "stack" in error ? error.stack : undefined;
  const text = typeof stack === "string" ? stack : JSON.stringify(error);
  return text.replaceAll(/^/gm, "  ");
}
