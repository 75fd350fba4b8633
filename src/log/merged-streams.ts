/**
 * Reads several streams in the order of the log. It reads the streams, not the log, so the cost
 * depends only on their length.
 */
import { type Position, type Revision, revision, START } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";
import type { ChangeLog, LogRecord } from "./change-log.ts";

interface MergeOptions {
  /** Exclusive; START when absent. */
  readonly after?: Position | undefined;
  /** Inclusive; the end of the streams when absent. */
  readonly upTo?: Position | undefined;
  /** Records of one stream in memory at a time: `pageMax` when absent. */
  readonly pageMax?: number | undefined;
  /** First pages of some streams, from revision 0, each of at most `pageMax` records. */
  readonly beginnings?: ReadonlyMap<StreamName, readonly LogRecord[]> | undefined;
}

/** Records of one stream in memory at a time. */
export const pageMax = 500;
/** An adapter ends a page early because of its size only if the page has so many bytes. */
const pageBytesMin = 512 * 1024;

/** True if no record of the stream or log follows a page that was read with this limit. */
export function isLastPage(page: readonly LogRecord[], limit: number): boolean {
  if (page.length === limit) return false;
  let bytes = 0;
  for (const { data } of page) bytes += data.length;
  return bytes < pageBytesMin;
}

interface Source {
  readonly stream: StreamName;
  page: readonly LogRecord[];
  at: number;
}

export async function* mergeStreams(
  log: Pick<ChangeLog, "readStream">,
  streams: readonly StreamName[],
  {
    after = START,
    upTo = Infinity as Position,
    pageMax: limit = pageMax,
    beginnings,
  }: MergeOptions,
): AsyncIterable<LogRecord> {
  const read = (stream: StreamName, from: number) =>
    log.readStream(stream, revision(from), { limit });
  let sources: Source[] = [];
  for (const stream of streams) {
    const from = await firstAfter(log, stream, after);
    if (from === undefined) continue;
    const page = (from === 0 && beginnings?.get(stream)) || (await read(stream, from));
    if (page.length > 0) sources.push({ stream, page, at: 0 });
  }
  for (;;) {
    let first: Source | undefined;
    for (const source of sources) {
      if (first === undefined || positionOf(source) < positionOf(first)) first = source;
    }
    const record = first?.page[first.at];
    if (first === undefined || record === undefined || record.position > upTo) return;
    yield record;
    first.at++;
    if (first.at < first.page.length) continue;
    const ended = isLastPage(first.page, limit);
    first.page = ended ? [] : await read(first.stream, record.revision + 1);
    first.at = 0;
    if (first.page.length === 0) sources = sources.filter((source) => source !== first);
  }
}

const positionOf = ({ page, at }: Source): number => page[at]?.position ?? Infinity;

/**
 * The revision from which a read returns the records of the stream after a position, by binary
 * search; undefined if there are none. Revisions may have gaps.
 */
async function firstAfter(
  log: Pick<ChangeLog, "readStream">,
  stream: StreamName,
  after: Position,
): Promise<Revision | undefined> {
  if (after === START) return revision(0);
  const [last] = await log.readStream(stream, "end", { limit: 1, backward: true });
  if (last === undefined || last.position <= after) return undefined;
  let low = 0;
  let high: number = last.revision;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [record] = await log.readStream(stream, revision(middle), { limit: 1 });
    if (record === undefined || record.position > after) high = middle;
    else low = record.revision + 1;
  }
  return revision(low);
}
