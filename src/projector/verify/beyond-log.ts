/**
 * Views that say that they are beyond the end of the log: they would drop what is appended next, and a
 * service does not start with them.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Position } from "../../core/position.ts";
import type { VerificationParts } from "./running.ts";

/** A node of a log in a server may hear of its end a moment after those that feed the view. */
const AGAIN = { times: 4, afterMs: 250 };

/**
 * Up to where a view is what the log says, and what is wrong with its position in words. The position
 * was read before: the log's end, which is read here, is never behind it then.
 */
export async function placeInLog(
  { log, signal }: Pick<VerificationParts, "log" | "signal">,
  position: Position,
): Promise<{ readonly upTo: Position; readonly faults: readonly string[] }> {
  let head = await log.head();
  for (let n = 0; n < AGAIN.times && head < position; n++) {
    signal?.throwIfAborted();
    await pause(AGAIN.afterMs);
    head = await log.head();
  }
  return head >= position
    ? { upTo: position, faults: [] }
    : { upTo: head, faults: [`the view is at position ${position}, but the log ends at ${head}`] };
}
