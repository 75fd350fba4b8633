/**
 * The remainder of a truncated event in the log: actor, time and run, and a header that marks it as
 * scavenged; no value. It keeps its position and decodes as a change without news, which all readers
 * skip.
 */
import { type Change, NO_RUN_ID, type PlacedChange } from "../core/change.ts";
import { parseStream } from "../core/stream.ts";
import type { LogRecord } from "./change-log.ts";
import { decodeRecord, encodeChange } from "./codecs/record-codec.ts";
import { readable } from "./codecs/try-decode.ts";

/** Header with the position of the truncation that removed the event. */
const SCAVENGED_HEADER = "annals-scavenged";

/** Removes the value of an event. `truncation`: position of the truncation that removed it. */
export function scavengedChange(event: Change, truncation: number): Change {
  const { urn, entityType, aspect, created, system } = event;
  const headers = { ...event.headers, [SCAVENGED_HEADER]: String(truncation) };
  return { urn, entityType, aspect, changeType: "RESTATE", created, system, headers };
}

/** Changes of events are never RESTATE otherwise, so headers from clients cannot fake it. */
export const isScavenged = ({ timeseries, changeType, headers }: PlacedChange): boolean =>
  timeseries && changeType === "RESTATE" && headers?.[SCAVENGED_HEADER] !== undefined;

/** True if both are the same record; one may be scavenged. */
export function isSameRecord(one: LogRecord, other: LogRecord): boolean {
  if (Buffer.compare(one.data, other.data) === 0) return true;
  if (parseStream(one.stream)?.kind !== "timeseries") return false;
  const [a, b] = [readable(decodeRecord, one), readable(decodeRecord, other)];
  if (a === undefined || b === undefined || !(isScavenged(a) || isScavenged(b))) return false;
  return Buffer.compare(rest(a), rest(b)) === 0;
}

const rest = (change: PlacedChange): Uint8Array => encodeChange(scavengedChange(change, 0));

/**
 * Data that replaces a record which the store removed, because it scavenged the beginning of the
 * stream. `next`: the first remaining record, which determines the entity and aspect. Undefined if the
 * stream cannot have events.
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
