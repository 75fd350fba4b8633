/**
 * Decodes records leniently: unreadable records are skipped. The projector, which parks them, and the
 * change feed, which stops at them, do not use this function.
 */
import type { LogRecord } from "../change-log.ts";

/** The content of a record; undefined for a record without any, and for an unreadable one. */
export function readable<Content>(
  decode: (record: LogRecord) => Content | undefined,
  record: LogRecord,
): Content | undefined {
  try {
    return decode(record);
  } catch {
    return undefined;
  }
}
