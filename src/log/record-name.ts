/**
 * The name of a record identifies it in a log, and distinguishes it from another record at the same
 * position. A view's checkpoint has the name of the last record that it covers. This detects that an
 * older copy replaced the log, even if records were appended to the copy since.
 *
 * Scavenging is no mismatch: the hash covers only data that scavenging keeps. If a store removed the
 * beginning of a stream, the nearest remaining record of the stream is compared.
 */
import { createHash } from "node:crypto";
import type { Position, Revision } from "../core/position.ts";
import { parseStream, type StreamName } from "../core/stream.ts";
import type { ChangeLog, LogRecord } from "./change-log.ts";
import { decodeRecord } from "./codecs/record-codec.ts";
import { readable } from "./codecs/try-decode.ts";

interface RecordName {
  readonly position: Position;
  readonly stream: StreamName;
  readonly revision: Revision;
  readonly hash: string;
}

/** Hexadecimal digits of a hash. */
const HASH_DIGITS = 32;

/** The form that views store with their checkpoint: the JSON text of a RecordName. */
export function nameOf(record: LogRecord): string {
  const { position, revision, stream } = record;
  return JSON.stringify({ position, revision, hash: hashOf(record), stream });
}

export const parseRecordName = (text: string): RecordName => JSON.parse(text) as RecordName;

/** True if the log has the record, or had it before it was scavenged. */
export async function holdsRecord(
  log: Pick<ChangeLog, "readStream" | "firstKept">,
  name: RecordName,
): Promise<boolean> {
  const { stream, revision: at } = name;
  const [found] = await log.readStream(stream, at, { limit: 1 });
  if (found?.revision === at) {
    return found.position === name.position && hashOf(found) === name.hash;
  }
  if (found !== undefined) return found.position > name.position;
  return log.firstKept !== undefined && (await log.firstKept(stream)) > at;
}

function hashOf(record: LogRecord): string {
  const kept = parseStream(record.stream)?.kind === "timeseries" ? keptOf(record) : undefined;
  return createHash("sha256")
    .update(kept ?? record.data)
    .digest("hex")
    .slice(0, HASH_DIGITS);
}

/** The data of an event that scavenging keeps (scavenged.ts); undefined for an unreadable record. */
function keptOf(record: LogRecord): string | undefined {
  const change = readable(decodeRecord, record);
  if (change === undefined) return undefined;
  const { entityType, aspect, created, system } = change;
  return JSON.stringify([entityType, aspect, created.time, created.actor, system.runId]);
}
