/**
 * Copies a log into another log, of the same or another kind of store: the same streams with the same
 * records, in the same order. Each store assigns its own positions, so views must be rebuilt from the
 * copy. An interrupted copy resumes where it stopped.
 *
 * Records of parking are not copied, because they contain positions. Views try parked records again.
 */
import { CatalogError } from "../core/errors.ts";
import { type Position, type Revision, revision, START } from "../core/position.ts";
import { parkingStream, parseStream, type StreamName } from "../core/stream.ts";
import { type Append, type ChangeLog, type LogRecord, WrongRevision } from "./change-log.ts";
import { isSameRecord, missingRecord } from "./scavenged.ts";

interface CopyProgress {
  readonly position: Position;
  readonly head: Position;
}

/** Records of one read. */
const PAGE_MAX = 1_000;
/** Bytes of one append; EventStoreDB accepts one megabyte by default. */
const APPEND_BYTES_MAX = 900_000;
/** Records of one append that replace scavenged records. */
const GAP_MAX = 1_000;
const PARKING = parkingStream("");

/** Resolves with the numbers of records that were copied, and that the other log already had. */
export async function copyLog(
  from: Pick<ChangeLog, "readAll" | "head">,
  to: Pick<ChangeLog, "append" | "readStream">,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<{ readonly copied: number; readonly there: number }> {
  const head = await from.head();
  let place = START;
  let copied = 0;
  let there = 0;
  while (place < head) {
    const page = await from.readAll(place, { limit: PAGE_MAX });
    const last = page.at(-1);
    if (last === undefined) break;
    const records = page.filter(({ stream }) => !stream.startsWith(PARKING));
    for (const run of runsOf(records)) {
      const done = await Promise.all([...byEntity(run).values()].map((own) => copyAll(to, own)));
      for (const one of done) {
        copied += one.copied;
        there += one.there;
      }
    }
    place = last.position;
    onProgress({ position: place, head });
  }
  return { copied, there };
}

/**
 * Records of different entities may be reordered. Records that affect many entities (truncations,
 * removed edges) keep their order relative to all others.
 */
function runsOf(records: readonly LogRecord[]): readonly (readonly LogRecord[])[] {
  const runs: LogRecord[][] = [];
  let before: boolean | undefined;
  for (const record of records) {
    const alone = bearsOnOthers(record.stream);
    if (alone || before !== false) runs.push([record]);
    else runs.at(-1)?.push(record);
    before = alone;
  }
  return runs;
}

const bearsOnOthers = (stream: StreamName): boolean => {
  const of = parseStream(stream);
  return of?.kind === "truncation" || (of?.kind === "timeseries" && of.aspect.startsWith("$"));
};

/** Records in the streams of one entity depend on each other and stay in order. */
const byEntity = (records: readonly LogRecord[]): Map<string, LogRecord[]> =>
  Map.groupBy(records, ({ stream }) => parseStream(stream)?.urn ?? stream);

async function copyAll(
  to: Pick<ChangeLog, "append" | "readStream">,
  records: readonly LogRecord[],
): Promise<{ copied: number; there: number }> {
  let copied = 0;
  let there = 0;
  for (let at = 0; at < records.length; ) {
    const stream = records[at]?.stream;
    const next = records.findIndex((record, n) => n > at && record.stream !== stream);
    const end = next < 0 ? records.length : next;
    const done = await copyStream(to, records.slice(at, end));
    copied += done.copied;
    there += done.there;
    at = end;
  }
  return { copied, there };
}

async function copyStream(
  to: Pick<ChangeLog, "append" | "readStream">,
  records: readonly LogRecord[],
): Promise<{ copied: number; there: number }> {
  let there = 0;
  let left = records;
  for (;;) {
    try {
      for (const append of appendsOf(left)) {
        await to.append([append]);
        left = left.slice(append.records.length);
      }
      return { copied: records.length - there, there };
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
      if (await fillGap(to, left, error.actual)) continue;
      const fresh = await notYetThere(to, left, error.actual);
      there += left.length - fresh.length;
      left = fresh;
    }
  }
}

/** Fills in records for a scavenged beginning of a stream, so that later records keep their revisions. */
async function fillGap(
  to: Pick<ChangeLog, "append">,
  records: readonly LogRecord[],
  actual: Revision,
): Promise<boolean> {
  const [first] = records;
  const missing = first && first.revision > actual + 1 ? missingRecord(first) : undefined;
  if (first === undefined || missing === undefined) return false;
  for (let end: number = actual; end < first.revision - 1; ) {
    const count = Math.min(first.revision - 1 - end, GAP_MAX);
    const records = Array.from({ length: count }, () => missing);
    await to.append([{ stream: first.stream, expected: revision(end), records }]);
    end += count;
  }
  return true;
}

/** Throws `conflict` if the other log is not a copy of this one. */
async function notYetThere(
  to: Pick<ChangeLog, "readStream">,
  records: readonly LogRecord[],
  actual: Revision,
): Promise<readonly LogRecord[]> {
  const [first] = records;
  if (first === undefined || actual < first.revision) throw another(records[0]?.stream ?? "");
  const known = records.filter((record) => record.revision <= actual);
  const last = known.at(-1) as LogRecord;
  const [same] = await to.readStream(last.stream, last.revision, { limit: 1 });
  if (same === undefined || !isSameRecord(same, last)) throw another(last.stream);
  return records.slice(known.length);
}

function* appendsOf(records: readonly LogRecord[]): Iterable<Append> {
  let batch: LogRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (batch.length > 0 && bytes + record.data.length > APPEND_BYTES_MAX) {
      yield appendOf(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(record);
    bytes += record.data.length;
  }
  if (batch.length > 0) yield appendOf(batch);
}

function appendOf(records: readonly LogRecord[]): Append {
  const [first] = records as readonly [LogRecord];
  return {
    stream: first.stream,
    expected: revision(first.revision - 1),
    records: records.map(({ data }) => data),
  };
}

const another = (stream: StreamName): CatalogError =>
  new CatalogError(
    "conflict",
    `the stream "${stream}" of the other log is not a copy of this one`,
    {
      hint: "Copy into an empty log, or into an incomplete copy of this log",
    },
  );
