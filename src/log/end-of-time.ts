/** Finds the position in the log at which the records up to a time end, by binary search. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { PlacedChange } from "../core/change.ts";
import { type Position, position, START } from "../core/position.ts";
import { isAuditStream } from "../core/stream.ts";
import type { ChangeLog, LogRecord } from "./change-log.ts";
import { decodeAudit } from "./codecs/audit-codec.ts";
import { readable } from "./codecs/try-decode.ts";

interface Dependencies {
  readonly log: Pick<ChangeLog, "readAll" | "head" | "countBetween">;
  readonly decode: (record: LogRecord) => PlacedChange | undefined;
}

/** The search ends when so few records are left. */
const rangeMax = 500;
/** Records per read. Usually the first one has a time. */
const pageMax = 100;

/**
 * A position after the records up to a time, in epoch milliseconds, for reads backward: at most 1,000
 * records after the last of them, or "end".
 *
 * Records have the clock of the node that accepted them, so the times of concurrent appends and of
 * several nodes may descend. The result is then after one of the records up to the time that a newer
 * record follows. Others may be later, by as much as the times descend: a caller that needs them all
 * adds this maximum to the time.
 *
 * A log whose positions have gaps can only be read from the positions of records, which the search
 * does not have: the result is "end".
 */
export async function endOfTime(
  time: number,
  { log, decode }: Dependencies,
): Promise<Position | "end"> {
  if (log.countBetween !== undefined) return "end";

  /** The first record with a time after a position up to another; few have none. */
  async function firstTimed(after: Position, upTo: Position) {
    for (let at = after; at < upTo; await yieldToEventLoop()) {
      const page = await log.readAll(at, { limit: pageMax });
      if (page.length === 0) return undefined;
      for (const record of page) {
        at = record.position;
        const found = at > upTo ? undefined : timeOf(decode, record);
        if (found !== undefined) return { at, time: found };
      }
    }
    return undefined;
  }

  const head = await log.head();
  let low = START;
  let high = head;
  while (high - low > rangeMax) {
    const middle = position(Math.floor((low + high) / 2));
    const found = await firstTimed(middle, high);
    if (found === undefined || found.time > time) high = middle;
    else low = found.at;
  }
  return high + rangeMax >= head ? "end" : position(high + rangeMax);
}

/** Undefined for records without a time, such as those of jobs, and for unreadable ones. */
const timeOf = (decode: Dependencies["decode"], record: LogRecord): number | undefined =>
  isAuditStream(record.stream)
    ? readable(decodeAudit, record)?.time
    : readable(decode, record)?.created.time;
