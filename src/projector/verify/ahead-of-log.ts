/**
 * Finds views with a position after the end of the log: they would skip the next records, and a service does not start
 * with them.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Position } from "../../core/position.ts";
import type { VerificationParts } from "./entities/run-batches.ts";

/** With a log in a server, the projector may see the end of the log a moment before this process. */
const AGAIN = { times: 4, afterMs: 250 };

/**
 * Limits the position of a view to the end of the log and returns the fault in words. The position is read before the
 * end of the log, so a healthy view is never after it.
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
