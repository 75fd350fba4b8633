/**
 * Decodes records leniently: unreadable records are skipped. The projector, which parks them, and the
 * change feed, which stops at them, do not use this function.
 */
import type { PlacedChange } from "../../core/change.ts";
import type { LogRecord } from "../change-log.ts";

/** The change of a record; undefined for a record without a change, and for an unreadable one. */
export function readable(
  decode: (record: LogRecord) => PlacedChange | undefined,
  record: LogRecord,
): PlacedChange | undefined {
  try {
    return decode(record);
  } catch {
    return undefined;
  }
}
