/**
 * What is left in the log of an event that a truncation took: who told it, when and in which run, and
 * that it was scavenged; no value. It decodes as a change that tells nothing new, which every reader
 * passes over, at the place where the event was.
 */
import type { Change, PlacedChange } from "../core/change.ts";
import { parseStream } from "../core/stream.ts";
import type { LogRecord } from "./change-log.ts";
import { decodeRecord, encodeChange } from "./record-codec.ts";

/** Position of the truncation that took the event. */
const SCAVENGED_HEADER = "annals-scavenged";

/** The event without what it said. `truncation`: position of the one that took it. */
export function scavengedChange(event: Change, truncation: number): Change {
  const { urn, entityType, aspect, created, system } = event;
  const headers = { ...event.headers, [SCAVENGED_HEADER]: String(truncation) };
  return { urn, entityType, aspect, changeType: "RESTATE", created, system, headers };
}

/** An event's own changes are never confirmations, whatever headers its client sent. */
export const isScavenged = ({ timeseries, changeType, headers }: PlacedChange): boolean =>
  timeseries && changeType === "RESTATE" && headers?.[SCAVENGED_HEADER] !== undefined;

/** Whether both are one record, of which one may have been scavenged. */
export function isSameRecord(one: LogRecord, other: LogRecord): boolean {
  if (Buffer.compare(one.data, other.data) === 0) return true;
  if (parseStream(one.stream)?.kind !== "timeseries") return false;
  const [a, b] = [decodeRecord(one), decodeRecord(other)];
  if (a === undefined || b === undefined || !(isScavenged(a) || isScavenged(b))) return false;
  return Buffer.compare(rest(a), rest(b)) === 0;
}

const rest = (change: PlacedChange): Uint8Array => encodeChange(scavengedChange(change, 0));
