/**
 * How records lie in EventStoreDB: the names of streams, the types of events, their ids.
 *
 * A stream's name is ours with the catalog's prefix before it. `$` begins the server's own streams,
 * so that a name which begins so (or with `!`, or is empty) gets a `!` in front.
 *
 * The types say what is a record of the log: whatever else lies on the server is passed over. Ids
 * are random, or follow from the append's own id: 90 bits of its hash, then the place of the record
 * in the append, so that a record tells which append it is of however many that has.
 */
import { createHash, randomUUID } from "node:crypto";
import { JOBS, parseStream, type StreamName } from "../../core/stream.ts";

/** A record of what happened to an entity: Avro MetadataChangeLog. */
const CHANGE = "MetadataChangeLog";
/** A record of a job: Avro JobRecord. */
const JOB = "JobRecord";
/** A record of any other stream. */
const OTHER = "CatalogRecord";

/** Types of records of the log. */
export const recordTypes: readonly string[] = [CHANGE, JOB, OTHER];
/** The type of the one event that holds the log's own id: no record of the log. */
export const identityType = "LogIdentity";

/** The stream of the log's own id; no stream of a catalog has that name (core/stream.ts). */
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

/** Hexadecimal digits of an id that say which append it is of; with its hyphens. */
const OF_APPEND = 28;

/** The part that all ids of an append's events begin with. */
export function idsBegin(name: string, id: Uint8Array): string {
  const hash = createHash("sha256").update(id).update(name).digest();
  // A version and a variant, as every UUID has: 8, which leaves the rest to its maker.
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const digits = hash.toString("hex", 0, 12);
  const groups = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16)];
  return `${groups.join("-")}-${digits.slice(16, 20)}-${digits.slice(20, 24)}`;
}

export const isOfAppend = (eventId: string, begin: string): boolean =>
  eventId.length === OF_APPEND + 8 && eventId.startsWith(begin);

/** Ids of an append's events, the first's first. */
export function eventIds(name: string, id: Uint8Array | undefined, count: number): string[] {
  if (id === undefined) return Array.from({ length: count }, () => randomUUID());
  const begin = idsBegin(name, id);
  return Array.from({ length: count }, (_, i) => begin + i.toString(16).padStart(8, "0"));
}
