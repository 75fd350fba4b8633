/**
 * Scavenges a store that cannot replace events: it hides events at the beginning of a stream with the
 * stream's truncate-before setting ($tb). The server frees the disk space when its operator starts a
 * scavenge. Events after one that must stay are not removed. The log no longer recognises the ids of
 * removed appends.
 */
import type { StreamName } from "../../core/stream.ts";
import type { LogRecord, Scavenged } from "../change-log.ts";

interface Streams {
  /** The first records of a stream. */
  read(stream: StreamName, limit: number): Promise<readonly LogRecord[]>;
  truncateBefore(stream: StreamName, before: number): Promise<void>;
}

const NOTHING: Scavenged = { records: 0, bytes: 0 };

export async function scavengeStreams(
  records: readonly LogRecord[],
  streams: Streams,
): Promise<Scavenged> {
  let done = NOTHING;
  for (const [stream, gone] of Map.groupBy(records, (record) => record.stream)) {
    const { records, bytes } = await scavengeStream(stream, gone, streams);
    done = { records: done.records + records, bytes: done.bytes + bytes };
  }
  return done;
}

async function scavengeStream(
  stream: StreamName,
  gone: readonly LogRecord[],
  { read, truncateBefore }: Streams,
): Promise<Scavenged> {
  const revisions = new Set<number>(gone.map(({ revision }) => revision));
  const first = await read(stream, gone.length);
  const kept = first.findIndex(({ revision }) => !revisions.has(revision));
  const hidden = kept < 0 ? first : first.slice(0, kept);
  const last = hidden.at(-1);
  if (last === undefined) return NOTHING;
  await truncateBefore(stream, last.revision + 1);
  const bytes = hidden.reduce((sum, { data }) => sum + data.length, 0);
  return { records: hidden.length, bytes };
}
