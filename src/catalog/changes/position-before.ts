/** Finds the position in the log at which the changes of a time begin. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../../core/change.ts";
import { type Position, START } from "../../core/position.ts";
import type { ChangeLog, LogRecord } from "../../log/change-log.ts";
import { readable } from "../../log/codecs/try-decode.ts";
import { endOfTime } from "../../log/end-of-time.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
}

const pageMax = 500;

/**
 * The position after which the changes are at least as new as the time, in epoch milliseconds. Where
 * times descend over more than 500 records, it may be that of any older change before a newer one.
 */
export async function positionBefore(
  time: number,
  { log, decode }: Dependencies,
): Promise<Position> {
  // Most time windows cover the whole log: check its beginning first.
  const first = (await log.readAll(START, { limit: 1 })).at(0);
  const beginning = first && readable(decode, first);
  if (beginning !== undefined && beginning.created.time >= time) return START;
  let from = await endOfTime(time - 1, { log, decode });
  for (;;) {
    const page: readonly LogRecord[] = await log.readAll(from, { limit: pageMax, backward: true });
    for (const record of page) {
      const change = readable(decode, record);
      if (change !== undefined && change.created.time < time) return record.position;
    }
    const oldest = page.at(-1);
    if (oldest === undefined) return START;
    from = oldest.position;
    await yieldToEventLoop();
  }
}
