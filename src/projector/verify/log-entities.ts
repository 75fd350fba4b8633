/** Every entity that a log tells of, with its streams, in byte order of their urns. */
import { parseStream, type StreamName, timeseriesStream } from "../../core/stream.ts";
import { type HistoryLog, timeseriesAspects } from "../history.ts";
import { streamNames } from "./bearings.ts";

export interface LogEntity {
  readonly urn: string;
  readonly streams: readonly StreamName[];
}

export async function* entitiesOf(log: HistoryLog): AsyncIterable<LogEntity> {
  const aspects = await timeseriesAspects(log);
  const prefixes = ["entity-", ...aspects.map((aspect) => timeseriesStream("", aspect))];
  const heads: Head[] = [];
  for (const prefix of prefixes) {
    const rest = streamNames(log, prefix)[Symbol.asyncIterator]();
    heads.push(await advanced({ urn: undefined, stream: "", rest }));
  }
  for (;;) {
    let least: string | undefined;
    for (const { urn } of heads) {
      if (urn !== undefined && (least === undefined || comesBefore(urn, least))) least = urn;
    }
    if (least === undefined) return;
    const streams: StreamName[] = [];
    for (const head of heads) {
      if (head.urn !== least) continue;
      streams.push(head.stream);
      await advanced(head);
    }
    yield { urn: least, streams };
  }
}

interface Head {
  urn: string | undefined;
  stream: StreamName;
  readonly rest: AsyncIterator<StreamName>;
}

async function advanced(head: Head): Promise<Head> {
  const next = await head.rest.next();
  head.stream = next.done ? "" : next.value;
  head.urn = next.done ? undefined : parseStream(head.stream)?.urn;
  return head;
}

/** In the order of their bytes in UTF-8, which UTF-16 has but for surrogates. */
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
