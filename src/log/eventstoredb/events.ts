/**
 * Maps records to events of EventStoreDB: names of streams, types and ids of events.
 *
 * The name of a stream on the server is the catalog's prefix and the stream's own name. `$` begins the
 * server's own streams, so a name that begins with `$` or `!`, or is empty, gets a `!` in front.
 *
 * The type identifies a record of the log; events with other types are skipped. Ids are random, or
 * derived from the append's id: 90 bits of its hash, then the index of the record in the append. So
 * the id of any record identifies its append.
 */
import { createHash, randomUUID } from "node:crypto";
import { JOBS, parseStream, type StreamName } from "../../core/stream.ts";

/** A change of an entity: Avro MetadataChangeLog. */
const CHANGE = "MetadataChangeLog";
/** A record of a job: Avro JobRecord. */
const JOB = "JobRecord";
/** A record of any other stream. */
const OTHER = "CatalogRecord";

/** Types of records of the log. */
export const recordTypes: readonly string[] = [CHANGE, JOB, OTHER];
/** The type of the event with the log's own id, which is not a record of the log. */
export const identityType = "LogIdentity";

/** The stream with the log's own id; no stream of a catalog has this name (core/stream.ts). */
export const identityStream = "annals-log";

const ESCAPE = "!";

export function serverName(prefix: string, stream: StreamName): string {
  const first = stream[0];
  const escaped = first === undefined || first === "$" || first === ESCAPE;
  return escaped ? `${prefix}${ESCAPE}${stream}` : prefix + stream;
}

export function streamOf(prefix: string, name: string): StreamName {
  const own = name.slice(prefix.length);
  return own.startsWith(ESCAPE) ? own.slice(ESCAPE.length) : own;
}

export function eventType(stream: StreamName): string {
  if (parseStream(stream) !== undefined) return CHANGE;
  return stream === JOBS || stream.startsWith("job-") ? JOB : OTHER;
}

/** Length of the part of an id that identifies its append, with hyphens. */
const OF_APPEND = 28;

/** The common beginning of the ids of an append's events. */
export function idsBegin(name: string, id: Uint8Array): string {
  const hash = createHash("sha256").update(id).update(name).digest();
  // UUID version 8 (custom content) and variant.
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const digits = hash.toString("hex", 0, 12);
  const groups = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16)];
  return `${groups.join("-")}-${digits.slice(16, 20)}-${digits.slice(20, 24)}`;
}

export const isOfAppend = (eventId: string, begin: string): boolean =>
  eventId.length === OF_APPEND + 8 && eventId.startsWith(begin);

/** The ids of an append's events, in order. */
export function eventIds(name: string, id: Uint8Array | undefined, count: number): string[] {
  if (id === undefined) return Array.from({ length: count }, () => randomUUID());
  const begin = idsBegin(name, id);
  return Array.from({ length: count }, (_, i) => begin + i.toString(16).padStart(8, "0"));
}
