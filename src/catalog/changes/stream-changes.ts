/** The versioned changes of one entity, in order; records that no version can read are skipped. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../../core/change.ts";
import { revision } from "../../core/position.ts";
import { entityStream } from "../../core/stream.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { readable } from "../../log/codecs/try-decode.ts";

const pageMax = 500;

export async function* changesOf(
  parts: {
    readonly log: Pick<ChangeLog, "readStream">;
    readonly decode: (record: LogRecord) => PlacedChange | undefined;
  },
  urn: string,
): AsyncIterable<PlacedChange> {
  for (let from = revision(0); ; await yieldToEventLoop()) {
    const page = await parts.log.readStream(entityStream(urn), from, { limit: pageMax });
    for (const record of page) {
      from = revision(record.revision + 1);
      const change = readable(parts.decode, record);
      if (change !== undefined) yield change;
    }
    // A page may end early if records are large, so only an empty page is the end.
    if (page.length === 0) return;
  }
}
