/**
 * What is left in the log of an event that a truncation took: who told it, when and in which run, and
 * that it was scavenged; no value. It decodes as a change that tells nothing new, which every reader
 * passes over, at the place where the event was.
 */
import { type Change, NO_RUN_ID, type PlacedChange } from "../core/change.ts";
import { parseStream } from "../core/stream.ts";
import type { LogRecord } from "./change-log.ts";
import { readable } from "./readable.ts";
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
  const [a, b] = [readable(decodeRecord, one), readable(decodeRecord, other)];
  if (a === undefined || b === undefined || !(isScavenged(a) || isScavenged(b))) return false;
  return Buffer.compare(rest(a), rest(b)) === 0;
}

const rest = (change: PlacedChange): Uint8Array => encodeChange(scavengedChange(change, 0));

/**
 * Data for a record that a store has not any more, because it scavenged the beginning of the stream.
 * `next`: the first one that is there; of the one before it nothing more is known than what it is of.
 * Undefined where no event can have been.
 */
export function missingRecord(next: LogRecord): Uint8Array | undefined {
  const change = readable(decodeRecord, next);
  if (change === undefined || change.urn === "" || !change.timeseries) return undefined;
  const { urn, entityType, aspect, created } = change;
  const system = { lastObserved: created.time, runId: NO_RUN_ID };
  return encodeChange(
    scavengedChange({ urn, entityType, aspect, changeType: "UPSERT", created, system }, 0),
  );
}
