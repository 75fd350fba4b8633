/**
 * Records that no release can read: views park them and name them, who follows the changes is refused
 * at them, and everybody else passes over them.
 */
import type { PlacedChange } from "../core/change.ts";
import type { LogRecord } from "./change-log.ts";

/** The change of a record; undefined for one that holds none, and for one that cannot be read. */
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
