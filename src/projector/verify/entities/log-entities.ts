/** Lists the entities of a log with their streams, in byte order of their urns. */
import { parseStream, type StreamName, timeseriesStream } from "../../../core/stream.ts";
import { type HistoryLog, timeseriesAspects } from "../../history.ts";

interface LogEntity {
  readonly urn: string;
  readonly streams: readonly StreamName[];
}

/** Names of one page of streams. */
const NAMES_MAX = 2_000;

/** Yields batches of at most `batchMax` entities. */
export async function* entitiesOf(
  log: HistoryLog,
  batchMax: number,
): AsyncGenerator<readonly LogEntity[]> {
  const aspects = await timeseriesAspects(log);
  const prefixes = ["entity-", ...aspects.map((aspect) => timeseriesStream("", aspect))];
  const heads: Head[] = [];
  for (const prefix of prefixes) {
    const head: Head = { prefix, page: [], at: 0, stream: "", urn: undefined };
    await nextPage(head, log);
    heads.push(head);
  }
  let batch: LogEntity[] = [];
  for (;;) {
    let least: string | undefined;
    for (const { urn } of heads) {
      if (urn !== undefined && (least === undefined || comesBefore(urn, least))) least = urn;
    }
    if (least === undefined) break;
    const streams: StreamName[] = [];
    for (const head of heads) {
      if (head.urn !== least) continue;
      streams.push(head.stream);
      // Waits once per page only.
      if (!advanced(head)) await nextPage(head, log);
    }
    batch.push({ urn: least, streams });
    if (batch.length < batchMax) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Cursor over the streams with one prefix; without a urn, it is at the end. */
interface Head {
  readonly prefix: string;
  page: readonly StreamName[];
  at: number;
  stream: StreamName;
  urn: string | undefined;
}

/** Returns false at the end of the page. */
function advanced(head: Head): boolean {
  const next = head.page[++head.at];
  if (next === undefined) return false;
  head.stream = next;
  head.urn = parseStream(next)?.urn;
  return true;
}

async function nextPage(head: Head, log: HistoryLog): Promise<void> {
  const after = head.page.at(-1);
  head.page = await log.listStreams(head.prefix, { after, limit: NAMES_MAX });
  head.at = -1;
  if (!advanced(head)) head.urn = undefined;
}

/** Compares in the order of UTF-8 bytes, which differs from that of UTF-16 for surrogates only. */
export function comesBefore(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length);
  for (let n = 0; n < length; n++) {
    const a = one.charCodeAt(n);
    const b = other.charCodeAt(n);
    if (a === b) continue;
    const [aHigh, bHigh] = [isSurrogate(a), isSurrogate(b)];
    return aHigh === bHigh ? a < b : bHigh;
  }
  return one.length < other.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
