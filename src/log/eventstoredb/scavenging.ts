/**
 * Scavenging where a store cannot write an event anew: those that a stream begins with are hidden, by
 * its own setting ($tb), and go from the disk when the server is scavenged, which is its operator's to
 * begin. An event behind one that stays does so, too. Ids of appends that are gone are not recognised
 * any more.
 */
import type { StreamName } from "../../core/stream.ts";
import type { LogRecord, Scavenged } from "../change-log.ts";

interface Streams {
  /** The records of a stream from its first on, at most so many. */
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
