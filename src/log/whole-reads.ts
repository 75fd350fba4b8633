/** Reads a whole stream, or all names of streams with a prefix, page by page. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../core/change.ts";
import { type Revision, revision } from "../core/position.ts";
import type { StreamName } from "../core/stream.ts";
import type { ChangeLog, LogRecord } from "./change-log.ts";
import { readable } from "./codecs/try-decode.ts";
import { isLastPage, pageMax } from "./merged-streams.ts";

const NAMES_MAX = 1_000;

/** The records of a stream, from a revision on. */
export async function* recordsOf(
  log: Pick<ChangeLog, "readStream">,
  stream: StreamName,
  from: Revision = revision(0),
): AsyncIterable<LogRecord> {
  for (let next = from; ; await yieldToEventLoop()) {
    const page = await log.readStream(stream, next, { limit: pageMax });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || isLastPage(page, pageMax)) return;
    next = revision(last.revision + 1);
  }
}

/** The changes of a stream, from a revision on, without records that no version can read. */
export async function* changesOf(
  log: Pick<ChangeLog, "readStream">,
  decode: (record: LogRecord) => PlacedChange | undefined,
  stream: StreamName,
  from?: Revision,
): AsyncIterable<PlacedChange> {
  for await (const record of recordsOf(log, stream, from)) {
    const change = readable(decode, record);
    if (change !== undefined) yield change;
  }
}

/** Names of streams with the prefix, after a name, in byte order. */
export async function* streamNames(
  log: Pick<ChangeLog, "listStreams">,
  prefix: string,
  begin?: StreamName,
): AsyncIterable<StreamName> {
  for (let after = begin; ; await yieldToEventLoop()) {
    const page = await log.listStreams(prefix, { after, limit: NAMES_MAX });
    yield* page;
    after = page.at(-1);
    if (after === undefined) return;
  }
}
